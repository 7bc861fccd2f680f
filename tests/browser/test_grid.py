"""Answers computed with the page: they stand in while Python starts, and where it cannot run."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import Host
from tests.browser.support import CHAPTER, LEDGER, START, Calculator, Guard
from tests.browser.test_look import AXE, violations

# Label, state where Python cannot run, state while it starts.
WORDS = {
    "en": ("precomputed", "Python does not run here", "starting Python"),
    "zh-cn": ("预先算好", "此处无法运行 Python", "正在启动 Python"),
}
REFUSED = {
    "en": "Answers were computed in advance for changes of {}: these still work.",
    "zh-cn": "以下输入仍可更改，结果已预先算好：{}。",
}
WITHOUT_PYTHON = "delete window.WebAssembly"


def blocked(page: Page, url: str, name: str = LEDGER) -> Calculator:
    """The calculator on the page at `url`, in a browser that cannot run Python."""
    page.add_init_script(WITHOUT_PYTHON)
    page.goto(url)
    calculator = Calculator(page, name)
    calculator.wait("unavailable")
    return calculator


def answered(calculator: Calculator) -> str:
    """Until the result is that of the controls and is said to be precomputed; the status."""
    language = calculator.page.evaluate("document.documentElement.lang").lower()
    settled = f"wiki-calculator#{calculator.id}:not([data-stale]) [data-status]"
    status = calculator.page.locator(settled, has_text=WORDS[language][0])
    status.wait_for(timeout=START)
    return status.inner_text()


def choose(calculator: Calculator, scheme: str) -> None:
    calculator.control("scheme").select_option(scheme)


def labels(calculator: Calculator, *names: str) -> str:
    """What the page calls these inputs, as a sentence lists them."""
    listed = """([id, names]) => {
      const { schema, language } = document.getElementById(id).spec;
      const titles = names.map((name) => schema.properties[name].title);
      return new Intl.ListFormat(language).format(titles);
    }"""
    return str(calculator.page.evaluate(listed, [calculator.id, list(names)]))


@pytest.mark.parametrize("language", WORDS)
def test_discrete_controls_answer_where_python_cannot_run(
    language: str, page: Page, host: Host
) -> None:
    label, unavailable, _ = WORDS[language]
    ledger = blocked(page, f"{host.url}{language}/denominator/")
    built = ledger.result.inner_html()
    assert host.asked("grids/") == []
    choose(ledger, "global_tokens")
    assert answered(ledger) == f"{label} · {unavailable}"
    assert ledger.state() == "unavailable"
    assert "scheme=global_tokens" in page.url
    assert ledger.result.inner_html() != built
    [asked] = host.asked("grids/")
    assert f"grids/{language}/{LEDGER}-" in asked
    ledger.control("accumulation_steps").fill("3")
    answered(ledger)
    assert "accumulation_steps=3" in page.url
    assert host.asked("grids/") == [asked]
    assert host.asked("pyodide") == []


@pytest.mark.parametrize("language", WORDS)
def test_other_controls_return_and_the_page_says_which_answer(
    language: str, page: Page, host: Host
) -> None:
    ledger = blocked(page, f"{host.url}{language}/denominator/")
    every = ("counts", "scheme", "accumulation_steps")
    assert REFUSED[language].format(labels(ledger, *every)) in ledger.message.inner_text()
    choose(ledger, "global_tokens")
    answered(ledger)
    shown = ledger.result.inner_html()
    ledger.control("theta").fill("3")
    expect(ledger.control("theta")).to_have_value("0")
    assert "theta" not in page.url
    assert ledger.control("scheme").input_value() == "global_tokens"
    assert ledger.result.inner_html() == shown
    assert "WebAssembly" in ledger.message.inner_text()
    # From here a count alone was not computed.
    pair = labels(ledger, "scheme", "accumulation_steps")
    assert REFUSED[language].format(pair) in ledger.message.inner_text()
    answered(ledger)
    ledger.control("accumulation_steps").fill("2")
    answered(ledger)


def test_link_to_a_state_is_answered_and_back_and_reset_undo_it(page: Page, host: Host) -> None:
    page.add_init_script(WITHOUT_PYTHON)
    page.goto(f"{host.url}{CHAPTER}#ledger?counts=2,3")
    ledger = Calculator(page)
    answered(ledger)
    assert ledger.control("counts", "1").input_value() == "3"
    shown = ledger.result.inner_html()
    ledger.control("counts", "1").fill("5")
    page.wait_for_url("**#ledger?counts=2,5")
    answered(ledger)
    assert ledger.result.inner_html() != shown
    page.go_back()
    page.wait_for_url("**#ledger?counts=2,3")
    answered(ledger)
    assert ledger.result.inner_html() == shown
    ledger.root.locator("[data-action=reset]").click()
    answered(ledger)
    assert ledger.control("counts", "1").input_value() == "8"
    assert "counts" not in page.url


def test_link_to_an_unknown_state_falls_back_to_what_is_shown(page: Page, host: Host) -> None:
    page.add_init_script(WITHOUT_PYTHON)
    page.goto(f"{host.url}{CHAPTER}#ledger?theta=1.5&scheme=global_tokens")
    ledger = Calculator(page)
    ledger.message.wait_for(state="visible")
    ledger.wait("unavailable")
    assert ledger.control("theta").input_value() == "0"
    assert "theta" not in page.url
    assert ledger.root.locator("[data-status]").inner_text() == WORDS["en"][1]


def test_invalid_state_is_told_in_the_calculators_words(page: Page, host: Host) -> None:
    norm = blocked(page, host.url + "en/accumulation/", "batch_norm_split")
    norm.control("split").fill("5")
    norm.root.locator("[aria-invalid=true]").first.wait_for()
    assert norm.control("split").input_value() == "5"
    assert norm.root.get_attribute("data-stale") is not None
    assert norm.state() == "unavailable"
    assert "5" in norm.message.inner_text()
    assert "WebAssembly" not in norm.message.inner_text()
    norm.control("split").fill("1")
    answered(norm)
    assert "WebAssembly" in norm.message.inner_text()


def test_order_and_switches_answer(page: Page, host: Host) -> None:
    owners = blocked(page, host.url + "en/clipping/", "ownership_ledger")
    owners.root.locator("[data-move]").nth(2).click()
    answered(owners)
    assert "order=sync,norm,unscale,clip" in page.url
    groups = blocked(page, host.url + "en/adamw/", "parameter_groups")
    groups.root.locator("[name=tied]").click()
    answered(groups)


def test_exercises_and_data_work_beside_it(page: Page, host: Host) -> None:
    ledger = blocked(page, host.url + CHAPTER)
    choose(ledger, "global_tokens")
    answered(ledger)
    ledger.root.locator("[data-action=data]").click()
    assert '"scheme": "global_tokens"' in ledger.root.locator(".calc-drawer pre").first.inner_text()
    exercise = page.locator("wiki-exercise[data-answer]").first
    answer = json.loads(exercise.get_attribute("data-answer") or "")
    exercise.locator("[name=answer]").fill(str(answer))
    exercise.locator("button").first.click()
    exercise.locator("[data-outcome=right]").wait_for()


@pytest.mark.parametrize("fault", ["missing", "damaged"])
def test_file_that_is_not_right_answers_nothing(
    fault: str, page: Page, host: Host, guard: Guard
) -> None:
    guard.allows("404")
    if fault == "missing":
        host.missing.add("grids/")
    else:
        host.changed["grids/"] = lambda data: data.replace(b"0.5", b"0.6")
    ledger = blocked(page, host.url + CHAPTER)
    shown = ledger.result.inner_html()
    before = ledger.control("scheme").input_value()
    choose(ledger, "global_tokens")
    expect(ledger.control("scheme")).to_have_value(before)
    ledger.wait("unavailable")
    assert ledger.result.inner_html() == shown
    assert "WebAssembly" in ledger.message.inner_text()
    host.missing.clear()
    host.changed.clear()
    choose(ledger, "global_tokens")
    answered(ledger)


@pytest.mark.parametrize("language", WORDS)
def test_labelled_state_on_a_phone_is_clean(language: str, browser: Browser, host: Host) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 780}, bypass_csp=True, reduced_motion="reduce"
    )
    ledger = blocked(context.new_page(), f"{host.url}{language}/denominator/")
    page = ledger.page
    choose(ledger, "global_tokens")
    answered(ledger)
    said = ledger.root.locator(":scope > .sr-only[role=status]")
    page.locator(f"#{ledger.id} > .sr-only", has_text=WORDS[language][0]).wait_for(state="attached")
    assert WORDS[language][0] in (said.text_content() or "")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # All of it can be read, and the line that it takes stays when Python answers.
    status = ledger.root.locator("[data-status]")
    assert status.evaluate("(item) => item.scrollWidth <= item.clientWidth")
    page.add_script_tag(path=AXE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    context.close()
