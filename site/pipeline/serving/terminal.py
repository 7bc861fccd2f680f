"""What the terminal says: progress, and what is wrong with the line it is about."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from pipeline import faults
from pipeline.code import PROJECT
from pipeline.errors import Finding

MAX_LISTED = 20
MAX_NAMES = 3
WIDTH = 160  # characters of a line that are shown; a paragraph of prose is one line


def say(text: str) -> None:
    """A line with the time."""
    _print(f"{time.strftime('%H:%M:%S')}  {text}", sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    """A terminal that has been closed is no reason to end in another way than otherwise."""
    with contextlib.suppress(OSError):
        print(text, file=stream, flush=True)


def named(names: Sequence[str]) -> str:
    """Changed files in a line: the first of them, and how many there are."""
    shown = ", ".join(names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} and {len(names) - MAX_NAMES} more"


def excerpt(finding: Finding, root: Path) -> str:
    """The line that a finding is about, a long one around its value; '' where there is no line."""
    for base in (root, PROJECT):
        if (base / finding.file).is_file():
            return _around(faults.source_line(base / finding.file, finding.line), finding.value)
    return ""


def _around(line: str, value: str) -> str:
    if len(line) <= WIDTH:
        return line
    at = max(0, line.find(value.strip()[:40]))
    start = min(max(0, at - WIDTH // 3), len(line) - WIDTH)
    end = start + WIDTH
    return f"{'… ' if start else ''}{line[start:end]}{' …' if end < len(line) else ''}"


def described(finding: Finding, root: Path) -> dict[str, Any]:
    """A finding for the page: its place, its message, the line itself."""
    return {
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "source": excerpt(finding, root),
        "level": finding.level,
    }


def report(findings: Sequence[Finding], root: Path) -> None:
    """All findings, errors with the line they are about."""
    errors = [item for item in findings if item.level == "error"]
    warnings = len(findings) - len(errors)
    for item in errors[:MAX_LISTED]:
        _print(f"\n{item}", sys.stderr)
        line = excerpt(item, root)
        if line:
            _print(f"  {item.line:>5} | {line}", sys.stderr)
    if len(errors) > MAX_LISTED:
        _print(f"\nand {len(errors) - MAX_LISTED} more", sys.stderr)
    if errors:
        _print("", sys.stderr)
    if errors or warnings:
        say(f"{len(errors)} errors, {warnings} warnings")
