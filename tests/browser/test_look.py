"""How pages look: columns, room on a phone, themes, targets, paper, weight, and what axe finds."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.server import MOUNT, Host
from tests.browser.support import SAVES_DATA

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
CHAPTERS = ("en/denominator/", "zh-cn/denominator/")
# A page of each kind: the home page, chapters with every kind of control, reference pages, none.
KINDS = (
    "", "denominator/", "coordinated-step/", "clipping/", "cases/", "glossary/", "records/",
    "about/", "no/such/page",
)  # fmt: skip
PHONE = {"width": 360, "height": 780}
DESK = {"width": 1440, "height": 900}
FIRST_VIEW = 150_000
# Nothing is told of what passes: that takes three quarters of the time, and nobody reads it.
FULL = "{resultTypes: ['violations']}"
DARK = "{resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']}"
# Every computed style of every element, each colour written as "colour".
KEEP_STYLES = r"""
() => {
  window.stylesNow = () => [...document.querySelectorAll('body *')].map((element) => {
    const style = getComputedStyle(element);
    return [...style].map((name) =>
      `${name}: ${style.getPropertyValue(name).replace(/(rgba?|color)\([^)]*\)/g, 'colour')}`);
  });
  window.kept = stylesNow();
}
"""
CHANGED_STYLES = """
() => {
  const changed = new Set();
  stylesNow().forEach((styles, i) => styles.forEach((style, k) => {
    if (style !== kept[i][k] && !style.startsWith('color-scheme')) changed.add(style);
  }));
  return [...changed];
}
"""
OVER_THE_EDGE = """
() => [...document.querySelectorAll('body *')]
  .filter((e) => e.getBoundingClientRect().right > 361)
  .filter((e) => !e.closest('.table-scroll, pre, .equation-body, .grid, .sr-only, .katex-mathml'))
  .map((e) => e.outerHTML.slice(0, 80))
"""
SMALL_TARGETS = """
(least) => [...document.querySelectorAll('button, input, select, summary, nav a')]
  .filter((e) => e.checkVisibility({visibilityProperty: true}))
  .filter((e) => !e.matches('[type=checkbox], [type=radio]') || !e.closest('label'))
  .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 100)])
  .filter(([box]) => box.height && (box.height < least || box.width < 24))
  .map(([box, html]) => `${box.width.toFixed(1)}x${box.height.toFixed(1)} ${html}`)
"""
SCROLLS = """
(inner) => {
  const box = inner.closest('.equation-body, .table-scroll');
  return box.scrollWidth > box.clientWidth;
}
"""
# The longest that a calculator says of its state, in the language of each chapter.
STATES = (
    "precomputed · starting Python: 3.2 of 6.0 MB",
    "预先算好 · 正在启动 Python：3.2 / 6.0 MB",
)
STOPS_FIRST = r"""
() => [...document.querySelectorAll('h1, h2, h3, .opening-question, .size, .calc-verdict')]
  .flatMap((element) => {
    const words = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const topOf = (node, i) => {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      return range.getBoundingClientRect().top;
    };
    const found = [];
    for (let node = words.nextNode(); node; node = words.nextNode()) {
      for (const { index } of node.data.matchAll(/(?<!^)[？。，、；：！）》”]/g)) {
        if (topOf(node, index) - topOf(node, index - 1) > 8) found.push(node.data);
      }
    }
    return found;
  })
"""
SLANTED_CHINESE = r"""
() => [...document.querySelectorAll('body *')]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && /\p{Script=Han}/u.test(n.data)))
  .filter((e) => getComputedStyle(e).fontStyle !== 'normal' && e.checkVisibility())
  .map((e) => e.outerHTML.slice(0, 80))
