"""Memory that does not suffice: said in words, the built page stays, and it can be tried again."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, Calculator, open_live
from tests.browser.test_failures import change_calculator, wait_for_snapshot, wait_unavailable

# What a browser throws that has no room for the memory of WebAssembly, where it may throw it.
NO_MEMORY = {
    "memory": """
WebAssembly.Memory = class {
  constructor() { throw new RangeError("WebAssembly.Memory(): could not allocate memory"); }
};
""",
    "instance": """
WebAssembly.instantiateStreaming = WebAssembly.instantiate = () => Promise.reject(
  new RangeError("WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory"));
""",
}
SHORT = """
    if inputs.theta == 4.25:
        import numpy
        [numpy.empty(10**8) for _ in range(6)]
"""


@pytest.mark.parametrize("where", NO_MEMORY)
@pytest.mark.parametrize("is_warm", [False, True], ids=["cold", "warm"])
def test_start_without_memory_is_told_and_can_be_tried_again(
    where: str, is_warm: bool, page: Page, host: Host
) -> None:
    ledger = Calculator(page)
    # Neither the service worker nor the browser's cache may hold another worker than the host's.
    page.add_init_script("delete Navigator.prototype.serviceWorker")
    host.headers["assets/worker-"] = {"Cache-Control": "no-store"}
    if is_warm:
        open_live(page, host.url + CHAPTER)
        wait_for_snapshot(page)
    host.changed["assets/worker-"] = lambda script: NO_MEMORY[where].encode() + script
    page.goto("about:blank")
    page.goto(host.url + CHAPTER)
    built = ledger.result.inner_html()
    # A value for which nothing was computed in advance.
    ledger.control("theta").fill("1.2345")
    text = wait_unavailable(ledger)
    assert "not enough memory" in text
    assert "Close other pages" in text
    assert ledger.result.inner_html() == built
    assert ledger.control("theta").input_value() == "0"
    assert "theta" not in page.url
    host.changed.clear()
    ledger.message.locator("button").click()
    ledger.wait()
    assert ledger.message.is_hidden()
    ledger.set("theta", 1.2345)
    assert ledger.result.inner_html() != built


def test_run_without_memory_is_told_and_can_be_tried_again(
    page: Page, host: Host, built: Path
) -> None:
    change_calculator(host, built, SHORT)
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("theta", 1)
    shown = ledger.result.inner_html()
    retry = ledger.message.locator("button:not([data-used])")
    for attempt in range(2):
        if attempt == 0:
            ledger.control("theta").fill("4.25")
        else:
            retry.evaluate("button => { button.dataset.used = ''; button.click(); }")
        retry.wait_for()
        assert "ran out of memory at these inputs" in ledger.message.inner_text()
        assert "smaller" in ledger.message.inner_text()
        assert ledger.control("theta").input_value() == "1"
        assert "theta=1" in page.url
        assert ledger.result.inner_html() == shown
        assert ledger.root.get_attribute("data-stale") is None
    ledger.set("theta", 2)
    assert ledger.message.is_hidden()
    assert ledger.result.inner_html() != shown
