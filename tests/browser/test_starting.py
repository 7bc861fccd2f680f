"""When Python starts: in a page that is seen, not in advance, not where data are to be saved."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests import browsers
from tests.browser.server import Host
from tests.browser.support import CHAPTER, SAVES_DATA, START, Calculator
from tests.processes import eventually

# A link to a state asks for a result as soon as its page is there.
LINKED = f"{CHAPTER}#ledger?theta=1.5"
# A page that has Chromium make the chapter ready in advance, and goes there once it may.
DOOR = f"""<!doctype html><title>door</title><link rel=icon href=data:,>
<script type="speculationrules">
{{"prerender": [{{"urls": ["{LINKED}"], "eagerness": "immediate"}}]}}
</script>
<script>
setInterval(async () => {{
  if ((await fetch("may-go.txt")).ok) location.href = "{LINKED}";
}}, 100);
</script>"""
# Asked this often by the door, ten times in a second: more than the page waits for an idle moment.
PATIENCE = 40
HIDDEN = """
Object.defineProperty(document, "visibilityState", { get: () => window.shown ?? "hidden" });
"""
SHOW = """() => {
  window.shown = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
}"""
PRERENDERED = """
Object.defineProperty(document, "prerendering", { get: () => !window.activated });
"""
ACTIVATE = """() => {
  window.activated = true;
  document.dispatchEvent(new Event("prerenderingchange"));
}"""


@pytest.fixture
def chromium(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Open an address in a Chromium of its own: a steered one makes no page ready in advance."""
    started: list[subprocess.Popen[bytes]] = []
    path = os.environ.get("CHROMIUM") or browsers.system() or browser.browser_type.executable_path

    def open_address(url: str) -> None:
        command = [
            path,
            "--headless=new",
            f"--user-data-dir={tmp_path}",
            *browsers.arguments(),
            url,
        ]
        quiet = subprocess.DEVNULL
        started.append(
            subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
        )

    yield open_address
    for process in started:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=20)


def wait_asked(host: Host, part: str, times: int = 1) -> None:
    """Until the host has been asked for `part` so often."""
    is_asked = eventually(lambda: len(host.asked(part)) >= times, START / 1000)
    assert is_asked, f"{part}: asked for {len(host.asked(part))} times"


def test_page_made_ready_in_advance_starts_python_when_it_is_shown(
    chromium: Callable[[str], None], host: Host
) -> None:
    host.besides["door.html"] = DOOR.encode()
    chromium(f"{host.url}door.html")
    wait_asked(host, "assets/main-")
    wait_asked(host, "may-go.txt", PATIENCE)
    assert host.asked("runtime/") == []
    assert host.asked("assets/worker-") == []
    assert host.asked("sw.js") == []
    host.besides["may-go.txt"] = b"go"
    wait_asked(host, "calculators-en")
    # It was that page and no second one.
    assert len(host.asked(CHAPTER)) == 1


@pytest.mark.parametrize(
    ("unseen", "see"),
    [(HIDDEN, SHOW), (PRERENDERED, ACTIVATE)],
    ids=["hidden", "prerendered"],
)
@pytest.mark.parametrize("address", [CHAPTER, LINKED])
def test_page_that_nobody_sees_starts_python_when_it_is_seen(
    unseen: str, see: str, address: str, page: Page, context: BrowserContext, host: Host
) -> None:
    page.add_init_script(unseen)
    page.goto(host.url + address)
    other = context.new_page()
    other.goto(host.url + CHAPTER)
    Calculator(other).wait()
    # It came first, and what it would need is in the browser's cache.
    ledger = Calculator(page)
    assert ledger.state() == "static"
    assert page.workers == []
    page.evaluate(see)
    ledger.wait()
    assert ledger.control("theta").input_value() == ("1.5" if address == LINKED else "0")


@pytest.mark.parametrize("address", [CHAPTER, LINKED])
def test_device_that_saves_data_starts_python_by_a_button(
    address: str, page: Page, context: BrowserContext, host: Host
) -> None:
    page.add_init_script(SAVES_DATA)
    page.goto(host.url + address)
    ledger = Calculator(page)
    button = ledger.root.locator("[data-status] button")
    button.wait_for()
    ledger.control("theta").fill("1.2345")
    other = context.new_page()
    other.goto(host.url + CHAPTER)
    Calculator(other).wait()
    assert ledger.state() == "static"
    assert page.workers == []
    assert ledger.root.get_attribute("data-stale") is not None
    button.click()
    ledger.wait()
    assert ledger.control("theta").input_value() == "1.2345"


@pytest.mark.parametrize(("address", "has_plot"), [(CHAPTER, False), ("en/learning-rate/", True)])
def test_what_draws_plots_is_fetched_where_a_calculator_shows_one(
    address: str, has_plot: bool, page: Page, host: Host
) -> None:
    # A service worker would fetch it for the other pages.
    page.add_init_script("delete Navigator.prototype.serviceWorker")
    page.goto(host.url + address)
    name = page.locator("wiki-calculator").first.get_attribute("name")
    assert page.locator("wiki-calculator [data-plot]").count() == has_plot
    calculator = Calculator(page, name or "")
    calculator.wait()
    page.wait_for_load_state("networkidle")
    assert bool(host.asked("assets/plot-")) == has_plot


def test_data_asked_for_early_take_no_result_from_a_change(page: Page, host: Host) -> None:
    held: list[Route] = []
    page.route("**/runtime/**", lambda route: held.append(route), times=1)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    box = ledger.control("theta")
    box.fill("1.5")
    box.press("Tab")
    ledger.root.locator("[data-action=data]").click()
    held[0].continue_()
    ledger.wait()
    expect(ledger.root.locator(".calc-drawer pre").first).to_contain_text('"theta": 1.5')


def test_data_do_not_start_python_where_the_device_saves_data(page: Page, host: Host) -> None:
    page.add_init_script(SAVES_DATA)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    ledger.root.locator("[data-action=data]").click()
    ledger.root.locator(".calc-drawer pre").first.wait_for()
    # What is kept for reading offline includes the list of the runtime's files.
    assert host.asked("pyodide") == []
