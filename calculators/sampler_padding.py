"""What torch's DistributedSampler hands to each rank when the sizes do not divide (no shuffle).

    per_rank = ceil(D / P)              padded: the list 0..D-1 starts again until P * per_rank
    per_rank = ceil((D - P) / P)        drop_last and D not divisible: the tail is cut instead
    rank r reads indices r, r + P, r + 2P, ...

dataset_size D, world_size P; indices per rank (per_rank,). Source: torch.utils.data.distributed.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table

SHOWN_INDICES = 12


@dataclass(frozen=True)
class Inputs:
    """dataset_size: samples; batch_size: samples of one rank in one micro-batch."""

    dataset_size: int = fields.integer(10, minimum=1, maximum=4096, slider=(1, 64))
    world_size: int = fields.integer(4, minimum=1, maximum=64, slider=(1, 16))
    drop_last: bool = fields.flag(False)
    batch_size: int = fields.integer(1, minimum=1, maximum=4096, slider=(1, 16))


def compute(inputs: Inputs) -> Result:
    """Indices per rank, and how many samples were read twice or not at all."""
    indices = rank_indices(inputs.dataset_size, inputs.world_size, inputs.drop_last)
    effective = sum(map(len, indices))
    times = Counter(index for row in indices for index in row)
    distinct = len(times)
    per_rank = len(indices[0])
    values = {
        "indices": indices,
        "duplicated": effective - distinct,
        "dropped": inputs.dataset_size - distinct,
        "effective_size": effective,
        "batches_per_rank": math.ceil(per_rank / inputs.batch_size),
        "last_batch_size": (per_rank - 1) % inputs.batch_size + 1 if per_rank else 0,
    }
    metrics = (
        Metric("dataset_size", inputs.dataset_size, "correct"),
        Metric("effective_size", effective, "implemented"),
        Metric("duplicated", values["duplicated"]),
        Metric("dropped", values["dropped"]),
        Metric("batches_per_rank", values["batches_per_rank"]),
    )
    rows = tuple(
        (rank, len(row), _listed(row), sum(times[i] > 1 for i in row))
        for rank, row in enumerate(indices[:16])
    )
    columns = (Column("rank"), Column("length"), Column("indices"), Column("repeated"))
    return Result(values, _verdict(values), (), metrics, (Table("ranks", columns, rows),))


def rank_indices(dataset_size: int, world_size: int, drop_last: bool) -> list[list[int]]:
    """The sampler's list of indices for every rank: world_size lists of one length."""
    if drop_last and dataset_size % world_size:
        per_rank = math.ceil((dataset_size - world_size) / world_size)
    else:
        per_rank = math.ceil(dataset_size / world_size)
    order = [i % dataset_size for i in range(per_rank * world_size)]
    return [order[rank::world_size] for rank in range(world_size)]


def _listed(row: list[int]) -> str:
    shown = ", ".join(map(str, row[:SHOWN_INDICES]))
    return shown + (", …" if len(row) > SHOWN_INDICES else "") if row else "∅"


def _verdict(values: dict[str, object]) -> Message:
    if values["duplicated"]:
        return Message("padded", values)
    return Message("dropped" if values["dropped"] else "even", values)
