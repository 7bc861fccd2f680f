"""What the tests of the experiments share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from experiments.record import FOLDER, ROOT, Record, load

FAILING = "tests.experiments.failing"


def record(name: str, backend: str = "gloo") -> Record:
    """A committed record."""
    return load(FOLDER / f"{name}.{backend}.json")


def code(arguments: list[str], before: str = "") -> list[str]:
    """A Python process that runs the command line over the failing experiments."""
    call = f"import sys; {before}; from experiments.__main__ import main; "
    call += f"sys.exit(main({arguments!r}, package={FAILING!r}))"
    return [sys.executable, "-c", call.replace("; ;", ";")]


def command(
    arguments: list[str], before: str = "pass", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line over the failing experiments in a process of its own."""
    return subprocess.run(
        code(arguments, before),
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())
