"""What the browser tests share: a guard over every page, and a calculator as a reader sees it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    ViewportSize,
    WebError,
)

from tests.browser.server import Host

CHAPTER = "en/denominator/"
LEDGER = "two_replica_ledger"
STARTED = """() => {
  const at = (name) => performance.getEntriesByName(name).at(-1).startTime;
  return at("wiki-ready") - at("wiki-start");
}"""
# As where a browser is told to save data; such a page does not start Python by itself.
SAVES_DATA = """
const value = { saveData: true, addEventListener() {} };
Object.defineProperty(navigator, "connection", { value });
"""
DESK: ViewportSize = {"width": 1280, "height": 900}
# A cold start on a busy machine; nothing waits this long where all is well.
START = 60_000


class Guard:
    """Collects what no page may do: foreign requests, errors in the console, uncaught errors."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.origin = origin
        self.errors: list[str] = []
        self.allowed: list[str] = []
        self._context = context
        context.on("request", self._requested)
        context.on("console", self._logged)
        context.on("weberror", self._thrown)

    def allows(self, *patterns: str) -> None:
        """Errors that this test provokes."""
        self.allowed.extend(patterns)

    def _requested(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.errors.append(f"foreign request: {request.url}")

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _thrown(self, error: WebError) -> None:
        self.errors.append(f"uncaught: {error.error}")

    def check(self) -> None:
        """Look no further; fail with every error that was not provoked."""
        self._context.remove_listener("request", self._requested)
        self._context.remove_listener("console", self._logged)
        self._context.remove_listener("weberror", self._thrown)
        left = [e for e in self.errors if not any(re.search(p, e) for p in self.allowed)]
        assert left == [], left


class Calculator:
    """A calculator on a page. `name` is its name, or the page's first with that name."""

    def __init__(self, page: Page, name: str = LEDGER) -> None:
        self.page = page
        self.root = page.locator(f'wiki-calculator[name="{name}"]').first
        self.result = self.root.locator("[data-result]")
        self.message = self.root.locator("[data-message]")
        self.verdict = self.root.locator("[data-verdict]")

    @property
    def id(self) -> str:
        return self.root.get_attribute("id") or ""

    def state(self) -> str:
        return self.root.get_attribute("data-state") or ""

    def control(self, name: str, index: str | None = None, part: str = "box") -> Locator:
        at = "" if index is None else f'[data-index="{index}"]'
        among = f"[name={name}]{at}"
        return self.root.locator(
            f"{among}[data-part={part}], select{among}, {among}[type=checkbox]"
        ).first

    def wait(self, state: str = "live", *, is_stale: bool = False) -> None:
        """Until it is in `state`, its result that of its controls (or not)."""
        stale = "[data-stale]" if is_stale else ":not([data-stale])"
        wanted = f"wiki-calculator#{self.id}[data-state={state}]{stale}"
        self.page.wait_for_selector(wanted, timeout=START)

    def set(self, name: str, value: Any, index: str | None = None) -> None:
        """Type `value` and leave the box; wait for its result."""
        box = self.control(name, index)
        box.fill(str(value))
        box.press("Tab")
        self.wait()

    def set_address(self, state: str) -> None:
        """Go to a link with this state."""
        self.page.evaluate("hash => { location.hash = hash }", f"{self.id}?{state}")
        self.settle()

    def settle(self) -> None:
        """Until the answer to the last input is here: a result, or a message."""
        settled = ":is([data-state=live]:not([data-stale]), :has([data-message]:not([hidden])))"
        self.page.wait_for_selector(f"wiki-calculator#{self.id}{settled}", timeout=START)


def go_offline(page: Page, host: Host) -> None:
    """No network, and nothing in the browser's own cache: what the site has kept must do."""
    host.is_down = True
    session = page.context.new_cdp_session(page)
    session.send("Network.clearBrowserCache")
    session.detach()


def start_took(page: Page) -> float:
    """Milliseconds of the last start of Python: a measure of the machine, too."""
    took: float = page.evaluate(STARTED)
    return took


def open_live(page: Page, url: str, name: str = LEDGER) -> Calculator:
    """The calculator on the page at `url`, once Python answers."""
    page.goto(url)
    calculator = Calculator(page, name)
    calculator.wait()
    return calculator


@cache
def places(built: Path) -> dict[str, str]:
    """Calculator -> the first English page that has it."""
    found: dict[str, str] = {}
    for path in sorted(built.glob("en/**/index.html")):
        folder = path.parent.relative_to(built).as_posix() + "/"
        for name in re.findall(r'<wiki-calculator [^>]*name="(\w+)"', path.read_text("utf-8")):
            found.setdefault(name, folder)
    return found
