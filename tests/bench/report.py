"""What benchmarks write: tables in the README between their markers, with date and machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Date, processor, cores, and how busy they were when this began."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        name = models[0].partition(": ")[2] if models else name
    date = time.strftime("%Y-%m-%d")
    return f"{date}, {name}, {os.cpu_count()} cores, {load()} at the start"


def load() -> str:
    """How many processes wanted a processor in the last minute, in words."""
    return f"load {os.getloadavg()[0] if hasattr(os, 'getloadavg') else 0.0:.1f}"


def write(section: str, text: str, readme: Path = README) -> None:
    """Put `text` between the markers of a section. Raises ValueError when they are not there."""
    whole = readme.read_text("utf-8")
    start, end = f"<!-- bench:{section} -->", f"<!-- /bench:{section} -->"
    before, mark, rest = whole.partition(start)
    _, other, after = rest.partition(end)
    if not (mark and other):
        raise ValueError(f"{readme.name} has no {start} … {end}")
    readme.write_text(f"{before}{start}\n\n{text.strip()}\n\n{end}{after}", "utf-8")
