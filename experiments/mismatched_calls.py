"""Two ranks whose collectives do not match, each pair a scenario of experiments/contained.py."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

from experiments.contained import EXITED, Scenario

LENGTHS = (1, 1000)  # a scalar for the log, and a bucket of gradients


def _sum(value: float) -> float:
    tensor = torch.tensor([value])
    dist.all_reduce(tensor)
    return float(tensor)


def rank_stays_away(rank: int, _store: dist.Store) -> float:
    """Rank 1 lives and never calls the reduction."""
    return _sum(1.0) if rank == 0 else 0.0


def rank_dies(rank: int, store: dist.Store) -> float:
    """Rank 1 dies once both are connected, and never calls the reduction."""
    if rank == 1:
        store.wait(["connected"])
        os._exit(EXITED)
    store.set("connected", "")
    return _sum(1.0)


def other_reduce_op(rank: int, _store: dist.Store) -> list[float]:
    """Rank 0 takes the maximum of 3 and 4 where rank 1 adds them."""
    tensor = torch.full((4,), (3.0, 4.0)[rank])
    dist.all_reduce(tensor, op=(dist.ReduceOp.MAX, dist.ReduceOp.SUM)[rank])
    return [float(value) for value in tensor]


def swapped_step(rank: int, _store: dist.Store) -> list[float]:
    """A flag by MAX and squares by SUM; rank 1 calls them the other way round."""
    flag, squares = torch.zeros(()), torch.tensor((9.0, 16.0)[rank])
    calls = [(flag, dist.ReduceOp.MAX), (squares, dist.ReduceOp.SUM)]
    for tensor, op in calls if rank == 0 else calls[::-1]:
        dist.all_reduce(tensor, op=op)
    return [flag.item(), squares.item()]


def other_dtype(rank: int, _store: dist.Store) -> dict[str, list[str]]:
    """Ones in int64 meet ones in float64: the bits that a rank ends with, and how it reads them."""
    tensor = torch.ones(4, dtype=(torch.int64, torch.float64)[rank])
    dist.all_reduce(tensor)
    bits = [f"0x{value:016x}" for value in tensor.view(torch.int64).tolist()]
    return {"bits": bits, "read_as": [str(value) for value in tensor.tolist()]}


def other_length(rank: int, _store: dist.Store) -> float:
    """A scalar meets a bucket."""
    tensor = torch.ones(LENGTHS[rank])
    dist.all_reduce(tensor)
    return float(tensor.sum())


def other_collective(rank: int, _store: dist.Store) -> float:
    """Rank 0 reduces where rank 1 broadcasts."""
    if rank == 0:
        return _sum(1.0)
    tensor = torch.ones(1)
    dist.broadcast(tensor, src=1)
    return float(tensor)


WAITING: dict[str, Scenario] = {
    "rank_stays_away": rank_stays_away,
    "other_collective": other_collective,
}
ANSWERED: dict[str, Scenario] = {
    "rank_dies": rank_dies,
    "other_reduce_op": other_reduce_op,
    "swapped_step": swapped_step,
    "other_dtype": other_dtype,
    "other_length": other_length,
}
DETAILED = ("other_reduce_op", "swapped_step", "other_dtype", "other_length", "other_collective")
