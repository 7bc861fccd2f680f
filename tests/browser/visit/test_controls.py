"""Controls by hand: sliders, keys, lists, matrices, tables, orders, a spreadsheet's clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, Calculator, open_live, places

PASTE = """
(element, text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  if (element.dispatchEvent(new ClipboardEvent("paste", options))) element.value = text;
}
"""
# Pasted text -> the part of it that is no number.
WORDS = {
    "四\t五\n六": "四", "🙂\n🙂": "🙂", "count\n3\n5": "count", "3\t\t5": "", "3 4.5.6": "4.5.6",
}  # fmt: skip
# Pasted text -> the number in it, or nothing.
NUMBERS = {
    "−0.5": "-0.5", "1,5": "1.5", "6×10⁻⁴": "0.0006", "０．５": "0.5", "½": "0.5",
    "1\n2": "", "四": "", "1,234": "",
}  # fmt: skip


def open_place(page: Page, host: Host, built: Path, name: str) -> Calculator:
    return open_live(page, host.url + places(built)[name], name)


def entries(calculator: Calculator, name: str) -> list[str]:
    """The values of a list's boxes, in order."""
    boxes = calculator.root.locator(f"[name={name}][data-part=box]")
    return [boxes.nth(i).input_value() for i in range(boxes.count())]


