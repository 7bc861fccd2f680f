"""What goes wrong is said in place, in words; the built page stays, and never lies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, START, Calculator, Guard, open_live

FAULT = """
    if inputs.theta == 4.25:
        raise RuntimeError("a fault made by a test")
"""


def wait_unavailable(calculator: Calculator) -> str:
    """Until it says that Python cannot run; its message."""
    calculator.wait("unavailable")
    assert calculator.message.is_visible()
    return calculator.message.inner_text()


def change_calculator(host: Host, built: Path, code: str) -> None:
    """Serve a bundle whose ledger does something else, with a manifest that knows its hash."""
    manifest_path = next((built / "runtime").glob("manifest-*.json"))
    manifest = json.loads(manifest_path.read_text("utf-8"))
    entry = manifest["bundles"]["en"]
    bundle: dict[str, Any] = json.loads((built / "runtime" / entry["path"]).read_text("utf-8"))
    key = "calculators/two_replica_ledger.py"
    anchor = '    """Both updates, the correct and the implemented one."""\n'
    assert anchor in bundle["files"][key]
    bundle["files"][key] = bundle["files"][key].replace(anchor, anchor + code.lstrip("\n"))
    body = json.dumps(bundle).encode()
    entry |= {"sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)}
    host.changed[entry["path"]] = lambda _: body
    host.changed[manifest_path.name] = lambda _: json.dumps(manifest).encode()


@pytest.mark.parametrize("part", ["pyodide.asm.wasm", "numpy-", "calculators-en", "manifest-"])
def test_missing_file_is_told_and_can_be_tried_again(
    part: str, page: Page, host: Host, guard: Guard
) -> None:
    guard.allows("404", "runtime/pyodide-")
    host.missing.add(part)
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    built = ledger.result.inner_html()
    assert "could not be fetched" in wait_unavailable(ledger)
    assert ledger.result.inner_html() == built
    host.missing.clear()
    ledger.message.locator("button").click()
    ledger.wait()
    assert ledger.message.is_hidden()


def test_controls_return_to_the_result_that_is_shown(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("404")
    host.missing.add("calculators-en")
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    ledger.control("theta").fill("7")
    wait_unavailable(ledger)
    assert ledger.control("theta").input_value() == "0"
    assert "theta" not in page.url
    ledger.control("theta").fill("3")
    assert ledger.control("theta").input_value() == "0"
    assert ledger.message.is_visible()


def test_file_with_another_hash_is_not_run(page: Page, host: Host, guard: Guard) -> None:
    for part in ("python_stdlib.zip", "python_stdlib.zip.br", "python_stdlib.zip.gz"):
        host.changed[part] = lambda data: data[:-1] + bytes([data[-1] ^ 1])
    host.compresses = False
    for ending in (".br", ".gz"):
        host.missing.add(f"python_stdlib.zip{ending}")
    # Pyodide may log that it lacks the file before it is told to stop.
    guard.allows("404", "runtime/pyodide-")
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    assert "not the one this page was built with" in wait_unavailable(ledger)


def test_host_without_compression_sends_the_small_files(page: Page, host: Host) -> None:
    host.compresses = False
    open_live(page, host.url + CHAPTER)
    large = ("pyodide.asm.wasm", "python_stdlib.zip", ".whl")
    for name in large:
        assert [p for p in host.asked(name) if p.endswith((".br", ".gz"))], name


def test_browser_without_webassembly(page: Page, host: Host) -> None:
    page.add_init_script("delete window.WebAssembly")
    page.goto(host.url + CHAPTER)
    ledger = Calculator(page)
    assert "WebAssembly" in wait_unavailable(ledger)
    assert "−0.5" in ledger.result.inner_text()
    assert host.asked("runtime/") == []


def test_webassembly_blocked_by_a_policy(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("Content Security Policy", "WebAssembly")
    host.headers["worker-"] = {"Content-Security-Policy": "script-src 'self'"}
    page.goto(host.url + CHAPTER)
    assert "WebAssembly" in wait_unavailable(Calculator(page))


def test_python_error_shows_its_traceback_folded(page: Page, host: Host, built: Path) -> None:
    change_calculator(host, built, FAULT)
    ledger = open_live(page, host.url + CHAPTER)
    ledger.control("theta").fill("4.25")
    ledger.message.wait_for(state="visible")
    trace = ledger.message.locator("details")
    assert trace.get_attribute("open") is None
    trace.locator("summary").click()
    assert "a fault made by a test" in trace.inner_text()
    assert ledger.control("theta").input_value() == "0"
    ledger.set("theta", 2)
    assert ledger.message.is_hidden()


def test_killed_worker_is_replaced(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    page.workers[0].evaluate("() => self.close()")
    ledger.control("theta").fill("2")
    ledger.message.wait_for(state="visible", timeout=20_000)
    ledger.set("theta", 3)
    assert ledger.control("theta").input_value() == "3"


def test_snapshot_is_used_and_a_damaged_one_is_dropped(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    shown = ledger.result.inner_html()
    wait_for_snapshot(page)
    host.log.clear()
    page.reload()
    ledger.wait()
    assert page.evaluate(IS_WARM)
    damage = """async () => {
      const cache = await caches.open("wiki-snapshot");
      const [request] = await cache.keys();
      const found = await cache.match(request);
      const bytes = new Uint8Array(await found.arrayBuffer());
      bytes[1000] ^= 1;
      await cache.put(request, new Response(bytes, { headers: found.headers }));
    }"""
    page.evaluate(damage)
    page.reload()
    ledger.wait()
    assert not page.evaluate(IS_WARM)
    ledger.set("theta", 1)
    ledger.set("theta", 0)
    assert ledger.result.inner_html() == shown


def test_snapshot_that_does_not_load_is_dropped(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("runtime/pyodide-")
    ledger = open_live(page, host.url + CHAPTER)
    wait_for_snapshot(page)
    garbage = """async () => {
      const cache = await caches.open("wiki-snapshot");
      const [request] = await cache.keys();
      const bytes = new Uint8Array(65536 * 4).fill(7);
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
      await cache.put(request, new Response(bytes, { headers: { "x-sha256": hex } }));
    }"""
    page.evaluate(garbage)
    page.reload()
    ledger.wait()
    ledger.set("theta", 1)
    assert not page.evaluate(IS_WARM)


IS_WARM = "performance.getEntriesByName('wiki-ready')[0].detail?.isWarm === true"


def wait_for_snapshot(page: Page) -> None:
    found = """async () => {
      for (let i = 0; i < 300; i += 1) {
        if (await caches.has("wiki-snapshot")) {
          const keys = await (await caches.open("wiki-snapshot")).keys();
          if (keys.length) return true;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return false;
    }"""
    page.set_default_timeout(START)
    assert page.evaluate(found)
