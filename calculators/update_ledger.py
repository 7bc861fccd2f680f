"""Any trainer's factors, cell by cell: R ranks x K micro-steps, ragged and empty cells allowed.

Cell (r, k) has n_rk valid tokens (or the sum W_rk of their weights) and the mean gradient m_rk, so
its gradient sum is S_rk = W_rk m_rk. The update is sum_rk c_rk S_rk, and

    token_mean  c_rk = 1 / sum W                       every token equal
    cell_mean   c_rk = 1 / (M W_rk)                    every one of the M non-empty cells equal
    implemented c_rk = (1 or 1/W_rk) x factors x (1/R or 1)     reduction, factors, collective

counts, gradient_means, weights: lists of 1 to 16 ranks of 1 to 16 micro-steps. grad_accum_steps is
the longest row. Source: the reductions of DistributedDataParallel and cross_entropy in torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calculators import fields
from calculators.coefficients import (
    Grid,
    correct_coefficients,
    effective_coefficients,
    is_defined,
    repair_factor,
    token_weights,
    update,
)
from calculators.contract import Column, Message, Metric, Result, Table

FACTORS = (
    "divide_by_grad_accum_steps", "divide_by_world_size", "multiply_by_world_size",
    "divide_by_global_valid_tokens", "divide_by_rank_valid_tokens",
    "multiply_by_micro_step_valid_tokens",
)  # fmt: skip
SCHEMES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "global_tokens": ("sum", (FACTORS[3], FACTORS[2]), "average"),
    "mean_of_micro_step_means": ("mean", (FACTORS[0],), "average"),
    "local_token_mean_then_average": ("sum", (FACTORS[4],), "average"),
    "divided_twice": ("sum", (FACTORS[3], FACTORS[2], FACTORS[0]), "average"),
    "missing_world_size": ("sum", (FACTORS[3],), "average"),
}


@dataclass(frozen=True)
class Inputs:
    """The cells, the objective, and the trainer: local reduction, factors, collective."""

    counts: tuple[tuple[int, ...], ...] = fields.matrix(((2, 3),), fields.whole(0, 10**9))
    gradient_means: tuple[tuple[float, ...], ...] = fields.matrix(
        ((1.0, 3.0),), fields.real(-1e6, 1e6), like="counts"
    )
    weights: tuple[tuple[float, ...], ...] | None = fields.matrix(
        None, fields.real(0, 1e9), like="counts", nullable=True
    )
    objective: str = fields.choice("token_mean", ("token_mean", "cell_mean"))
    scheme: str = fields.choice("custom", (*SCHEMES, "custom"))
    local_reduction: str = fields.choice("mean", ("sum", "mean"))
    factors: tuple[str, ...] = fields.choices(("divide_by_grad_accum_steps",), FACTORS)
    collective: str = fields.choice("average", ("average", "sum"))


def compute(inputs: Inputs) -> Result:
    """Every cell's coefficient against the right one, and the factor that repairs it, if any."""
    mass = [list(row) for row in (inputs.weights or inputs.counts)]
    total = math.fsum(w for row in mass for w in row)
    world_size, steps = len(mass), max(map(len, mass))
    values: dict[str, Any] = {
        "world_size": world_size,
        "grad_accum_steps": steps,
        "global_valid_tokens": sum(map(sum, inputs.counts)),
    }
    if total == 0:
        return _nothing(values, [[None for _ in row] for row in mass])
    correct = correct_coefficients(inputs.objective, mass, total)
    custom = (inputs.local_reduction, inputs.factors, inputs.collective)
    path = SCHEMES.get(inputs.scheme, custom)
    effective = effective_coefficients(mass, total, *path)
    back = world_size if path[2] == "average" else 1
    right = update(mass, inputs.gradient_means, correct)
    implemented = update(mass, inputs.gradient_means, effective) if is_defined(effective) else None
    values |= {
        "correct_coefficients": correct,
        "effective_coefficients": effective,
        "coefficients_on_mean": [
            [None if c is None else c * w * back for c, w in zip(*rows, strict=True)]
            for rows in zip(correct, mass, strict=True)
        ],
        "token_weights": token_weights(inputs.counts, mass, effective),
        "correct_gradient": right,
        "implemented_gradient": implemented,
        "relative_error": _relative_error(right, implemented),
        "repair_factor": repair_factor(mass, correct, effective),
    }
    undefined = [f"({r}, {k})" for r, row in enumerate(effective) for k, c in enumerate(row)
                 if c is None]  # fmt: skip
    notices = (Message("empty_mean", {"cells": ", ".join(undefined)}),) if undefined else ()
    return _shown(inputs, mass, values, path, notices)


def _relative_error(right: float, implemented: float | None) -> float | None:
    if implemented is None or (right == 0 and implemented != 0):
        return None
    return abs(implemented - right) / abs(right) if right else 0.0


def _nothing(values: dict[str, Any], cells: Grid) -> Result:
    keys = ("correct_coefficients", "effective_coefficients", "coefficients_on_mean",
            "token_weights", "correct_gradient", "implemented_gradient", "relative_error",
            "repair_factor")  # fmt: skip
    values |= dict.fromkeys(keys)
    notices = (Message("no_valid_tokens_skip_update"),)
    return Result(values, Message("no_tokens", {"cells": len(cells)}), notices, _metrics(values))


def _verdict(values: dict[str, Any]) -> Message:
    repair, implemented = values["repair_factor"], values["implemented_gradient"]
    both = {"correct": values["correct_gradient"], "implemented": implemented}
    if implemented is None:
        return Message("undefined", both)
    if repair == 1:
        return Message("same", both)
    if repair is not None:
        return Message("scaled", {"factor": 1 / repair, "repair": repair})
    weights = [w for row in values["token_weights"] or () for w in row if w is not None]
    ratio = max(weights) / min(weights) if weights and min(weights) > 0 else None
    if ratio is not None and ratio > 1 + 1e-9:
        return Message("unequal_tokens", {**both, "ratio": ratio})
    return Message("no_constant", both)


def _metrics(values: dict[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric("correct_gradient", values["correct_gradient"], "correct"),
        Metric("implemented_gradient", values["implemented_gradient"], "implemented"),
        Metric("relative_error", values["relative_error"]),
        Metric("repair_factor", values["repair_factor"]),
    )


def _shown(
    inputs: Inputs, mass: list[list[Any]], values: dict[str, Any], path: Any, notices: Any
) -> Result:
    reduction, factors, collective = path
    steps = [("reduction", Message(f"local_{reduction}"))]
    steps += [("factor", Message(factor)) for factor in factors]
    steps.append(("collective", Message(f"collective_{collective}")))
    path_table = Table(
        "path",
        (Column("stage"), Column("operation")),
        tuple((Message(stage), operation) for stage, operation in steps),
    )
    grids = (inputs.counts, mass, inputs.gradient_means, values["correct_coefficients"],
             values["effective_coefficients"], values["coefficients_on_mean"])  # fmt: skip
    shares = values["token_weights"] or [[None] * len(row) for row in mass]
    rows = tuple(
        (f"({r}, {k})", *(grid[r][k] for grid in grids), shares[r][k])
        for r, row in enumerate(mass)
        for k in range(len(row))
    )
    columns = (
        Column("cell"), Column("count"), Column("mass"), Column("mean"),
        Column("correct", "correct"), Column("effective", "implemented"), Column("on_mean"),
        Column("token_weight", "implemented"),
    )  # fmt: skip
    tables = (Table("cells", columns, rows), path_table)
    return Result(values, _verdict(values), notices, _metrics(values), tables)
