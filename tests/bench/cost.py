"""What a command costs: time on the clock, processor time of all it starts, memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock, seconds of processors, and the largest process in MB."""

    wall: float
    cpu: float
    memory: float


class FailedError(Exception):
    """A command that did not do what was measured; the message is its last line."""


def of(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command and measure it. Raises `FailedError`."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        last = [line for line in said.splitlines() if line.strip()][-1:] or ["no output"]
        raise FailedError(f"{Path(command[0]).name}: exit status {process.returncode}: {last[0]}")
    wall = time.perf_counter() - started
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def best(costs: Sequence[Cost]) -> Cost:
    """The cheapest of several runs of the same work: what others disturbed least."""
    return min(costs, key=lambda cost: cost.wall)
