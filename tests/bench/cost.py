"""What a command costs: time on the clock, processor time of all it starts, memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# A process begins with the memory of the one that started it, and the system counts that as its
# own: a small process stands between, so that a benchmark's memory is not taken for a builder's.
BETWEEN = """
import json, os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said = process.stdout.read().decode(errors="replace")
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - started
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), said, wall, cpu, usage.ru_maxrss / 1024]))
"""


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
    between = [sys.executable, "-S", "-E", "-c", BETWEEN, *command]
    done = subprocess.run(
        between, cwd=folder, env={**os.environ, **(environment or {})},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, said, wall, cpu, memory = json.loads(done.stdout)
    if status != 0:
        last = [line for line in said.splitlines() if line.strip()][-1:] or ["no output"]
        raise FailedError(f"{Path(command[0]).name}: exit status {status}: {last[0]}")
    return Cost(wall, cpu, memory)


def put_aside(path: Path) -> None:
    """Have `path` gone without deleting it: the folder of the benchmark is deleted as a whole.

    For minutes after many files were deleted ext4 takes long to create others beside them, and
    whoever builds next would pay for what was deleted for those before.
    """
    if path.exists():
        gone = path.with_name(".gone")
        gone.mkdir(exist_ok=True)
        path.rename(gone / f"{path.name}-{len(list(gone.iterdir()))}")


def best(costs: Sequence[Cost]) -> Cost:
    """The cheapest of several runs of the same work: what others disturbed least."""
    return min(costs, key=lambda cost: cost.wall)
