"""Reading: without scripts, by keyboard, exercises, figures, terms, search, the case book."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import Host
from tests.browser.support import CHAPTER, Guard


def test_nothing_is_missing_without_scripts(browser: Browser, host: Host) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(host.url + CHAPTER)
    calculator = page.locator("wiki-calculator").first
    assert calculator.locator("[data-verdict]").is_visible()
    assert calculator.locator(".calc-table").first.is_visible()
    assert calculator.locator("[data-controls]").is_hidden()
    assert page.locator(".without-script").first.is_visible()
    assert page.locator("wiki-record").first.is_visible()
    assert page.locator(".katex").first.is_visible()
    assert host.asked("runtime/") == []
    context.close()


def test_every_page_loads_without_an_error_or_a_foreign_request(
    page: Page, host: Host, built: Path
) -> None:
    folders = [path.parent.relative_to(built).as_posix() for path in built.rglob("index.html")]
    assert len(folders) > 20
    page.route("**/runtime/**", lambda route: route.abort())
    page.add_init_script("delete window.WebAssembly")
    for folder in sorted(folders):
        page.goto(f"{host.url}{folder}/" if folder != "." else host.url)
        assert page.title()


def test_exercise_checks_a_number(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    exercise = page.locator("wiki-exercise[data-answer]").first
    answer = float(json.loads(exercise.get_attribute("data-answer") or ""))
    box, verdict = exercise.locator("[name=answer]"), exercise.locator("[data-verdict]")
    box.fill(repr(answer))
    box.press("Enter")
    assert verdict.inner_text().startswith("✓")
    box.fill(f"−{answer}" if answer > 0 else repr(-answer))
    box.press("Enter")
    assert verdict.inner_text().startswith("✗") or answer == 0
    box.fill(repr(answer).replace(".", ","))
    box.press("Enter")
    assert verdict.inner_text().startswith("✓")
    box.fill("seven")
    box.press("Enter")
    assert box.get_attribute("aria-invalid") == "true"
    page.reload()
    assert box.input_value() == ""


@pytest.mark.parametrize("language", ["en", "zh-cn"])
def test_every_answer_is_right_as_the_page_writes_it(
    language: str, page: Page, host: Host, built: Path
) -> None:
    page.add_init_script("delete window.WebAssembly")
    checked = 0
    for path in sorted(built.glob(f"{language}/*/index.html")):
        if "data-answer" not in path.read_text("utf-8"):
            continue
        page.goto(f"{host.url}{path.parent.relative_to(built).as_posix()}/")
        verdicts = page.evaluate("""() =>
          [...document.querySelectorAll("wiki-exercise[data-answer]")].map((exercise) => {
            const shown = exercise.querySelector(".exercise-number data").textContent;
            exercise.querySelector("[name=answer]").value = shown;
            exercise.querySelector("form").requestSubmit();
            return exercise.querySelector("[data-verdict]").textContent;
          })""")
        assert [verdict for verdict in verdicts if not verdict.startswith("✓")] == [], path
        checked += len(verdicts)
    assert checked > 30


@pytest.mark.parametrize(
    ("place", "answer", "is_right"),
    [
        ("data-parallel/#dp-budget", "131,072", True),
        ("data-parallel/#dp-budget", "131 072", True),
        ("data-parallel/#dp-budget", "１３１０７２", True),
        ("data-parallel/#dp-budget", "2^17", None),
        ("data-parallel/#dp-budget", "131,073", False), ("data-parallel/#dp-move", "１６", True),
        ("data-parallel/#dp-flag", "23/3", True), ("data-parallel/#dp-flag", "7 2/3", True),
        ("data-parallel/#dp-flag", "7,667", True), ("learning-rate/#lr-first", "3×10⁻⁷", True),
        ("learning-rate/#lr-first", "0", False), ("validation/#ex-accuracy", "⅔", True),
        ("validation/#ex-accuracy", "66.67%", True), ("validation/#ex-accuracy", "三分之二", None),
        ("case-reversed-gradient/#case-flip", "−⅛", True),
        ("case-reversed-gradient/#case-flip", "1 2", None),
    ],
)  # fmt: skip
def test_exercise_judges_what_a_reader_types(
    place: str, answer: str, is_right: bool | None, page: Page, host: Host
) -> None:
    page.goto(f"{host.url}en/{place}")
    exercise = page.locator("#" + place.partition("#")[2])
    box, verdict = exercise.locator("[name=answer]"), exercise.locator("[data-verdict]")
    box.fill(answer)
    box.press("Enter")
    signs = {True: "✓", False: "✗", None: "Give a number"}
    assert verdict.inner_text().startswith(signs[is_right])
    assert box.get_attribute("aria-invalid") == ("true" if is_right is None else None)


def test_figure_opens_large_and_closes(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    button = page.locator("wiki-figure [data-action=open]").first
    button.focus()
    button.press("Enter")
    dialog = page.locator("dialog.figure-dialog")
    dialog.wait_for()
    fit = dialog.locator("svg").bounding_box()
    page.set_viewport_size({"width": 500, "height": 700})
    dialog.get_by_text("Original size").click()
    large = dialog.locator("svg").bounding_box()
    assert fit
    assert large
    assert large["width"] > 500
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert button.evaluate("element => element === document.activeElement")
    page.locator("wiki-figure .figure-canvas").first.click()
    dialog.wait_for()


def test_term_shows_its_definition(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    term = page.locator("wiki-term").first
    definition = term.get_attribute("data-definition") or ""
    tip = term.locator(".term-definition")
    term.locator("a").focus()
    tip.wait_for()
    assert tip.inner_text() == definition
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    page.locator("h1").hover()
    term.hover()
    tip.wait_for()
    page.locator("h1").hover()
    tip.wait_for(state="hidden")


@pytest.mark.parametrize(("language", "query"), [("en", "denominator"), ("zh-cn", "梯度")])
def test_search_by_keyboard(language: str, query: str, page: Page, host: Host) -> None:
    page.goto(f"{host.url}{language}/")
    page.keyboard.press("/")
    dialog = page.locator("wiki-search dialog")
    dialog.wait_for()
    page.keyboard.type(query)
    results = dialog.locator("[data-results] a")
    results.first.wait_for()
    assert results.first.locator("mark").count() > 0
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{host.url}{language}/*/*")


def test_search_opens_by_ctrl_k_and_not_while_typing(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    dialog = page.locator("wiki-search dialog")
    box = page.locator("wiki-exercise [name=answer]").first
    box.focus()
    page.keyboard.type("1/2")
    assert dialog.is_hidden()
    page.keyboard.press("Control+k")
    dialog.wait_for()
    page.keyboard.type("zzzzqqqq")
    page.locator("[data-status]", has_text="zzzzqqqq").wait_for()
    page.keyboard.press("Escape")
    assert dialog.is_hidden()


def test_keys_of_an_input_method_do_not_walk_through_the_results(page: Page, host: Host) -> None:
    page.goto(f"{host.url}zh-cn/")
    page.keyboard.press("/")
    page.keyboard.type("梯度")
    page.locator("wiki-search [data-results] a").first.wait_for()
    for key in ("Enter", "ArrowDown", "Escape"):
        page.locator("wiki-search [type=search]").evaluate(
            """(box, key) => box.dispatchEvent(new KeyboardEvent(
                 "keydown", { key, isComposing: true, bubbles: true, cancelable: true }))""",
            key,
        )
    assert page.url == f"{host.url}zh-cn/"
    assert page.locator("wiki-search dialog").is_visible()
    assert page.locator("wiki-search [type=search]").evaluate("e => e === document.activeElement")


def test_autofill_sends_a_key_without_a_name(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    page.evaluate("document.body.dispatchEvent(new Event('keydown', { bubbles: true }))")
    page.keyboard.press("Control+k")
    page.locator("wiki-search dialog").wait_for()


def test_theme_can_be_chosen_where_storage_is_refused(page: Page, host: Host) -> None:
    page.add_init_script("""Object.defineProperty(window, "localStorage", {
      get() { throw new DOMException("refused", "SecurityError"); } })""")
    page.goto(host.url + CHAPTER)
    shown = []
    for _ in range(3):
        page.locator("wiki-theme button").click()
        shown.append(page.evaluate("document.documentElement.dataset.theme"))
    assert shown == ["light", "dark", "system"]


def test_theme_chosen_in_another_tab_is_named_here(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    other = page.context.new_page()
    other.goto(host.url + CHAPTER)
    other.locator("wiki-theme button").click()
    button = page.locator("wiki-theme button")
    expect(button).to_have_attribute("aria-label", "Colours: light")
    button.click()
    expect(button).to_have_attribute("aria-label", "Colours: dark")


def test_search_without_its_index_says_so(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("404", "Failed to fetch dynamically imported module", "MIME")
    host.missing.add("pagefind.js")
    page.goto(host.url + CHAPTER)
    page.keyboard.press("/")
    page.keyboard.type("rank")
    page.locator("wiki-search [data-status]", has_text="could not be loaded").wait_for()


def test_case_book_by_topic(page: Page, host: Host) -> None:
    page.goto(f"{host.url}en/cases/")
    cases = page.locator("wiki-cases [data-topic]")
    total = cases.count()
    assert total > 10
    first = page.locator(".case-filter [name=topic]").first
    first.check()
    topic = first.get_attribute("value") or ""
    visible = page.locator("wiki-cases [data-topic]:not([hidden])")
    assert 0 < visible.count() < total
    assert {visible.nth(i).get_attribute("data-topic") for i in range(visible.count())} == {topic}
    assert re.search(r"#[\w-]+\?topic=", page.url)
    page.reload()
    assert 0 < visible.count() < total
    first.uncheck()
    assert visible.count() == total


def test_tab_reaches_every_control_in_order(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    calculator = page.locator("wiki-calculator").first
    calculator.locator("[data-action=reset]").focus()
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.name || ''"))
    wanted = ["counts", "targets", "theta", "learning_rate", "scheme"]
    reached = [name for name in dict.fromkeys(seen) if name in wanted]
    assert reached == wanted
