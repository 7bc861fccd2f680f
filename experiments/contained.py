"""Groups of processes that may hang or die, and what became of each of their ranks.

Each rank of such a group is a child process on this machine, over Gloo, with a collective timeout
of a few seconds. Whatever it does, it is gone when `endings` returns.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

NUM_RANKS = 2
PATIENCE = 60.0  # seconds until a child is killed that neither answers nor dies
EXITED = 3  # the status of a rank whose scenario ends its process
DEATHS = {-signal.SIGABRT: "aborted", EXITED: "exited"}
KINDS = {
    "Timed out": "timed_out",
    "Application timeout": "timed_out",
    "Detected mismatch between collectives": "refused",
    "onnection closed by peer": "lost_its_peer",
    "onnection reset by peer": "lost_its_peer",
    "Broken pipe": "lost_its_peer",
}
Scenario = Callable[[int, dist.Store], Any]


@dataclass(frozen=True)
class Trial:
    """A scenario, the seconds a collective may wait, and whether torch compares the calls."""

    scenario: Scenario
    limit: float
    is_detailed: bool = False


def endings(trial: Trial) -> dict[str, Any]:
    """Run a trial; RuntimeError when a rank ends in another way than those below.

    Returns:
        `endings`, one of `returned`, `timed_out`, `refused`, `lost_its_peer`, `aborted` (by
        SIGABRT) and `exited` for each rank, and `values`, what the ranks returned, else None. Where
        ranks wait for each other, the first to give up cuts the other's connection: which it is
        is chance, and both count as timed out.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([trial.scenario.__module__])
    with tempfile.TemporaryDirectory(prefix="contained-") as folder, ExitStack() as stack:
        children, pipes = [], []
        for rank in range(NUM_RANKS):
            near, far = context.Pipe()
            child = context.Process(target=_child, args=(trial, rank, folder, far), daemon=True)
            child.start()
            stack.callback(_end, child)
            stack.callback(near.close)
            far.close()
            children.append(child)
            pipes.append(near)
        answers = [_answer(*pair) for pair in zip(children, pipes, strict=True)]
    kinds = [kind for kind, _ in answers]
    if "timed_out" in kinds:
        kinds = ["timed_out" if kind == "lost_its_peer" else kind for kind in kinds]
    return {"endings": kinds, "values": [value for _, value in answers]}


def _answer(child: Any, pipe: Connection) -> tuple[str, Any]:
    """What a child said, or how it died without a word."""
    if not pipe.poll(PATIENCE):
        raise RuntimeError(f"a contained rank was silent for {PATIENCE:g} s")
    try:
        kind, value = pipe.recv()
    except (EOFError, ConnectionResetError):
        child.join()
        kind, value = DEATHS.get(child.exitcode, "unknown"), f"exit status {child.exitcode}"
    if kind == "unknown":
        raise RuntimeError(f"a contained rank failed: {value}")
    return kind, value if kind == "returned" else None


def _end(child: Any) -> None:
    child.kill()
    child.join()


def _child(trial: Trial, rank: int, folder: str, pipe: Connection) -> None:
    """One rank: run, answer, and stay until all have answered, so that nobody is cut off early."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an abort is a finding here, not a fault
    with Path(os.devnull).open("wb") as sink:
        os.dup2(sink.fileno(), 2)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    if trial.is_detailed:
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
        dist.set_debug_level_from_env()
    store = dist.FileStore(str(Path(folder) / "store"), NUM_RANKS)
    _meet(rank, store, "started")  # the limit is not for starting
    pipe.send(_outcome(trial.scenario, rank, store, timedelta(seconds=trial.limit)))
    pipe.poll(None)


def _meet(rank: int, store: dist.Store, stage: str) -> None:
    """Wait until every rank has come to a stage."""
    store.set(f"{stage}/{rank}", "")
    store.wait([f"{stage}/{other}" for other in range(NUM_RANKS)])


def _outcome(scenario: Scenario, rank: int, store: dist.Store, limit: timedelta) -> tuple[str, Any]:
    try:
        dist.init_process_group(
            "gloo",
            store=dist.PrefixStore("group", store),
            rank=rank,
            world_size=NUM_RANKS,
            timeout=limit,
        )
        _meet(rank, store, "connected")  # who dies at once must not cut off who still connects
        return "returned", scenario(rank, store)
    except RuntimeError as error:
        said = str(error)
        known = (kind for words, kind in KINDS.items() if words in said)
        return next(known, "unknown"), said.partition("\n")[0][:160]
