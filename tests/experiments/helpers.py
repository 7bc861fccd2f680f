"""What the tests of the experiments share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
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


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not status.parent.parent.exists()


def free_port() -> int:
    """A port that was free a moment ago."""
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port
