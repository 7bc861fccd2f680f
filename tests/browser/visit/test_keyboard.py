"""Without a mouse: every control of a calculator, its drawers, the search, a figure."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, open_live

# What can be used in a calculator, in the order of the page.
USABLE = """[...root.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled)
"""
COUNT = f"(root) => {USABLE}.length"
NUMBER = f"(root) => {USABLE}.indexOf(document.activeElement)"
# A ring around what has the focus, and all of it in sight.
IS_SEEN = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const hasRing = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return hasRing && box.top >= 0 && box.bottom <= innerHeight && box.width > 0;
}"""
HAS_FOCUS = "element => element === document.activeElement"


def test_tab_reaches_everything_of_a_calculator_in_order_and_shows_where_it_is(
    page: Page, host: Host
) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    count = ledger.root.evaluate(COUNT)
    assert count > 10
    ledger.root.locator(".calc-number").focus()
    walked = [ledger.root.evaluate(NUMBER)]
    for _ in range(count - 1):
        page.keyboard.press("Tab")
        walked.append(ledger.root.evaluate(NUMBER))
        page.wait_for_function(IS_SEEN)
    assert walked == list(range(count))
    page.keyboard.press("Tab")
    assert ledger.root.evaluate(NUMBER) == -1
    for expected in reversed(range(count)):
        page.keyboard.press("Shift+Tab")
        assert ledger.root.evaluate(NUMBER) == expected


def test_every_kind_of_control_changes_the_result_by_keys(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    keys = {
        ledger.control("counts", "0"): ["Control+a", "7"],
        ledger.control("theta", part="slider"): ["ArrowRight"],
        ledger.control("learning_rate"): ["Control+a", "2"],
        ledger.control("scheme"): ["ArrowDown"],
        ledger.root.locator("[data-field=counts] [data-shape=add]"): ["Enter"],
        ledger.root.locator("[data-action=reset]"): ["Space"],
    }
    for control, presses in keys.items():
        before = ledger.result.inner_html()
        address = page.url
        control.focus()
        for key in presses:
            page.keyboard.press(key)
        ledger.wait()
        assert ledger.result.inner_html() != before, presses
        assert control.evaluate(HAS_FOCUS), presses
        page.wait_for_function("old => location.href !== old", arg=address)


@pytest.mark.parametrize("action", ["python", "data", "link"])
def test_drawer_opens_and_closes_with_the_focus_on_its_button(
    action: str, page: Page, host: Host
) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    button = ledger.root.locator(f"[data-action={action}]")
    drawer = ledger.root.locator(".calc-drawer")
    button.focus()
    page.keyboard.press("Enter")
    drawer.wait_for()
    assert button.get_attribute("aria-expanded") == "true"
    assert button.evaluate(HAS_FOCUS)
    assert walk_to(page, drawer)
    button.focus()
    page.keyboard.press("Space")
    drawer.wait_for(state="detached")
    assert button.get_attribute("aria-expanded") == "false"
    assert button.evaluate(HAS_FOCUS)


def walk_to(page: Page, part: Locator) -> bool:
    """Whether Tab leads into `part`."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if part.evaluate("element => element.contains(document.activeElement)"):
            return True
    return False


def test_search_gives_the_focus_back(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    opener = page.locator("wiki-search [data-action=open]")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("wiki-search dialog")
    dialog.wait_for()
    assert dialog.locator("[type=search]").evaluate(HAS_FOCUS)
    page.keyboard.type("denominator")
    results = dialog.locator("[data-results] a")
    results.first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert results.nth(1).evaluate(HAS_FOCUS)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert dialog.locator("[type=search]").evaluate(HAS_FOCUS)
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert opener.evaluate(HAS_FOCUS)


def test_figure_is_looked_at_without_a_mouse(page: Page, host: Host) -> None:
    page.set_viewport_size({"width": 500, "height": 700})
    page.goto(host.url + CHAPTER)
    opener = page.locator("wiki-figure [data-action=open]").first
    opener.focus()
    page.keyboard.press("Space")
    dialog = page.locator("dialog.figure-dialog")
    dialog.wait_for()
    # It is modal: nothing behind it is reached. Original size, then scroll it by its arrows.
    assert walk_to(page, dialog.get_by_text("Original size"))
    page.keyboard.press("Enter")
    frame = dialog.locator(".figure-frame")
    assert walk_to(page, frame)
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('.figure-frame').scrollLeft > 0", timeout=5_000
    )
    for _ in range(8):
        page.keyboard.press("Tab")
        inside = "element => element.contains(document.activeElement)"
        outside = page.evaluate("document.activeElement === document.body")
        assert outside or dialog.evaluate(inside)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert opener.evaluate(HAS_FOCUS)


@pytest.mark.parametrize(
    ("address", "name"),
    [("en/clipping/", "clip_ownership"), ("en/coordinated-step/", "step_coordination")],
)
def test_no_matrix_or_table_holds_the_focus(
    address: str, name: str, page: Page, host: Host
) -> None:
    calculator = open_live(page, host.url + address, name)
    count = calculator.root.evaluate(COUNT)
    calculator.root.locator(".calc-number").focus()
    for expected in range(1, count):
        page.keyboard.press("Tab")
        assert calculator.root.evaluate(NUMBER) == expected
    page.keyboard.press("Tab")
    assert calculator.root.evaluate(NUMBER) == -1
