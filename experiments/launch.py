"""The launcher: one process per rank on this machine, all of them ended whatever happens.

A rank that dies, ends without its output, or gives no sign of life for `timeout` seconds ends the
run. Each rank leads a
process group of its own, so that what it started ends with it; a launcher that is killed takes its
ranks along, because they watch the pipe it holds.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import torch.distributed as dist

from experiments.environment import loopback_variables
from experiments.errors import BadRequest, RunFailed
from experiments.harness import Job, Progress, take
from experiments.record import ROOT

POLL = 0.02  # seconds between two looks at the ranks
GRACE = 1.0  # seconds in which the deaths that follow from one death arrive
STARTUP = 60.0  # seconds until a rank's first sign of life, whatever the limit is
PORT_TRIES = 5


class Rank:
    """One rank's process, its log, and when it last gave a sign of life."""

    def __init__(self, job: Job, log: Path) -> None:
        self.number = job.rank
        self.log = log
        self.signs = 0
        self.seen = time.monotonic()
        with log.open("wb") as out:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                [sys.executable, "-m", "experiments.worker", job.to_json()],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=loopback_variables(),
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        """It has not ended."""
        return self.process.poll() is None

    def has_failed(self, store: dist.Store) -> bool:
        """It ended with an error, or without handing over its output."""
        code = self.process.poll()
        return code is not None and (code != 0 or not store.check([f"output/{self.number}"]))

    def is_silent(self, now: float, timeout: float) -> bool:
        """It runs, but its last sign of life is too long ago."""
        limit = timeout if self.signs else max(timeout, STARTUP)
        return self.is_running and now - self.seen > limit

    def stop(self) -> None:
        """Kill its process group and reap it; the group outlives a leader that already ended."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        pipe: IO[bytes] | None = self.process.stdin
        if pipe is not None:
            pipe.close()

    def how_it_ended(self) -> str:
        """`was killed by SIGKILL` or `exited with status 1`."""
        code = self.process.returncode
        if code == 0:
            return "ended without handing over its output"
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"exited with status {code}"


def open_store(port: int, timeout: float) -> dist.TCPStore:
    """The run's store on loopback; port 0 lets the system choose a free one."""
    for attempt in range(PORT_TRIES):
        try:
            return dist.TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
        except (dist.DistNetworkError, RuntimeError):
            if attempt < PORT_TRIES - 1:
                time.sleep(min(0.2, timeout))
    raise BadRequest(
        f"port {port} on 127.0.0.1 is taken (tried {PORT_TRIES} times); "
        "leave --port out to take a free one"
    )


@contextmanager
def _ranks(job: Job) -> Iterator[list[Rank]]:
    ranks: list[Rank] = []
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        try:
            for number in range(job.world_size):
                own = replace(job, rank=number, local_rank=number)
                ranks.append(Rank(own, Path(folder) / f"{number}.log"))
            yield ranks
        finally:
            for rank in ranks:
                rank.stop()


def launch(job: Job, progress: Progress, port: int = 0) -> list[bytes]:
    """Run every rank of a job on this machine.

    Args:
        job: rank and port of it are filled in here.
        progress: called with (done, total, label) as rank 0 reports.
        port: of the store; 0 takes a free one.

    Returns:
        What each rank handed over, in rank order.

    Raises:
        RunFailed: names the rank that died or hung; its detail is the traceback.
        BadRequest: the port is taken.
    """
    store = open_store(port, job.timeout)
    with _ranks(replace(job, port=store.port)) as ranks:
        _watch(ranks, store, job.timeout, progress)
        return [take(store, f"output/{rank.number}") for rank in ranks]


def _watch(ranks: list[Rank], store: dist.Store, timeout: float, progress: Progress) -> None:
    shown = b""
    while any(rank.is_running for rank in ranks):
        if any(rank.has_failed(store) for rank in ranks):
            raise _death(ranks, store)
        now = time.monotonic()
        for rank in ranks:
            signs = store.add(f"alive/{rank.number}", 0)
            if signs != rank.signs:
                rank.signs, rank.seen = signs, now
        silent = [rank for rank in ranks if rank.is_silent(now, timeout)]
        if silent:
            raise _hang(ranks, silent, timeout)
        if store.check(["progress"]) and (news := store.get("progress")) != shown:
            shown = news
            progress(*json.loads(news))
        time.sleep(POLL)
    if any(rank.has_failed(store) for rank in ranks):
        raise _death(ranks, store)


def _death(ranks: list[Rank], store: dist.Store) -> RunFailed:
    """The first death is the cause: a signal, or the first exception that was reported."""
    deadline = time.monotonic() + GRACE
    while any(rank.is_running for rank in ranks) and time.monotonic() < deadline:
        time.sleep(POLL)
    dead = [rank for rank in ranks if rank.has_failed(store)]
    told = {rank.number: _told(store, rank) for rank in dead}
    culprit = min(dead, key=lambda rank: told[rank.number].get("order", 0))
    story = told[culprit.number]
    what = f"failed: {story['error']}" if story else culprit.how_it_ended()
    detail = story.get("traceback") or _tail(culprit.log)
    who = f"rank {culprit.number} of {len(ranks)}"
    return RunFailed(
        f"{who} {what}; all ranks were stopped, nothing was written",
        f"rank {culprit.number}:\n{detail}" if detail else "",
    )


def _told(store: dist.Store, rank: Rank) -> dict[str, Any]:
    key = f"failure/{rank.number}"
    story: dict[str, Any] = json.loads(store.get(key)) if store.check([key]) else {}
    return story


def _tail(log: Path, size: int = 4000) -> str:
    return log.read_text("utf-8", errors="replace")[-size:].strip()


def _hang(ranks: list[Rank], silent: list[Rank], timeout: float) -> RunFailed:
    """Name the ranks that hang by themselves; the others only wait for them inside torch."""
    for rank in silent:
        rank.process.send_signal(signal.SIGUSR1)  # the worker prints its stack into its log
    time.sleep(0.3)
    stacks = {rank.number: _main_stack(_tail(rank.log, 20000)) for rank in silent}
    own = [number for number, stack in stacks.items() if not _waits_in_torch(stack)]
    named = own or list(stacks)
    who = ", ".join(map(str, named))
    waiting = [str(n) for n in stacks if n not in named]
    also = f" (rank {', '.join(waiting)} waited for it)" if waiting else ""
    detail = "\n".join(f"rank {number} is at:\n{stacks[number]}" for number in named)
    return RunFailed(
        f"rank {who} of {len(ranks)} gave no sign of life for {timeout:g} s{also}; all ranks were "
        "stopped, nothing was written; --timeout SECONDS allows more",
        detail,
    )


def _main_stack(log: str) -> str:
    blocks = re.split(r"(?m)^(?=(?:Current thread|Thread) 0x)", log)
    return next((b.strip() for b in reversed(blocks) if "run_rank" in b), blocks[-1].strip())


def _waits_in_torch(stack: str) -> bool:
    files = re.findall(r'File "([^"]+)"', stack)
    return bool(files) and f"{os.sep}torch{os.sep}" in files[0]
