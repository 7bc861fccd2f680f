"""The address is the memory: Back undoes, a link reproduces, in either language."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, Calculator, open_live
from tests.browser.test_equality import places


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
