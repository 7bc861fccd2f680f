"""Time and size budgets. Times are ratios to a bare Pyodide in the same browser and run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser import drags
from tests.browser.server import Host
from tests.browser.support import CHAPTER, START, Calculator, open_live, start_took
from tests.browser.test_failures import wait_for_snapshot
from tests.browser.test_live import never

ROOT = Path(__file__).resolve().parents[2]
# Best of this many: what else the machine does can only slow a start down.
ROUNDS = 3
BARE_WORKER = (
    "const started = performance.now();"
    + drags.LOAD
    + """
python.runPython("import numpy");
postMessage(performance.now() - started);
"""
)
BARE_START = """() => new Promise((resolve, reject) => {
  const worker = new Worker("runtime/bare.js", { type: "module" });
  worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
  worker.onerror = (event) => reject(new Error(event.message));
})"""


def bare_start(browser: Browser, host: Host) -> float:
    """Milliseconds of a cold start of Pyodide with numpy and nothing else."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{host.url}bare.html")
    took: float = page.evaluate(BARE_START)
    context.close()
    return took


def own_starts(browser: Browser, host: Host) -> tuple[float, float]:
    """Milliseconds of the page's first start and of the one after it."""
    context = browser.new_context()
    page = context.new_page()
    open_live(page, host.url + CHAPTER)
    cold = start_took(page)
    wait_for_snapshot(page)
    page.reload()
    Calculator(page).wait()
    warm = start_took(page)
    context.close()
    return cold, warm


def serve_bare(host: Host) -> None:
    """Pyodide's own files as they are released, and a worker that starts them."""
    worker = BARE_WORKER.replace("WHEEL", drags.serve_bare(host))
    host.besides |= {"bare.html": drags.PAGE, "runtime/bare.js": worker.encode()}


def test_starts_cost_little_more_than_python_itself(browser: Browser, host: Host) -> None:
    serve_bare(host)
    bare = min(bare_start(browser, host) for _ in range(ROUNDS))
    starts = [own_starts(browser, host) for _ in range(ROUNDS)]
    cold, warm = (min(times) for times in zip(*starts, strict=True))
    print(f"bare {bare:.0f} ms, cold {cold:.0f} ms, warm {warm:.0f} ms")
    assert cold <= 1.15 * bare
    assert warm <= 0.5 * bare


def test_slider_reaches_the_page_almost_as_fast_as_without_the_page(
    browser: Browser, host: Host
) -> None:
    own, bare = drags.measure(browser, host)
    print(
        f"own {own.median:.1f} and {own.p95:.1f} ms, bare {bare.median:.1f} and {bare.p95:.1f} ms"
    )
    # `python -m tests.bench page` holds it to a frame, on a machine that does nothing else.
    assert own.p95 <= 3 * bare.p95
    assert own.median <= 3 * bare.median


def first_view_sizes(page: Page, host: Host, built: Path) -> dict[str, int]:
    """Compressed bytes of each file of a chapter's first view, without the runtime."""
    sizes: dict[str, int] = {}

    def count(url: str) -> None:
        path = built / url.removeprefix(host.url)
        if path.is_dir():
            path = path / "index.html"
        data = path.read_bytes()
        sizes[path.name] = len(data if path.suffix == ".woff2" else gzip.compress(data, 9))

    page.on("response", lambda response: count(response.url))
    page.route("**/runtime/**", lambda route: route.abort())
    page.add_init_script("delete window.WebAssembly")
    page.goto(host.url + CHAPTER, wait_until="networkidle")
    return {name: size for name, size in sizes.items() if not name.startswith(("plot-", "sw."))}


def runtime_bytes(built: Path) -> int:
    """Compressed bytes of Pyodide, numpy and one language's calculators."""
    manifest_path = next((built / "runtime").glob("manifest-*.json"))
    manifest: dict[str, Any] = json.loads(manifest_path.read_text("utf-8"))
    sizes = [entry["variants"].get("br", entry["bytes"]) for entry in manifest["core"].values()]
    bundle = (built / "runtime" / manifest["bundles"]["en"]["path"]).read_bytes()
    return int(sum(sizes)) + len(gzip.compress(bundle))


def test_a_move_of_the_slider_styles_little_of_the_page(
    browser: Browser, page: Page, host: Host
) -> None:
    """A selector that ends in "*" would have a whole calculator styled anew, twice a move."""
    ledger = open_live(page, host.url + CHAPTER)
    page.evaluate(drags.DRAG, [ledger.id, 5])
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.evaluate(drags.DRAG, [ledger.id, 10])
    events = json.loads(browser.stop_tracing())["traceEvents"]
    styled = [
        event["args"]["elementCount"]
        for event in events
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event.get("args", {})
    ]
    assert len(styled) > 10
    # Controls of the browser's own, such as the slider's thumb, are among them.
    assert sorted(styled)[len(styled) // 2] < 40, styled


def test_first_view_is_small(page: Page, host: Host, built: Path) -> None:
    first = first_view_sizes(page, host, built)
    assert sum(first.values()) <= 150_000, first


def test_runtime_is_small(built: Path) -> None:
    assert runtime_bytes(built) <= 6_000_000


def test_largest_paint_does_not_wait_for_a_script(page: Page, host: Host) -> None:
    page.route("**/*.js", never)
    page.set_default_timeout(START)
    page.goto(host.url + CHAPTER, wait_until="commit")
    page.locator("h1").first.wait_for()
    painted = """() => new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().length))
        .observe({ type: "largest-contentful-paint", buffered: true });
      setTimeout(() => resolve(0), 5000);
    })"""
    assert page.evaluate(painted) > 0
