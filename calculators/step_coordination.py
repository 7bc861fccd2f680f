"""Loss scaling over several steps: what happens when the ranks do not agree to skip.

Step k: rank r holds the unscaled gradient g_kr, which may be non-finite after an overflow.
    agreed: any non-finite -> every rank skips, scale *= backoff_factor; otherwise every rank
            applies the mean over ranks, and growth_interval good steps multiply the scale
    local:  a rank with a non-finite value skips alone and backs off its own scale; the others
            apply the mean of the finite gradients and grow their own
gradients: (steps, ranks), 1 to 64 steps, 1 to 16 ranks. Parameters start at 0.
Source: torch.amp.GradScaler (found_inf, growth and back-off).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calculators import fields
from calculators.contract import Axis, Column, Mark, Message, Metric, Plot, Result, Table

INF = math.inf


@dataclass(frozen=True)
class Inputs:
    """ranks; gradients: steps x ranks, unscaled; the scaler's settings; decision."""

    ranks: int = fields.integer(2, minimum=1, maximum=16, slider=(1, 8))
    gradients: tuple[tuple[float, ...], ...] = fields.matrix(
        ((1.0, 1.0), (INF, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)),
        fields.real(-1e6, 1e6, specials=True),
        max_length=64,
        row_length="ranks",
    )
    initial_scale: float = fields.number(
        65536.0, minimum=1e-6, maximum=1e12, step=1, slider=(1, 131072), logarithmic=True
    )
    growth_factor: float = fields.number(2.0, minimum=1, maximum=100, slider=(1, 4))
    backoff_factor: float = fields.number(0.5, minimum=0.01, maximum=1, step=0.01, slider=(0.1, 1))
    growth_interval: int = fields.integer(3, minimum=1, maximum=10**6, slider=(1, 10))
    learning_rate: float = fields.number(0.1, minimum=0, maximum=1e3, step=0.01, slider=(0, 1))
    decision: str = fields.choice("agreed", ("agreed", "local"))


def compute(inputs: Inputs) -> Result:
    """Parameters and scales after every step, on every rank."""
    parameters, scales, updates = run(inputs)
    spread = [max(row) - min(row) for row in parameters]
    divergent = [k for k, gap in enumerate(spread[1:]) if gap > 0]
    values = {
        "parameters": parameters,
        "scales": scales,
        "updates_done": updates,
        "max_divergence": max(spread),
        "first_divergent_step": divergent[0] if divergent else None,
    }
    metrics = (
        Metric("max_divergence", values["max_divergence"], "implemented"),
        Metric("first_divergent_step", values["first_divergent_step"]),
        Metric("updates_done", updates),
    )
    notices = tuple(
        Message("overflow", {"step": k, "ranks": bad})
        for k, bad in enumerate(map(non_finite_ranks, inputs.gradients))
        if bad
    )
    verdict = _verdict(inputs, values, len(notices))
    return Result(values, verdict, notices[:8], metrics, (_table(values),), (_plot(values),))


def non_finite_ranks(row: tuple[float, ...]) -> list[int]:
    """The ranks whose gradient is not finite."""
    return [rank for rank, gradient in enumerate(row) if not math.isfinite(gradient)]


def run(inputs: Inputs) -> tuple[list[list[float]], list[list[float]], list[int]]:
    """Parameters (steps + 1, ranks), scales (steps + 1, ranks), updates per rank."""
    ranks = range(inputs.ranks)
    parameters, scales = [[0.0] * inputs.ranks], [[inputs.initial_scale] * inputs.ranks]
    good, updates = [0] * inputs.ranks, [0] * inputs.ranks
    for row in inputs.gradients:
        bad = set(non_finite_ranks(row))
        stopped = set(ranks) if bad and inputs.decision == "agreed" else bad
        finite = [g for rank, g in enumerate(row) if rank not in bad]
        mean = math.fsum(finite) / len(finite) if finite else 0.0
        theta, scale = list(parameters[-1]), list(scales[-1])
        for rank in ranks:
            if rank in stopped:
                scale[rank] *= inputs.backoff_factor
                good[rank] = 0
                continue
            theta[rank] -= inputs.learning_rate * mean
            updates[rank] += 1
            good[rank] += 1
            if good[rank] == inputs.growth_interval:
                scale[rank] *= inputs.growth_factor
                good[rank] = 0
        parameters.append(theta)
        scales.append(scale)
    return parameters, scales, updates


def _verdict(inputs: Inputs, values: dict[str, Any], overflows: int) -> Message:
    if values["first_divergent_step"] is not None:
        step, gap = values["first_divergent_step"], values["max_divergence"]
        return Message("diverged", {"step": step, "gap": gap})
    if not overflows:
        return Message("no_overflow")
    params = {"overflows": overflows, "updates": values["updates_done"][0]}
    return Message("agreed_skip" if inputs.decision == "agreed" else "lucky", params)


def _table(values: dict[str, Any]) -> Table:
    ranks = range(len(values["updates_done"]))
    columns = [Column("step")]
    columns += [Column("parameter", params={"rank": rank}) for rank in ranks]
    columns += [Column("scale", params={"rank": rank}) for rank in ranks]
    both = zip(values["parameters"], values["scales"], strict=True)
    rows = tuple((k, *theta, *scale) for k, (theta, scale) in enumerate(both))
    return Table("steps", tuple(columns), rows)


def _plot(values: dict[str, Any]) -> Plot:
    lowest = [(k, min(row)) for k, row in enumerate(values["parameters"])]
    highest = [(k, max(row)) for k, row in enumerate(values["parameters"])]
    marks = (Mark("step", "lowest", lowest, "accent"), Mark("step", "highest", highest, "neutral"))
    return Plot("parameters", marks, Axis(), Axis(), {"gap": values["max_divergence"]})
