"""Global-norm clipping over shards and replicas: who counts which element.

Rank r holds its own shard s_r and, if there is one, a replica of parameter x, owned by rank 0. All
gradients arrive multiplied by the loss scale. After unscaling,

    norm^2 = sum_r sum(s_r^2) + x^2          (owned_once: every independent element once)
    local_shard_norm: rank r uses the norm of what it holds, sum(s_r^2) + x^2
    every_replica_counted: the sum over ranks of what each holds, so x^2 counts once per rank
    coefficient = min(1, max_norm / norm)    exactly, with no epsilon (torch adds 1e-6 to the norm)

scaled_gradients: one list per rank, 1 to 16 ranks. A non-finite value anywhere stops every rank.
Source: torch.nn.utils.clip_grad_norm_.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table

SCHEMES = ("owned_once", "local_shard_norm", "every_replica_counted")


@dataclass(frozen=True)
class Inputs:
    """scale: loss scale; scaled_gradients: per rank its shard, times the scale."""

    scale: float = fields.number(
        8.0, minimum=1e-6, maximum=1e9, step=1, slider=(1, 65536), logarithmic=True
    )
    scaled_gradients: tuple[tuple[float, ...], ...] = fields.matrix(
        ((24.0,), (32.0,)), fields.real(step=1, specials=True, slider=(-64, 64))
    )
    replicated_scaled_gradient: float | None = fields.number(
        None, step=1, nullable=True, specials=True
    )
    max_norm: float = fields.number(1.0, minimum=0, maximum=1e9, slider=(0, 20))
    initial_parameter: float = fields.number(1.0, minimum=-1e6, maximum=1e6, slider=(-5, 5))
    learning_rate: float = fields.number(0.1, minimum=0, maximum=1e3, step=0.01, slider=(0, 1))
    scheme: str = fields.choice("owned_once", SCHEMES)


def compute(inputs: Inputs) -> Result:
    """Norms, coefficients and the step on every rank."""
    held = [
        [value / inputs.scale for value in (*shard, *_replica(inputs))]
        for shard in inputs.scaled_gradients
    ]
    if not all(math.isfinite(value) for row in held for value in row):
        return _skipped(inputs, held)
    owned = owned_square_sums(inputs, held)
    global_norm = math.sqrt(math.fsum(owned))
    used = used_norms(inputs.scheme, held, global_norm)
    coefficients = [clip_coefficient(norm, inputs.max_norm) for norm in used]
    applied = [[c * g for g in row] for c, row in zip(coefficients, held, strict=True)]
    values = {
        "unscaled": held,
        "owned_square_sums": owned,
        "global_norm": global_norm,
        "used_norms": used,
        "coefficients": coefficients,
        "clipped_norm": math.sqrt(math.fsum(owned_square_sums(inputs, applied))),
        "decision": "update",
        "applied": applied,
        "parameters_next": [
            [inputs.initial_parameter - inputs.learning_rate * g for g in row] for row in applied
        ],
    }
    return _shown(values, _verdict(inputs, values), ())


def clip_coefficient(norm: float, max_norm: float) -> float:
    """min(1, max_norm / norm); a zero gradient needs no clipping."""
    return 1.0 if norm == 0 else min(1.0, max_norm / norm)


def _replica(inputs: Inputs) -> tuple[float, ...]:
    x = inputs.replicated_scaled_gradient
    return () if x is None else (x,)


def owned_square_sums(inputs: Inputs, held: list[list[float]]) -> list[float]:
    """Per rank, the squares of the elements it owns: its shard, and on rank 0 the replica."""
    replicas = len(_replica(inputs))
    return [
        math.fsum(g * g for g in (row if rank == 0 else row[: len(row) - replicas]))
        for rank, row in enumerate(held)
    ]


def used_norms(scheme: str, held: list[list[float]], global_norm: float) -> list[float]:
    """The norm that each rank divides by under `scheme`."""
    local = [math.fsum(g * g for g in row) for row in held]
    if scheme == "owned_once":
        return [global_norm] * len(held)
    if scheme == "local_shard_norm":
        return [math.sqrt(square) for square in local]
    return [math.sqrt(math.fsum(local))] * len(held)


def _skipped(inputs: Inputs, held: list[list[float]]) -> Result:
    keys = ("owned_square_sums", "global_norm", "used_norms", "coefficients", "clipped_norm",
            "applied")  # fmt: skip
    finite = [[g if math.isfinite(g) else None for g in row] for row in held]
    bad = [rank for rank, row in enumerate(finite) if None in row]
    values: dict[str, Any] = {
        "unscaled": finite,
        **dict.fromkeys(keys),
        "decision": "skip",
        "parameters_next": [[inputs.initial_parameter] * len(row) for row in held],
    }
    notices = (Message("non_finite_skips_every_rank", {"ranks": bad}),)
    return _shown(values, Message("skip"), notices)


def _verdict(inputs: Inputs, values: dict[str, Any]) -> Message:
    norm, used = values["global_norm"], values["used_norms"]
    right = clip_coefficient(norm, inputs.max_norm)
    if np.allclose(values["coefficients"], right, rtol=1e-12, atol=0):
        return Message("same_clipped" if right < 1 else "same_unclipped", {"norm": norm})
    if inputs.scheme == "local_shard_norm":
        params = {"clipped": values["clipped_norm"], "max_norm": inputs.max_norm}
        if len(set(values["coefficients"])) > 1:
            return Message("ranks_disagree", params)
        return Message("underestimated", params)
    params = {"used": used[0], "norm": norm, "factor": values["coefficients"][0] / right}
    return Message("overestimated", params)


def _shown(values: dict[str, Any], verdict: Message, notices: tuple[Message, ...]) -> Result:
    metrics = (
        Metric("global_norm", values["global_norm"], "correct"),
        Metric("used_norms", values["used_norms"], "implemented"),
        Metric("clipped_norm", values["clipped_norm"], "implemented"),
    )
    blank = [None] * len(values["unscaled"])
    columns = (
        range(len(blank)),
        [", ".join("—" if g is None else f"{g:.6g}" for g in row) for row in values["unscaled"]],
        values["owned_square_sums"] or blank,
        values["used_norms"] or blank,
        values["coefficients"] or blank,
        [", ".join(f"{g:.6g}" for g in row) for row in values["applied"]]
        if values["applied"]
        else blank,
        [", ".join(f"{p:.6g}" for p in row) for row in values["parameters_next"]],
    )
    table = Table(
        "ranks",
        (Column("rank"), Column("unscaled"), Column("owned", "correct"),
         Column("used", "implemented"), Column("coefficient", "implemented"), Column("applied"),
         Column("next")),
        tuple(zip(*columns, strict=True)),
    )  # fmt: skip
    return Result(values, verdict, notices, metrics, (table,))
