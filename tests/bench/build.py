"""What a build costs, and how that grows: this project alone, then beside other builders."""

from __future__ import annotations

import argparse
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.model import Options
from pipeline.serving.changes import sort
from pipeline.serving.workshop import Workshop
from tests.bench import cost, peers, report
from tests.bench.wiki import make, plain, slug_of
from tests.wikis import PROJECT

# What a clean build makes anew although formulas and plots are kept.
DROPPED = ("documents.sqlite", "calculations.sqlite", "pages.sqlite")
SIZES = (10, 100, 1_000, 5_000)
BESIDE = 60
RUNS = 3
EDITS = 9


@dataclass(frozen=True)
class Line:
    """One size: a build with nothing kept, one with formulas kept, one after an edit, a save."""

    chapters: int
    cold: cost.Cost
    warm: cost.Cost
    edited: cost.Cost
    saved: float


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables and write them into the README."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench build", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="chapters a language")
    parser.add_argument("--beside", type=int, default=BESIDE, help="chapters beside others, or 0")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of which the best counts")
    parser.add_argument("--dry", action="store_true", help="leave the README as it is")
    given = parser.parse_args(arguments)
    head = report.machine()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        lines = [measured(Path(folder), size, given.runs) for size in given.sizes]
        others = beside(Path(folder), given.beside, given.runs) if given.beside else ""
    text = f"Builds, {head}, {report.load()} at the end.\n\n{grown(lines)}\n\n{others}"
    print(text)
    if not given.dry:
        report.write("build", text)
    return 0


def say(text: str) -> None:
    """Progress, away from the tables."""
    print(text, file=sys.stderr, flush=True)


def measured(folder: Path, chapters: int, runs: int) -> Line:
    """All figures of one size; large ones are built once."""
    say(f"{chapters} chapters in each of 2 languages")
    root = make(folder / f"wiki-{chapters}", chapters)
    own = Own(root)
    colds, warms, edits = [], [], []
    for number in range(runs if chapters <= 100 else 1):
        colds.append(own.cold())
        warms.append(own.warm())
        edits.append(own.edited(number))
    # In a process of its own: a book in memory would make this one large for all that follow.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        took = pool.apply(saved, (root,))
    line = Line(chapters, cost.best(colds), cost.best(warms), cost.best(edits), took)
    say(f"  {line.cold.wall:.1f} s, {line.warm.wall:.1f} s, {line.edited.wall:.1f} s, "
        f"{line.saved:.0f} ms, {line.cold.memory:.0f} MB")  # fmt: skip
    return line


class Own:
    """This project's command on a wiki."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.command = [sys.executable, str(PROJECT / "build.py"), "--root", str(root)]

    def cold(self) -> cost.Cost:
        """With nothing kept."""
        cost.put_aside(self.root / ".cache")
        return self._clean()

    def warm(self) -> cost.Cost:
        """With formulas, plots and bundles kept; everything else is made anew."""
        for name in DROPPED:
            (self.root / ".cache" / name).unlink(missing_ok=True)
        return self._clean()

    def _clean(self) -> cost.Cost:
        cost.put_aside(self.root / "dist")
        return cost.of(self.command, PROJECT)

    def edited(self, number: int) -> cost.Cost:
        """After one text has changed."""
        edit(self.root, number)
        return cost.of(self.command, PROJECT)


def edit(root: Path, number: int) -> Path:
    """Change a sentence of one chapter."""
    path = root / "content" / slug_of(2) / "en.md"
    text = path.read_text("utf-8")
    path.write_text(re.sub(r"- Count .*? in", f"- Count {number} times in", text), "utf-8")
    return path


def saved(root: Path) -> float:
    """Milliseconds from a saved edit to the page that shows it, in the editor's server."""
    workshop = Workshop(Options(root, root / "dist", root / ".cache"))
    page, took = f"en/{slug_of(2)}/index.html", []
    try:
        workshop.open()
        workshop.page(page)
        for number in range(EDITS):
            path = edit(root, number)
            started = time.perf_counter()
            workshop.change(sort([path], root, PROJECT))
            workshop.page(page)
            took.append((time.perf_counter() - started) * 1000)
    finally:
        workshop.close()
    return statistics.median(took)


