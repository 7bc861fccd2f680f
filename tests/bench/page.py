"""The page's budgets, measured in one run: bytes, starts, slider to pixels, the longest task."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests import browsers
from tests.bench import report
from tests.browser import drags
from tests.browser import test_budgets as budgets
from tests.browser.server import Host, Serving
from tests.browser.support import CHAPTER, open_live

LONGEST = """() => new Promise((resolve) => {
  const found = [];
  new PerformanceObserver((list) => found.push(...list.getEntries()))
    .observe({ type: "longtask", buffered: true });
  setTimeout(() => resolve(Math.max(0, ...found.map((entry) => entry.duration))), 500);
})"""


def longest_task(page: Page, host: Host) -> float:
    """Milliseconds of the longest task of the page's own thread until Python answers."""
    open_live(page, host.url + CHAPTER)
    longest: float = page.evaluate(LONGEST)
    return longest


def spoken(times: drags.Times) -> str:
    """Both figures of a way."""
    return f"{times.median:.1f} ms, 95 % in {times.p95:.1f} ms"


def measure(browser: Browser, host: Host, site: Path) -> list[list[str]]:
    """Rows of the table: what, measured, budget."""
    budgets.serve_bare(host)
    view = sum(budgets.first_view_sizes(browser.new_page(), host, site).values())
    runtime = budgets.runtime_bytes(site)
    bare = min(budgets.bare_start(browser, host) for _ in range(budgets.ROUNDS))
    starts = [budgets.own_starts(browser, host) for _ in range(budgets.ROUNDS)]
    cold, warm = (min(times) for times in zip(*starts, strict=True))
    own, least = drags.measure(browser, host)
    longest = longest_task(browser.new_page(), host)
    return [
        ["first view without the runtime, compressed", f"{view / 1000:.0f} kB", "150 kB"],
        ["runtime, compressed", f"{runtime / 1e6:.2f} MB", "6.0 MB"],
        ["bare loadPyodide and import numpy, files as released", f"{bare:.0f} ms", ""],
        ["live, cold", f"{cold:.0f} ms ({cold / bare:.2f} × bare)", "1.15 × bare"],
        ["live, warm", f"{warm:.0f} ms ({warm / bare:.2f} × bare)", "0.50 × bare"],
        ["request to new result, bare page and worker", spoken(least), ""],
        [
            "slider to new result",
            f"{spoken(own)} ({own.p95 / least.p95:.1f} × bare)",
            "95 % in 16.7 ms, 3 × bare",
        ],
        ["longest main-thread task until live", f"{longest:.0f} ms", "50 ms"],
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure the site in `--site`; print the table and, unless `--dry`, write it to the README."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench page", description=__doc__)
    parser.add_argument("--site", type=Path, default=report.README.parent / "dist")
    parser.add_argument("--dry", action="store_true", help="print only")
    options = parser.parse_args(arguments)
    if not (options.site / "build.json").is_file():
        print(f"bench: {options.site} holds no site; run `make site` first")
        return 2
    began = report.machine()
    with sync_playwright() as playwright, Serving(options.site) as host:
        browser = playwright.chromium.launch(
            executable_path=browsers.system(), args=browsers.arguments()
        )
        rows = measure(browser, host, options.site)
        version = browser.version
        browser.close()
    text = f"{began}, Chromium {version}.\n\n{report.table(['', 'measured', 'budget'], rows)}"
    print(text)
    if not options.dry:
        report.write("page", text)
    return 0
