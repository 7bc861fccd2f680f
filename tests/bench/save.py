"""From a save to the open page, for every kind of change: median and 95th percentile."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests import browsers
from tests.bench import report
from tests.bench.edits import EDITS, SLUG, Edit, Site, opened, serve
from tests.browser.support import DESK
from tests.processes import free_port

CHAPTERS = (15, 1_000)
ROUNDS = 15
Times = dict[str, list[float]]


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table and write it into the README."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench save", description=__doc__)
    parser.add_argument("--chapters", type=int, nargs="*", default=CHAPTERS, help="of the wikis")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="saves of each kind that count")
    parser.add_argument("--only", nargs="*", default=list(EDITS), help="kinds of changes")
    parser.add_argument("--dry", action="store_true", help="leave the README as it is")
    given = parser.parse_args(arguments)
    head = report.machine()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browsers.system(), args=browsers.arguments()
        )
        found = {n: measured(browser, n, given.rounds, given.only) for n in given.chapters}
        version = browser.version
        browser.close()
    text = (
        f"{head}, {report.load()} at the end, Chromium {version}. "
        f"{given.rounds} saves of each kind.\n\n{table(found)}"
    )
    print(text)
    if not given.dry:
        report.write("save", text)
    return 0


def measured(browser: Browser, chapters: int, rounds: int, kinds: Sequence[str]) -> Times:
    """Milliseconds of each save by kind. The first of each starts programs and is left out."""
    took: Times = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        site = serve(Path(folder), chapters, free_port())
        with site.serving:
            site.serving.until("whole site checked")
            for kind in kinds:
                context = browser.new_context(viewport=DESK)
                page = opened(context, site, f"/{EDITS[kind].language}/{SLUG}/")
                took[kind] = saves(page, site, EDITS[kind], rounds)
                context.close()
                print(f"{chapters} chapters, {kind}: {statistics.median(took[kind]):.0f} ms",
                      file=sys.stderr, flush=True)  # fmt: skip
    return took


def saves(page: Page, site: Site, edit: Edit, rounds: int) -> list[float]:
    """Milliseconds of so many saves, each made when the page has come to rest."""
    times = []
    for n in range(10, 11 + rounds):
        page.wait_for_selector("wiki-calculator[data-state=live]")
        times.append(edit.milliseconds(page, site, n))
    return times[1:]


def table(found: dict[int, Times]) -> str:
    """A row for each kind, two columns for each size."""
    heads = ["a saved change of"]
    for chapters in found:
        heads += [f"{chapters:,} chapters × 2, median", "95th percentile"]
    rows = [
        [kind, *(cell for times in found.values() for cell in _cells(times[kind]))]
        for kind in next(iter(found.values()))
    ]
    return report.table(heads, rows)


def _cells(times: Sequence[float]) -> tuple[str, str]:
    high = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return f"{statistics.median(times):.0f} ms", f"{high:.0f} ms"