def grown(lines: Sequence[Line]) -> str:
    """The table of this project's own builds by size."""
    heads = (
        "chapters × languages", "clean", "clean, formulas kept", "one text changed",
        "processor time a page", "memory", "in `make serve`",
    )  # fmt: skip
    rows = [
        (
            f"{line.chapters:,} × 2", f"{line.cold.wall:.1f} s", f"{line.warm.wall:.1f} s",
            f"{line.edited.wall:.1f} s", f"{1000 * line.warm.cpu / (2 * line.chapters):.0f} ms",
            f"{line.cold.memory:,.0f} MB", f"{line.saved:.0f} ms",
        )
        for line in lines
    ]  # fmt: skip
    return (
        "Each chapter has 9 formulas of its own, 4 bindings, a calculator, a record and 3 "
        "exercises; a build includes all checks and the search index; formulas and plots are kept "
        "where it says so. The last column is a saved edit in the server's memory, until the page "
        "is made.\n\n"
    ) + report.table(heads, rows)


def beside(folder: Path, chapters: int, runs: int) -> str:
    """The table of several builders on the same Markdown and formulas."""
    say(f"{chapters} chapters in each of 2 languages, beside others")
    own = Own(make(folder / "plain", chapters, plain))
    runners = [
        peers.Contestant("Same Update, formulas kept", True, own.warm, own.edited),
        peers.Contestant("Same Update, nothing kept", True, own.cold, own.edited),
    ]
    own.cold()
    try:
        commands = peers.installed(PROJECT / ".cache" / "bench" / "peers")
    except cost.FailedError as error:
        return f"The other builders could not be installed here ({error})."
    runners += [peers.contestant(p, commands, folder / "peers", chapters) for p in peers.PEERS]
    rows = [_row(runner, costs) for runner, costs in raced(runners, runs).items()]
    heads = (
        f"{2 * chapters} pages", "clean", "processor time", "one text changed", "memory",
        "sets formulas",
    )  # fmt: skip
    return (
        f"The same prose and formulas everywhere, search included; the builders took turns, and "
        f"the best of {runs} runs counts ({', '.join(peers.versions())}). Only this project sets "
        "formulas in the build, checks every link and number, and packs its scripts, fonts and "
        "Python runtime.\n\n"
    ) + report.table(heads, rows)


Race = dict[peers.Contestant, tuple[cost.Cost, cost.Cost] | cost.FailedError]


def raced(runners: Sequence[peers.Contestant], runs: int) -> Race:
    """The best clean and edited builds of each; they take turns, so that all meet the same."""
    clean: dict[peers.Contestant, list[cost.Cost]] = {runner: [] for runner in runners}
    edited: dict[peers.Contestant, list[cost.Cost]] = {runner: [] for runner in runners}
    failed: Race = {}
    for number in range(runs):
        for runner in runners:
            try:
                clean[runner].append(runner.clean())
                edited[runner].append(runner.edited(number))
            except cost.FailedError as error:
                failed[runner] = error
            say(f"  {runner.name}, {number + 1} of {runs}")
    return {
        runner: failed.get(runner) or (cost.best(clean[runner]), cost.best(edited[runner]))
        for runner in runners
    }


def _row(
    runner: peers.Contestant, costs: tuple[cost.Cost, cost.Cost] | cost.FailedError
) -> tuple[str, ...]:
    sets = "yes" if runner.sets_formulas else "no"
    if isinstance(costs, cost.FailedError):
        return runner.name, str(costs), "", "", "", sets
    clean, edited = costs
    return (
        runner.name, f"{clean.wall:.2f} s", f"{clean.cpu:.2f} s", f"{edited.wall:.2f} s",
        f"{clean.memory:.0f} MB", sets,
    )  # fmt: skip
