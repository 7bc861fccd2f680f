"""Precomputed answers while Python starts, where it waits to be asked for, and offline."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.server import Host
from tests.browser.support import (
    CHAPTER,
    LEDGER,
    SAVES_DATA,
    START,
    Calculator,
    Guard,
    open_live,
)
from tests.browser.test_grid import answered, blocked, choose
from tests.browser.test_offline import wait_kept

ASK_AGAIN = """async (id) => {
  const calculator = document.getElementById(id);
  await calculator.request(calculator.shown.inputs);
}"""
LIVE_AND_STORED = """async ([id, file]) => {
  const calculator = document.getElementById(id);
  const { pieces, states } = await (await fetch("../../" + file)).json();
  const differing = [];
  for (const [changes, row] of states) {
    const live = await calculator.request({ ...calculator.spec.inputs, ...changes });
    const stored = row.map((i) => pieces[i]).join("");
    if (JSON.stringify(live) !== JSON.stringify(JSON.parse(stored))) differing.push(changes);
  }
  return [states.length, differing];
}"""


def holding_back(host: Host) -> threading.Event:
    """The English calculators come only once this is set: until then Python starts."""
    release = threading.Event()

    def held(data: bytes) -> bytes:
        release.wait(START / 1000)
        return data

    host.changed["calculators-en"] = held
    return release


def test_answer_while_python_starts_then_live_without_a_change(page: Page, host: Host) -> None:
    release = holding_back(host)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    choose(ledger, "global_tokens")
    assert answered(ledger).startswith("precomputed · starting Python")
    assert ledger.state() == "starting"
    shown = ledger.result.inner_html()
    assert ledger.message.is_hidden()
    release.set()
    ledger.wait("live")
    assert ledger.root.locator("[data-status]").inner_text() == "live"
    page.evaluate(ASK_AGAIN, ledger.id)
    assert ledger.result.inner_html() == shown
    ledger.set("theta", 1)
    assert ledger.result.inner_html() != shown


def test_other_state_waits_for_python_beside_a_stale_result(page: Page, host: Host) -> None:
    release = holding_back(host)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    choose(ledger, "global_tokens")
    answered(ledger)
    ledger.control("theta").fill("2")
    ledger.wait("starting", is_stale=True)
    assert "precomputed" not in ledger.root.locator("[data-status]").inner_text()
    release.set()
    ledger.wait("live")
    assert ledger.control("theta").input_value() == "2"
    assert "scheme=global_tokens" in page.url


def test_device_that_saves_data_is_answered_without_python(page: Page, host: Host) -> None:
    page.add_init_script(SAVES_DATA)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    start = ledger.root.locator("[data-status] button")
    start.wait_for()
    assert host.asked("grids/") == []
    choose(ledger, "global_tokens")
    assert answered(ledger).startswith("precomputed · Start Python")
    assert ledger.state() == "static"
    assert host.asked("pyodide") == []
    shown = ledger.result.inner_html()
    start.click()
    ledger.wait("live")
    assert ledger.result.inner_html() == shown


def test_nothing_is_fetched_where_python_answers(browser: Browser, host: Host) -> None:
    context = browser.new_context(service_workers="block")
    ledger = open_live(context.new_page(), host.url + CHAPTER)
    ledger.control("scheme").select_option("global_tokens")
    ledger.settle()
    assert host.asked("grids/") == []
    context.close()


def test_offline_without_python(
    page: Page, context: BrowserContext, host: Host, guard: Guard, built: Path
) -> None:
    guard.allows("ERR_", "Failed to fetch", "Failed to load resource", "service worker")
    open_live(page, host.url + CHAPTER)
    grids = {path.name for path in (built / "grids/en").glob("*.json")}
    for name in grids:
        wait_kept(page, f"/grids/en/{name}")
    host.is_down = True
    later = context.new_page()
    ledger = blocked(later, host.url + CHAPTER)
    choose(ledger, "global_tokens")
    answered(ledger)
    kept = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
      (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""
    urls = [url for url in later.evaluate(kept) if "/grids/" in url]
    assert {url.partition("/grids/en/")[2] for url in urls} == grids


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("en/denominator/", LEDGER),
        ("zh-cn/accumulation/", "update_ledger"),
        ("en/global-negatives/", "infonce"),
    ],
)
def test_python_says_what_is_stored(address: str, name: str, page: Page, host: Host) -> None:
    calculator = open_live(page, host.url + address, name)
    file = page.evaluate("id => document.getElementById(id).spec.grid.file", calculator.id)
    count, differing = page.evaluate(LIVE_AND_STORED, [calculator.id, file])
    assert count > 40
    assert differing == []