"""


def addresses(built: Path) -> list[str]:
    """Every page of the site, relative to its root."""
    found = [path.parent.relative_to(built).as_posix() for path in built.rglob("index.html")]
    return sorted("" if folder == "." else f"{folder}/" for folder in found)


def quiet(browser: Browser, **options: Any) -> BrowserContext:
    """A context whose pages start neither Python nor a service worker: they look the same."""
    context = browser.new_context(service_workers="block", **options)
    context.add_init_script(SAVES_DATA)
    return context


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = quiet(browser, viewport=PHONE, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def desk(browser: Browser) -> Iterator[Page]:
    context = quiet(browser, viewport=DESK)
    yield context.new_page()
    context.close()


def violations(page: Page, options: str = FULL) -> list[str]:
    """What axe-core finds on the page: rule and element."""
    found = page.evaluate(f"axe.run({options})")["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def axe_findings(
    browser: Browser, host: Host, pages: list[str], width: dict[str, int]
) -> dict[str, list[str]]:
    """What axe finds on each of these pages, in either theme."""
    # Without motion, for a colour on its way from one theme to the other is neither.
    context = quiet(browser, viewport=width, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    found: dict[str, list[str]] = {}
    for address in pages:
        page.emulate_media(color_scheme="light")
        page.goto(host.url + address)
        page.add_script_tag(path=AXE)
        found[address] = violations(page)
        # In the dark only colours differ: the other rules would find the same once more.
        page.emulate_media(color_scheme="dark")
        found[address] += violations(page, DARK)
    context.close()
    return {address: rules for address, rules in found.items() if rules}


@pytest.mark.parametrize("language", ["en", "zh-cn"])
def test_axe_finds_nothing(language: str, browser: Browser, host: Host, built: Path) -> None:
    own = [address for address in addresses(built) if address.startswith(f"{language}/")]
    assert len(own) > 10
    assert axe_findings(browser, host, ["", *own, f"{language}/no/such/page"], DESK) == {}


def test_axe_finds_nothing_on_a_phone(browser: Browser, host: Host) -> None:
    """A page of each kind: their words, which differ, have been looked at above."""
    own = [f"en/{name}" for name in KINDS] + [f"zh-cn/{name}" for name in KINDS]
    assert axe_findings(browser, host, ["", *own], PHONE) == {}


@pytest.mark.parametrize("address", ["en/", "en/denominator/", "zh-cn/cases/"])
def test_themes_differ_in_colours_alone(address: str, desk: Page, host: Host) -> None:
    desk.emulate_media(color_scheme="light", reduced_motion="reduce")
    desk.goto(host.url + address)
    desk.evaluate(KEEP_STYLES)
    desk.emulate_media(color_scheme="dark")
    assert desk.evaluate(CHANGED_STYLES) == []
    assert desk.evaluate("kept.length") > 300


def test_axe_sees_a_fault(browser: Browser, host: Host) -> None:
    context = quiet(browser, bypass_csp=True)
    page = context.new_page()
    page.goto(host.url + CHAPTERS[0])
    page.evaluate("document.querySelector('.opening p').style.color = '#ddd'")
    page.add_script_tag(path=AXE)
    assert [rule.partition(":")[0] for rule in violations(page)] == ["color-contrast"]
    context.close()


def test_no_page_is_wider_than_a_phone(phone: Page, host: Host, built: Path) -> None:
    over: dict[str, Any] = {}
    for address in addresses(built):
        phone.goto(host.url + address)
        if phone.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            over[address] = phone.evaluate(OVER_THE_EDGE)
    assert over == {}


@pytest.mark.parametrize("language", ["en", "zh-cn"])
@pytest.mark.parametrize("name", ["adamw", "learning-rate"])
def test_aligned_formulas_fit_a_phone(language: str, name: str, phone: Page, host: Host) -> None:
    phone.goto(f"{host.url}{language}/{name}/")
    rows = phone.locator(".equation-rows").first
    assert rows.evaluate(SCROLLS) is False
    edges = rows.evaluate("""(rows) => [...rows.querySelectorAll('.equation-first + *')]
      .map((cell) => Math.round(cell.getBoundingClientRect().left))""")
    assert len(edges) == 3
    assert len(set(edges)) == 1


@pytest.mark.parametrize("language", ["en", "zh-cn"])
def test_inputs_in_a_table_are_all_in_sight(language: str, desk: Page, host: Host) -> None:
    desk.goto(f"{host.url}{language}/clipping/")
    table = desk.locator(".calc-controls .rows").first
    assert table.is_visible()
    assert table.evaluate(SCROLLS) is False
    cut = table.evaluate("""(table) => [...table.querySelectorAll('input')]
      .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.value)""")
    assert cut == []


@pytest.mark.parametrize("width", [PHONE, {"width": 768, "height": 1000}, DESK])
def test_a_calculators_state_moves_nothing(
    width: dict[str, int], browser: Browser, host: Host
) -> None:
    context = quiet(browser, viewport=width)
    page = context.new_page()
    for address, words in zip(CHAPTERS, STATES, strict=True):
        page.goto(host.url + address)
        heights = set()
        for text in ("", words):
            page.evaluate(
                "(text) => document.querySelector('.calc-status').replaceChildren(text)", text
            )
            heights.add(page.locator(".calc-bar").first.evaluate("(bar) => bar.offsetHeight"))
        assert len(heights) == 1
        status = page.locator(".calc-status").first
        assert status.evaluate("(item) => item.scrollWidth <= item.clientWidth")
    context.close()


def test_the_result_is_in_sight_of_the_controls_on_a_phone(phone: Page, host: Host) -> None:
    phone.goto(host.url + CHAPTERS[0])
    phone.locator(".calc-controls").first.evaluate("(item) => item.scrollIntoView()")
    phone.evaluate("scrollBy(0, -innerHeight / 3)")
    verdict = phone.locator(".calc-verdict").first
    box = verdict.bounding_box()
    assert box
    assert box["y"] + box["height"] <= PHONE["height"] + 1
    controls = phone.locator(".calc-controls").first.bounding_box()
    assert controls
    assert controls["y"] + controls["height"] > PHONE["height"]
    # Down the page it lies in its own place, between the controls and the values.
    phone.locator(".calc-metrics").first.evaluate("(item) => item.scrollIntoView({block: 'end'})")
    order = [
        phone.locator(selector).first.bounding_box()
        for selector in (".calc-controls", ".calc-verdict", ".calc-metrics")
    ]
    tops = [found["y"] for found in order if found]
    assert tops == sorted(tops)
    assert order[0]
    assert order[1]
    assert order[1]["y"] >= order[0]["y"] + order[0]["height"]


def test_what_has_the_focus_is_not_behind_the_result(phone: Page, host: Host) -> None:
    phone.goto(host.url + CHAPTERS[0])
    phone.emulate_media(reduced_motion="reduce")
    verdict = phone.locator(".calc-verdict").first
    phone.locator(".calc-controls input").first.focus()
    for _ in range(phone.locator(".calc-controls").first.locator("input, select, button").count()):
        seen = phone.evaluate("document.activeElement.getBoundingClientRect().bottom")
        box = verdict.bounding_box()
        assert box
        assert seen <= box["y"] + 1
        phone.keyboard.press("Tab")


def test_no_line_of_large_chinese_type_begins_with_a_stop(
    phone: Page, host: Host, built: Path
) -> None:
    found = {}
    for address in addresses(built):
        if address.startswith("zh-cn"):
            phone.goto(host.url + address)
            found[address] = phone.evaluate(STOPS_FIRST)
    assert {address: lines for address, lines in found.items() if lines} == {}


def test_a_headings_link_takes_no_room(phone: Page, host: Host) -> None:
    phone.goto(f"{host.url}zh-cn/clipping/")
    heights = "() => [...document.querySelectorAll('.prose h2')].map((h2) => h2.offsetHeight)"
    before = phone.evaluate(heights)
    phone.evaluate("document.querySelectorAll('.heading-link').forEach((link) => link.remove())")
    assert phone.evaluate(heights) == before


def test_targets_are_large_enough_for_a_finger(phone: Page, host: Host) -> None:
    phone.goto(host.url + CHAPTERS[0])
    assert phone.evaluate("matchMedia('(pointer: coarse)').matches")
    assert phone.evaluate(SMALL_TARGETS, 44) == []


@pytest.mark.parametrize("address", ["en/", *CHAPTERS, "en/clipping/"])
def test_targets_are_large_enough_for_a_pointer(address: str, desk: Page, host: Host) -> None:
    desk.goto(host.url + address)
    assert desk.evaluate(SMALL_TARGETS, 24) == []


@pytest.mark.parametrize("address", CHAPTERS)
def test_three_columns_on_a_wide_screen(address: str, desk: Page, host: Host) -> None:
    desk.goto(host.url + address)
    boxes = [
        desk.locator(selector).first.bounding_box()
        for selector in (".chapters", ".prose > p", ".contents")
    ]
    chapters, text, contents = [box for box in boxes if box]
    assert chapters["x"] + chapters["width"] < text["x"]
    assert text["x"] + text["width"] < contents["x"]
    assert contents["x"] + contents["width"] <= DESK["width"]


def test_a_line_holds_about_seventy_characters(desk: Page, host: Host) -> None:
    desk.goto(host.url + CHAPTERS[0])
    lengths = desk.evaluate("""() => [...document.querySelectorAll('.prose > p')]
      .filter((p) => !p.querySelector('.katex') && p.offsetHeight > 150)
      .map((p) => p.textContent.length / Math.round(p.offsetHeight / 28.8))""")
    assert lengths
    assert all(55 <= length <= 80 for length in lengths)


def test_chapters_open_as_a_sheet_on_a_phone(phone: Page, host: Host) -> None:
    phone.goto(host.url + CHAPTERS[0])
    sheet = phone.locator(".chapters")
    assert sheet.is_hidden()
    phone.locator(".chapters-open").click()
    assert sheet.locator("[aria-current=page]").is_visible()
    phone.keyboard.press("Escape")
    assert sheet.is_hidden()
    phone.locator(".chapters-open").click()
    sheet.locator(".chapters-here a").last.click()
    assert sheet.is_hidden()
    assert phone.url.endswith("#sources")


def test_the_theme_is_chosen_kept_and_there_before_the_first_paint(desk: Page, host: Host) -> None:
    desk.goto(host.url + CHAPTERS[0])
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = desk.evaluate(background)
    button = desk.locator("wiki-theme button")
    seen = [button.get_attribute("aria-label")]
    for _ in range(2):
        button.click()
        seen.append(button.get_attribute("aria-label"))
    assert len(set(seen)) == 3
    dark = desk.evaluate(background)
    assert dark != light
    desk.add_init_script("""new PerformanceObserver(() => {
      window.first ??= getComputedStyle(document.documentElement).backgroundColor;
    }).observe({type: 'paint'})""")
    desk.reload(wait_until="networkidle")
    assert desk.evaluate("window.first") == dark
    button.click()
    assert desk.evaluate(background) == light
    assert desk.locator("html").get_attribute("data-theme") == "system"


def test_a_chosen_theme_does_not_flash_on_a_slow_network(desk: Page, host: Host) -> None:
    desk.emulate_media(color_scheme="light")
    desk.add_init_script("localStorage.setItem('same-update-theme', 'dark')")
    desk.add_init_script("""
      window.painted = [];
      const look = () => {
        if (document.body) painted.push(getComputedStyle(document.documentElement).backgroundColor);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    """)
    session = desk.context.new_cdp_session(desk)
    session.send("Network.enable")
    slow = {"latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    session.send("Network.emulateNetworkConditions", {"offline": False, **slow})
    desk.goto(host.url + CHAPTERS[0])
    colours = desk.evaluate("painted.filter((colour) => colour !== 'rgba(0, 0, 0, 0)')")
    assert colours
    assert set(colours) == {
        desk.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    }
    desk.emulate_media(color_scheme="dark")
    desk.evaluate("document.documentElement.dataset.theme = 'light'")
    assert (
        desk.evaluate("getComputedStyle(document.documentElement).backgroundColor") not in colours
    )


def test_what_is_right_and_what_is_not_differ_by_sign_and_word(desk: Page, host: Host) -> None:
    desk.goto(host.url + CHAPTERS[0])
    for role, sign in (("correct", "✓"), ("implemented", "△")):
        head = desk.locator(f".calc-metrics .role-{role} dt").first
        assert head.locator(".sign").inner_text() == sign
        assert head.locator(".role").inner_text() == role


def test_chinese_is_never_slanted(desk: Page, host: Host, built: Path) -> None:
    for address in addresses(built):
        if address.startswith("zh-cn"):
            desk.goto(host.url + address)
            assert desk.evaluate(SLANTED_CHINESE) == []


def test_paper_has_the_results_and_no_navigation(desk: Page, host: Host) -> None:
    desk.goto(host.url + CHAPTERS[0])
    desk.emulate_media(media="print", color_scheme="dark")
    for selector in (".masthead", ".chapters", ".contents", ".turn", ".calc-actions"):
        assert desk.locator(selector).first.is_hidden(), selector
    for selector in (".calc-verdict", ".calc-table", ".katex", "wiki-record", "figure svg"):
        assert desk.locator(selector).first.is_visible(), selector
    ink = "getComputedStyle(document.body).color"
    assert desk.evaluate(ink) == "rgb(0, 0, 0)"


def test_nothing_moves_for_those_who_ask_for_it(desk: Page, host: Host) -> None:
    desk.emulate_media(reduced_motion="reduce")
    desk.goto(host.url + CHAPTERS[0])
    assert desk.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    durations = desk.evaluate("""() => [...document.querySelectorAll('body *')]
      .map((e) => Math.max(...getComputedStyle(e).transitionDuration.split(',').map(parseFloat)))
      .filter((seconds) => seconds > 0.001)""")
    assert durations == []


def compressed(built: Path, address: str, paths: set[str]) -> int:
    """What a page and its files weigh when a host compresses what is text."""
    page = (built / address / "index.html").read_bytes()
    total = len(gzip.compress(page, 9))
    for path in paths:
        data = (built / path).read_bytes()
        total += len(data) if path.endswith(".woff2") else len(gzip.compress(data, 9))
    return total


def asked_by(page: Page, url: str) -> set[str]:
    """The paths that a page itself asks for; its service worker keeps more, later."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto(url, wait_until="networkidle")
    return {urlsplit(found).path.removeprefix(MOUNT) for found in urls}


def test_the_first_view_is_light(browser: Browser, host: Host, built: Path) -> None:
    heavy = {}
    for address in addresses(built):
        context = quiet(browser, viewport=DESK)
        asked = asked_by(context.new_page(), host.url + address)
        context.close()
        weight = compressed(built, address, asked - {address})
        if weight >= FIRST_VIEW:
            heavy[address] = weight
    assert heavy == {}
