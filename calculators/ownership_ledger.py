"""Whose square is it: the global norm of a real layout of shards, replicas, experts and ties.

Every tensor gives, per rank, the square norm of the gradient that rank holds (null where absent),
all of them multiplied by loss_scale^2. Independent elements are counted once:

    shard, expert: every rank's entry (each rank holds other elements)
    replica:       one entry, that of the first rank that holds it
    tied_copy:     none (its elements are those of the tensor it is a copy of)

    norm = sqrt(sum of owned squares) / loss_scale,    coefficient = min(1, max_norm / norm)

`order` is the trainer's: a norm taken before `sync` is that of what one rank holds; one taken
before `unscale` is loss_scale times too large; a `clip` before the `norm` has no coefficient yet
and clips nothing. `count`: owned_once; local_only (a rank its own entries, unsummed); every_copy.
Source: torch.nn.utils.clip_grad_norm_ and the norms of sharded trainers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calculators import fields
from calculators.clip_ownership import clip_coefficient
from calculators.contract import Column, Message, Metric, Result, Table
from calculators.specs import ChoiceSpec, InputError, ListSpec, TextSpec

ORDER = ("sync", "unscale", "norm", "clip")
KINDS = ("shard", "replica", "expert", "tied_copy")
DEFAULT = (
    {"name": "block.weight", "kind": "shard", "of": None, "square_norms": (9.0, 16.0)},
    {"name": "norm.weight", "kind": "replica", "of": None, "square_norms": (144.0, 144.0)},
)
COLUMNS = {
    "name": TextSpec(),
    "kind": ChoiceSpec(KINDS),
    "of": TextSpec(nullable=True),
    "square_norms": ListSpec(fields.real(0, 1e24, nullable=True)),
}


@dataclass(frozen=True)
class Inputs:
    """ranks; tensors: name, kind, of, square_norms; max_norm; loss_scale; order; count."""

    ranks: int = fields.integer(2, minimum=1, maximum=16, slider=(1, 8))
    tensors: tuple[Mapping[str, Any], ...] = fields.table(
        DEFAULT, COLUMNS, optional={"of": None}, max_length=32, row_length="ranks"
    )
    max_norm: float = fields.number(1.0, minimum=0, maximum=1e9, slider=(0, 20))
    loss_scale: float = fields.number(
        1.0, minimum=1e-6, maximum=1e9, step=1, slider=(1, 65536), logarithmic=True
    )
    order: tuple[str, ...] = fields.choices(ORDER, ORDER, whole=True)
    count: str = fields.choice("every_copy", ("owned_once", "local_only", "every_copy"))

    def __post_init__(self) -> None:
        names = [tensor["name"] for tensor in self.tensors]
        for i, tensor in enumerate(self.tensors):
            others = {name for name in names if name != tensor["name"]}
            if tensor["kind"] == "tied_copy" and tensor["of"] not in others:
                raise InputError(
                    f"tensors[{i}].of", "no_such_tensor", came=repr(tensor["of"]),
                    options=tuple(names),
                )  # fmt: skip


def compute(inputs: Inputs) -> Result:
    """The norm that counts every independent element once, and what each rank used instead."""
    owned = owned_entries(inputs)
    correct_norm = _norm(inputs, owned, None) / inputs.loss_scale
    counted = counted_entries(inputs)
    before = inputs.order.index
    is_local = inputs.count == "local_only" or before("norm") < before("sync")
    divisor = 1.0 if before("norm") < before("unscale") else inputs.loss_scale
    used = [
        _norm(inputs, counted, rank if is_local else None) / divisor for rank in range(inputs.ranks)
    ]
    clips = before("norm") < before("clip")
    coefficients = [clip_coefficient(norm, inputs.max_norm) if clips else 1.0 for norm in used]
    values = {
        "correct_norm": correct_norm,
        "used_norm": used,
        "correct_coefficient": clip_coefficient(correct_norm, inputs.max_norm),
        "used_coefficient": coefficients,
        "counted": counted,
        "ranks_agree": all(math.isclose(c, coefficients[0], rel_tol=1e-12) for c in coefficients),
    }
    return _shown(inputs, values, owned, _notices(inputs, clips))


def owned_entries(inputs: Inputs) -> list[list[bool]]:
    """tensors x ranks: whether a rank's entry is counted when each element counts once."""
    grid = []
    for tensor in inputs.tensors:
        held = [value is not None for value in tensor["square_norms"]]
        first = held.index(True) if any(held) else -1
        grid.append(
            [
                present
                and tensor["kind"] != "tied_copy"
                and (tensor["kind"] != "replica" or rank == first)
                for rank, present in enumerate(held)
            ]
        )
    return grid


def counted_entries(inputs: Inputs) -> list[list[bool]]:
    """tensors x ranks: whether the trainer counts the entry (locally or in the sum)."""
    if inputs.count == "owned_once":
        return owned_entries(inputs)
    return [
        [value is not None and (inputs.count == "every_copy" or tensor["kind"] != "tied_copy")
         for value in tensor["square_norms"]]
        for tensor in inputs.tensors
    ]  # fmt: skip


def _norm(inputs: Inputs, entries: list[list[bool]], rank: int | None) -> float:
    """Root of the sum of the entries' squares, of one rank or of all."""
    return math.sqrt(
        math.fsum(
            value
            for tensor, row in zip(inputs.tensors, entries, strict=True)
            for r, (value, is_in) in enumerate(zip(tensor["square_norms"], row, strict=True))
            if is_in and (rank is None or rank == r)
        )
    )


def _notices(inputs: Inputs, clips: bool) -> tuple[Message, ...]:
    notices = []
    if not clips:
        notices.append(Message("clip_before_norm"))
    for tensor in inputs.tensors:
        held = {value for value in tensor["square_norms"] if value is not None}
        if tensor["kind"] == "replica" and len(held) > 1:
            notices.append(Message("replicas_differ", {"name": tensor["name"]}))
    return tuple(notices)


def _verdict(values: dict[str, Any]) -> Message:
    right, used = values["correct_coefficient"], values["used_coefficient"]
    params = {"correct": values["correct_norm"], "used": values["used_norm"][0]}
    if not values["ranks_agree"]:
        return Message("ranks_disagree", params)
    if math.isclose(used[0], right, rel_tol=1e-12):
        same_norm = all(math.isclose(u, params["correct"], rel_tol=1e-12)
                        for u in values["used_norm"])  # fmt: skip
        return Message("same" if same_norm else "same_coefficient", params)
    ratio = used[0] / right if right else 0.0
    return Message("too_small" if used[0] < right else "too_large", {**params, "ratio": ratio})


def _shown(
    inputs: Inputs, values: dict[str, Any], owned: list[list[bool]], notices: tuple[Message, ...]
) -> Result:
    metrics = (
        Metric("correct_norm", values["correct_norm"], "correct"),
        Metric("used_norm", values["used_norm"], "implemented"),
        Metric("correct_coefficient", values["correct_coefficient"], "correct"),
        Metric("used_coefficient", values["used_coefficient"], "implemented"),
    )
    rows = tuple(
        (tensor["name"], rank, tensor["square_norms"][rank], right[rank], used[rank])
        for tensor, right, used in zip(inputs.tensors, owned, values["counted"], strict=True)
        for rank in range(inputs.ranks)
    )
    columns = (Column("tensor"), Column("rank"), Column("square"), Column("owned", "correct"),
               Column("counted", "implemented"))  # fmt: skip
    tables = (Table("entries", columns, rows),)
    return Result(values, _verdict(values), notices, metrics, tables)
