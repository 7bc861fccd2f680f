"""The address is the memory: Back undoes, a link reproduces, in either language."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, START, Calculator, open_live, places


def test_state_is_in_the_address(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("counts", 4, "0")
    assert page.url == f"{host.url}{CHAPTER}#{ledger.id}?counts=4,8"
    ledger.control("scheme").select_option("global_tokens")
    ledger.wait()
    assert page.url == f"{host.url}{CHAPTER}#{ledger.id}?counts=4,8&scheme=global_tokens"
    ledger.set("counts", 2, "0")
    assert page.url.endswith(f"#{ledger.id}?scheme=global_tokens")


def test_back_undoes_and_forward_redoes(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    built = ledger.result.inner_html()
    ledger.set("counts", 4, "0")
    four = ledger.result.inner_html()
    ledger.set("theta", 1)
    page.go_back()
    ledger.wait()
    assert ledger.control("theta").input_value() == "0"
    assert ledger.result.inner_html() == four
    page.go_back()
    ledger.wait()
    assert ledger.control("counts", "0").input_value() == "2"
    assert ledger.result.inner_html() == built
    page.go_forward()
    ledger.wait()
    assert ledger.result.inner_html() == four


def test_a_drag_is_one_step_of_back(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    slider = ledger.control("theta", part="slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    steps = page.evaluate("history.length")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for i in range(1, 12):
        page.mouse.move(box["x"] + box["width"] * (0.5 + i / 30), box["y"] + box["height"] / 2)
        page.wait_for_timeout(40)
    page.mouse.up()
    ledger.wait()
    assert float(ledger.control("theta").input_value()) > 2
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    ledger.wait()
    assert ledger.control("theta").input_value() == "0"


def test_link_opens_at_its_state(page: Page, host: Host, context: BrowserContext) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("counts", 5, "0")
    ledger.set("targets", -0.25, "1")
    shown = ledger.result.inner_html()
    other = context.new_page()
    other.goto(page.url)
    copy = Calculator(other)
    copy.wait()
    assert copy.control("counts", "0").input_value() == "5"
    assert copy.result.inner_html() == shown
    top = copy.root.bounding_box()
    assert top
    assert -50 < top["y"] < 900


def test_link_with_an_invalid_state_says_so(page: Page, host: Host) -> None:
    page.goto(f"{host.url}{CHAPTER}")
    ledger = Calculator(page)
    page.goto(f"{host.url}{CHAPTER}#{ledger.id}?counts=4,-8&nonsense=1")
    ledger.message.wait_for(state="visible", timeout=60_000)
    assert ledger.root.get_attribute("data-stale") is not None


@pytest.mark.parametrize("state", ["counts=%,8", "theta=100%", "scheme=%E0%A4%A"])
def test_link_cut_in_the_middle_of_a_character_says_so(page: Page, host: Host, state: str) -> None:
    page.goto(f"{host.url}{CHAPTER}#ledger?{state}")
    ledger = Calculator(page)
    ledger.message.wait_for(state="visible", timeout=START)
    assert "%" in ledger.message.inner_text()


def test_box_shows_what_a_link_says_instead_of_a_number(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    box = ledger.control("theta")
    for word in ("abc", "1e999", "1,234", "100%25%25"):
        ledger.set_address(f"theta={word}&counts=many,8")
        ledger.set_address(f"theta={word}")
        said = word.replace("%25", "%")
        assert box.input_value() == said
        assert box.get_attribute("aria-invalid") == "true"
        assert said in ledger.message.inner_text()
        ledger.set("theta", "1")
        ledger.set_address("theta=2")
        assert box.get_attribute("type") == "number"
        assert box.input_value() == "2"
        assert ledger.control("counts", "0").get_attribute("type") == "number"


@pytest.mark.parametrize(
    ("name", "states"),
    {
        "ownership_ledger": [
            "order=null", "order=norm", "tensors=[]", "tensors=[null,1,[2]]",
            "tensors={%22length%22:1e9}", "tensors=null",
        ],
        "clip_ownership": ["scaled_gradients=", "scaled_gradients=null", "__proto__=[]"],
        "float_order": ["values="],
        "update_ledger": ["factors=null&scheme=custom", "counts=;"],
        "two_replica_ledger": ["counts=&targets="],
    }.items(),
)  # fmt: skip
def test_list_that_is_none_is_refused_and_the_boxes_come_back(
    page: Page, host: Host, built: Path, name: str, states: list[str]
) -> None:
    page.goto(host.url + places(built)[name])
    calculator = Calculator(page, name)
    boxes = calculator.root.locator("[data-controls] [name], [data-controls] li")
    there = boxes.count()
    for state in states:
        calculator.set_address(state)
        calculator.message.wait_for(state="visible", timeout=START)
        assert boxes.count() < 200, state
        calculator.root.locator("[data-action=reset]").click()
        calculator.wait()
        assert boxes.count() == there, state


def test_table_without_end_is_not_drawn(page: Page, host: Host, built: Path) -> None:
    page.goto(host.url + places(built)["ownership_ledger"])
    ledger = Calculator(page, "ownership_ledger")
    ledger.set_address("tensors=[" + ",".join(["1"] * 5_000) + "]")
    assert ledger.root.locator("[data-field=tensors] tbody tr").count() == 33


@pytest.mark.parametrize("state", ["topic=null", "__proto__={%22topic%22:5}", "topic="])
def test_case_book_takes_any_link(page: Page, host: Host, state: str) -> None:
    page.goto(host.url + "en/cases/")
    own = page.locator("wiki-cases").get_attribute("id") or "cases"
    page.goto("about:blank")
    page.goto(f"{host.url}en/cases/#{own}?{state}")
    assert page.locator("wiki-cases [data-topic]:not([hidden])").count() > 10


def test_link_to_nothing_leaves_the_page_alive(page: Page, host: Host) -> None:
    ledger = open_live(page, f"{host.url}{CHAPTER}#%ZZ?x=1")
    ledger.set("counts", 4, "0")
    assert ledger.control("counts", "0").input_value() == "4"


def test_states_of_two_calculators_stand_together(page: Page, host: Host, built: Path) -> None:
    folder = places(built)["update_ledger"]
    page.goto(host.url + folder)
    roots = page.locator("wiki-calculator")
    assert roots.count() > 1, f"{folder} has one calculator only"
    name = "update_ledger"
    first = Calculator(page, name)
    second = page.locator(f"wiki-calculator:not(#{first.id})").first
    own = first.id
    first.set_address("counts=5,3")
    first.wait()
    other = second.get_attribute("id")
    box = second.locator("[data-part=box]").first
    box.fill("7")
    box.press("Tab")
    # Nothing in here may ask the page: Playwright waits for this function itself.
    page.wait_for_url(lambda url: f"{own}?counts=5,3" in url and f"#{other}?" in url)


def test_language_switch_keeps_the_state(page: Page, host: Host, built: Path) -> None:
    assert (built / "zh-cn/denominator/index.html").is_file()
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("counts", 6, "0")
    page.locator("a[data-language]").click()
    page.wait_for_url(f"**/zh-cn/denominator/#{ledger.id}?counts=6,8")
    translated = Calculator(page)
    translated.wait()
    assert translated.control("counts", "0").input_value() == "6"
    numbers = translated.result.locator("data").evaluate_all("all => all.map(d => d.value)")
    page.go_back()
    ledger.wait()
    assert ledger.result.locator("data").evaluate_all("all => all.map(d => d.value)") == numbers


def test_language_switch_keeps_the_heading(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    heading = page.locator("#limits")
    heading.scroll_into_view_if_needed()
    heading.evaluate("element => element.scrollIntoView()")
    link = page.locator("a[data-language]")
    link.dispatch_event("pointerdown")
    assert (link.get_attribute("href") or "").endswith("#limits")


def test_link_panel_gives_the_address_of_what_is_shown(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("theta", 0.5)
    ledger.root.locator("[data-action=link]").click()
    box = ledger.root.locator(".calc-drawer input")
    assert box.input_value() == f"{host.url}{CHAPTER}#{ledger.id}?theta=0.5"


def test_link_to_a_heading_keeps_the_state(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("theta", 2)
    shown = ledger.result.inner_html()
    page.evaluate("location.hash = 'limits'")
    page.wait_for_url("**#limits")
    assert ledger.control("theta").input_value() == "2"
    assert ledger.result.inner_html() == shown
    page.reload()
    ledger.wait()
    assert ledger.control("theta").input_value() == "2"
    page.go_back()
    page.go_back()
    ledger.wait()
    assert ledger.control("theta").input_value() == "0"