def test_slider_moves_by_keys_and_leads_its_box(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    slider = ledger.control("theta", part="slider")
    slider.focus()
    before = ledger.result.inner_html()
    slider.press("ArrowRight")
    ledger.wait()
    after_arrow = float(ledger.control("theta").input_value())
    slider.press("PageUp")
    after_page = float(ledger.control("theta").input_value())
    slider.press("End")
    ledger.wait()
    assert 0 < after_arrow < after_page < 5
    assert ledger.control("theta").input_value() == "5"
    slider.press("Home")
    ledger.wait()
    assert ledger.control("theta").input_value() == "-5"
    assert ledger.result.inner_html() != before
    assert slider.evaluate("element => element === document.activeElement")


def test_box_leads_its_slider(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("theta", -2.5)
    assert ledger.control("theta", part="slider").input_value() == "-2.5"
    ledger.set("theta", 1000)
    assert ledger.control("theta", part="slider").input_value() == "5"
    assert ledger.control("theta").input_value() == "1000"


def test_adding_a_replica_adds_its_target(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    shape = ledger.root.locator("[data-field=counts] [data-shape=add]")
    shape.focus()
    shape.press("Enter")
    ledger.wait()
    assert entries(ledger, "counts") == ["2", "8", "8"]
    assert entries(ledger, "targets") == ["2", "-1", "-1"]
    labels = ledger.root.locator("[name=counts][data-part=box]").evaluate_all(
        "boxes => boxes.map(box => box.getAttribute('aria-label'))"
    )
    assert len(set(labels)) == 3
    ledger.set("targets", 4, "2")
    assert ledger.result.locator("tbody tr").count() >= 3
    for _ in range(5):
        ledger.root.locator("[data-field=targets] [data-shape=remove]").click()
    ledger.wait()
    assert entries(ledger, "counts") == ["2"]
    assert entries(ledger, "targets") == ["2"]


def test_lists_stop_at_their_bounds(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    for _ in range(20):
        ledger.root.locator("[data-field=counts] [data-shape=add]").click()
    ledger.wait()
    assert len(entries(ledger, "counts")) == 16


def test_column_from_a_spreadsheet_fills_a_list(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.control("counts", "0").evaluate(PASTE, "3\n5\n7\r\n9\n")
    ledger.wait()
    assert entries(ledger, "counts") == ["3", "5", "7", "9"]
    assert len(entries(ledger, "targets")) == 4
    assert "counts=3,5,7,9" in page.url


def test_one_pasted_number_is_left_to_the_browser(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.control("counts", "0").evaluate(PASTE, "3")
    assert entries(ledger, "counts") == ["3", "8"]


def test_block_from_a_spreadsheet_fills_a_matrix(page: Page, host: Host, built: Path) -> None:
    ledger = open_place(page, host, built, "update_ledger")
    ledger.set_address("counts=2,3&gradient_means=1,3")
    ledger.control("counts", "0,0").evaluate(PASTE, "1\t2\t3\n4\t5\t6\n")
    ledger.wait()
    assert "counts=1,2,3;4,5,6" in page.url
    assert entries(ledger, "counts") == ["1", "2", "3", "4", "5", "6"]
    assert len(entries(ledger, "gradient_means")) == 6


def test_a_pasted_column_without_end_fills_what_has_a_place(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    page.evaluate("""() => {
      const find = Element.prototype.querySelector;
      window.lookups = 0;
      Element.prototype.querySelector = function (what) {
        window.lookups += 1;
        return find.call(this, what);
      };
    }""")
    ledger.control("counts", "1").evaluate(PASTE, "3\n" * 100_000)
    ledger.wait()
    assert entries(ledger, "counts") == ["2"] + ["3"] * 15
    assert page.evaluate("lookups") < 5_000


def test_matrix_grows_by_rows_and_cells(page: Page, host: Host, built: Path) -> None:
    ledger = open_place(page, host, built, "update_ledger")
    ledger.set_address("counts=2,3&gradient_means=1,3")
    field = ledger.root.locator("[data-field=counts]")
    field.locator(":scope > .shape [data-shape=add]").click()
    ledger.wait()
    assert "counts=2,3;2,3" in page.url
    field.locator(".grid-row").nth(1).locator("[data-shape=remove]").click()
    ledger.wait()
    assert "counts=2,3;2" in page.url
    assert len(entries(ledger, "gradient_means")) == 3


def test_input_that_may_be_left_out(page: Page, host: Host, built: Path) -> None:
    ledger = open_place(page, host, built, "update_ledger")
    ledger.set_address("counts=2,3&gradient_means=1,3")
    box = ledger.root.locator("[name=weights][data-part=null]")
    assert box.is_checked()
    box.uncheck()
    ledger.settle()
    assert len(entries(ledger, "weights")) == 2
    ledger.set("weights", 4, "0,1")
    assert "weights=" in page.url
    box.check()
    ledger.wait()
    assert "weights=" not in page.url


@pytest.mark.parametrize(("typed", "decision"), [("inf", "skip"), ("nan", "skip"), ("6", "update")])
def test_non_finite_entries(typed: str, decision: str, page: Page, host: Host, built: Path) -> None:
    clip = open_place(page, host, built, "clip_ownership")
    clip.set("scaled_gradients", typed, "0,0")
    clip.root.locator("[data-action=data]").click()
    shown = clip.root.locator(".calc-drawer pre").first
    shown.wait_for()
    assert f'"decision": "{decision}"' in shown.inner_text()


def test_word_in_a_number_box_is_refused(page: Page, host: Host, built: Path) -> None:
    clip = open_place(page, host, built, "clip_ownership")
    clip.control("scaled_gradients", "0,0").fill("many")
    clip.message.wait_for(state="visible")
    assert "many" in clip.message.inner_text()
    assert clip.control("scaled_gradients", "0,0").get_attribute("aria-invalid") == "true"
    assert clip.control("scaled_gradients", "1,0").get_attribute("aria-invalid") is None


def test_table_order_and_row_length(page: Page, host: Host, built: Path) -> None:
    ledger = open_place(page, host, built, "ownership_ledger")
    before = ledger.root.locator("[data-field=order] li").first.get_attribute("data-value")
    move = ledger.root.locator("[data-field=order] li").nth(1).locator("[data-move]")
    move.focus()
    move.press("Enter")
    ledger.settle()
    assert ledger.root.locator("[data-field=order] li").nth(1).get_attribute("data-value") == before
    assert "order=" in page.url
    ledger.root.locator("[data-action=reset]").click()
    ledger.wait()
    ledger.set("ranks", 3)
    lists = ledger.root.locator("[name=tensors][data-part=list]")
    assert all(lists.nth(i).input_value().count(",") == 2 for i in range(lists.count()))
    rows = ledger.root.locator("[data-field=tensors] tbody tr")
    count = rows.count()
    ledger.root.locator("[data-field=tensors] [data-shape=add]").click()
    assert rows.count() == count + 1


@pytest.mark.parametrize(
    ("language", "note"),
    [
        ("en", "Left out: 4 of the 20 pasted numbers. “Valid tokens per replica” takes at most 16"),
        ("zh-cn", "粘贴的 20 个数中有 4 个没有填入：“每个副本的有效词元数”最多 16 项。"),
    ],
)
def test_pasted_rows_without_a_place_are_named(
    language: str, note: str, page: Page, host: Host
) -> None:
    ledger = open_live(page, f"{host.url}{language}/denominator/")
    said = page.locator(f"#{ledger.id}-paste-message")
    assert said.get_attribute("role") == "status"
    ledger.control("counts", "0").evaluate(PASTE, "3\r\n" * 20)
    ledger.wait()
    assert said.inner_text().startswith(note)
    assert entries(ledger, "counts") == ["3"] * 16
    ledger.set("theta", 1)
    assert said.is_hidden()


def test_pasted_columns_without_a_place_are_named(page: Page, host: Host, built: Path) -> None:
    ledger = open_place(page, host, built, "update_ledger")
    ledger.control("counts", "0,0").evaluate(PASTE, "\t".join(["3"] * 20))
    said = page.locator(f"#{ledger.id}-paste-message").inner_text()
    assert said.startswith("Left out: 4 of the 20 pasted numbers.")
    assert said.endswith("takes at most 16 rows of 16.")


def test_pasted_words_leave_the_boxes_as_they_were(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    shown, address = ledger.result.inner_html(), page.url
    for text, came in WORDS.items():
        ledger.control("counts", "0").evaluate(PASTE, text)
        assert f"“{came}" in page.locator(f"#{ledger.id}-paste-message").inner_text()
        assert entries(ledger, "counts") == ["2", "8"]
        assert ledger.result.inner_html() == shown
        assert page.url == address


def test_one_pasted_number_is_what_it_says(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    for text, value in NUMBERS.items():
        ledger.set("theta", "0")
        ledger.control("theta").evaluate(PASTE, text)
        assert ledger.control("theta").input_value() == (value or "0"), text
        assert page.locator(f"#{ledger.id}-paste-message").is_hidden() == bool(value), text
        ledger.wait()
        if value:
            slider = ledger.control("theta", part="slider").input_value()
            assert float(slider) == pytest.approx(float(value), abs=0.001)
            assert page.url.endswith(f"theta={value}")


def test_column_with_decimal_commas_fills_a_list(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.control("targets", "0").evaluate(PASTE, "0,5\r\n1,5\r\n−2,25\r\n")
    ledger.wait()
    assert entries(ledger, "targets") == ["0.5", "1.5", "-2.25"]
    assert len(entries(ledger, "counts")) == 3
    ledger.control("counts", "0").evaluate(PASTE, "1,024\n2,048\n4")
    ledger.wait()
    assert entries(ledger, "counts") == ["1024", "2048", "4"]


def test_scrolling_over_a_box_scrolls_the_page(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    box = ledger.control("theta")
    box.fill("1")
    place = box.bounding_box()
    assert place
    page.mouse.move(place["x"] + 5, place["y"] + 5)
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 200)
    page.wait_for_function("before => scrollY > before", arg=before)
    assert box.input_value() == "1"
    box.press("ArrowUp")
    assert box.input_value() == "2"
