"""Ranks that work for minutes, each with a child process; their ids go to MARKS."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Ranks that work for minutes, each with a child process; their ids go to MARKS."""
    child = subprocess.Popen(["sleep", "600"])
    marks = Path(os.environ["MARKS"])
    marks.joinpath(f"{context.rank}.part").write_text(f"{os.getpid()} {child.pid}")
    marks.joinpath(f"{context.rank}.part").rename(marks / f"{context.rank}.ids")
    for step in range(6000):
        time.sleep(0.1)
        context.progress(step, 6000)
    return {"value": 1.0}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
