"""What a build costs, and how that grows: this project alone, then beside other builders."""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.model import Options
from pipeline.serving.changes import sort
from pipeline.serving.workshop import Workshop
from tests.bench import cost, peers, report
from tests.bench.wiki import chapter, make, plain, slug_of
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
    text = f"Builds, {head}.\n\n{grown(lines)}\n\n{others}"
    print(text)
    if not given.dry:
        report.write("build", text)
    return 0


def say(text: str) -> None:
    """Progress, away from the tables."""
    print(text, file=sys.stderr, flush=True)


def measured(folder: Path, chapters: int, runs: int, text: Callable[..., str] = chapter) -> Line:
    """All figures of one size; large ones are built once."""
    say(f"{chapters} chapters in each of 2 languages")
    root = make(folder / f"wiki-{chapters}", chapters, text)
    runs = runs if chapters <= 100 else 1
    command = [sys.executable, str(PROJECT / "build.py"), "--root", str(root)]
    colds, warms, edits = [], [], []
    for _ in range(runs):
        shutil.rmtree(root / ".cache", ignore_errors=True)
        colds.append(cost.of(command, PROJECT))
        for name in DROPPED:
            (root / ".cache" / name).unlink(missing_ok=True)
        warms.append(cost.of(command, PROJECT))
    for number in range(runs):
        edit(root, number)
        edits.append(cost.of(command, PROJECT))
    cold, warm, edited = cost.best(colds), cost.best(warms), cost.best(edits)
    line = Line(chapters, cold, warm, edited, saved(root))
    say(f"  {line.cold.wall:.1f} s, {line.warm.wall:.1f} s, {line.edited.wall:.1f} s, "
        f"{line.saved:.0f} ms, {line.cold.memory:.0f} MB")  # fmt: skip
    shutil.rmtree(root)
    return line


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
    own = measured(folder / "plain", chapters, runs, plain)
    rows = [
        _row("Same Update, formulas kept", own.warm, own.edited, "yes"),
        _row("Same Update, nothing kept", own.cold, own.edited, "yes"),
    ]
    try:
        commands = peers.installed(PROJECT / ".cache" / "bench" / "peers")
    except cost.FailedError as error:
        return f"The other builders could not be installed here ({error})."
    for peer in peers.PEERS:
        say(f"  {peer.name}")
        try:
            clean, edited = peers.measured(peer, commands, folder / "peers", chapters, runs)
        except cost.FailedError as error:
            rows.append((peer.name, str(error), "", "", "", "no"))
            continue
        rows.append(_row(peer.name, clean, edited, "no"))
    heads = (
        f"{2 * chapters} pages", "clean", "processor time", "one text changed", "memory",
        "sets formulas",
    )  # fmt: skip
    return (
        f"The same prose and formulas everywhere, search included, best of {runs} runs "
        f"({', '.join(peers.versions())}). Only this project sets formulas in the build, checks "
        "every link and number, and packs its scripts, fonts and Python runtime.\n\n"
    ) + report.table(heads, rows)


def _row(name: str, clean: cost.Cost, edited: cost.Cost, sets: str) -> tuple[str, ...]:
    return (
        name, f"{clean.wall:.2f} s", f"{clean.cpu:.2f} s", f"{edited.wall:.2f} s",
        f"{clean.memory:.0f} MB", sets,
    )  # fmt: skip
