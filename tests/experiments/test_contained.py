"""Child processes that hang or die, and what is told of them."""

from __future__ import annotations

import os
import signal
import time

import pytest
import torch
import torch.distributed as dist

from experiments import contained
from experiments.contained import EXITED, Trial, endings


def adds(rank: int, _store: dist.Store) -> float:
    tensor = torch.tensor(float(rank + 1))
    dist.all_reduce(tensor)
    return float(tensor)


def waits(rank: int, store: dist.Store) -> float:
    return adds(rank, store) if rank == 1 else 0.0


def exits(rank: int, _store: dist.Store) -> None:
    if rank == 1:
        os._exit(EXITED)


def aborts(rank: int, _store: dist.Store) -> None:
    if rank == 0:
        os.abort()


def raises(rank: int, _store: dist.Store) -> None:
    if rank == 1:
        raise RuntimeError("of its own")


def breaks(rank: int, _store: dist.Store) -> None:
    if rank == 1:
        raise KeyError(rank)


def is_killed(rank: int, _store: dist.Store) -> None:
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def hangs(rank: int, _store: dist.Store) -> None:
    if rank == 1:
        signal.pause()


def test_ranks_that_return() -> None:
    assert endings(Trial(adds, 30.0)) == {
        "endings": ["returned", "returned"],
        "values": [3.0, 3.0],
    }


def test_a_rank_that_waits_is_timed_out() -> None:
    assert endings(Trial(waits, 1.0)) == {
        "endings": ["returned", "timed_out"],
        "values": [0.0, None],
    }


def test_a_death_is_told_by_its_kind() -> None:
    assert endings(Trial(exits, 30.0))["endings"] == ["returned", "exited"]
    assert endings(Trial(aborts, 30.0))["endings"] == ["aborted", "returned"]


@pytest.mark.parametrize(
    ("scenario", "said"),
    [(raises, "of its own"), (breaks, "exit status 1"), (is_killed, "exit status -9")],
)
def test_an_ending_of_another_kind_is_an_error(scenario: contained.Scenario, said: str) -> None:
    with pytest.raises(RuntimeError, match=f"a contained rank failed: {said}"):
        endings(Trial(scenario, 30.0))


def test_a_silent_rank_is_killed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contained, "PATIENCE", 3.0)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="silent for 3 s"):
        endings(Trial(hangs, 30.0))
    assert time.monotonic() - start < 20
