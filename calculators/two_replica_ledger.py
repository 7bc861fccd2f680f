"""Replicas with unequal token counts: what each loss scaling hands to the optimizer.

Per-token loss on replica r: 1/2 (theta - t_r)^2, so each of its n_r valid tokens has the gradient
g_r = theta - t_r and the replica's gradient sum is G_r = n_r g_r. N = sum_r n_r; P replicas:

    token mean            g = sum_r G_r / N
    mean_of_local_means   (1/P) sum_r G_r / n_r
    global_tokens         (1/P) sum_r (P/N) G_r                        = g
    missing_world_size    (1/P) sum_r G_r / N                          = g / P
    sum_collective        sum_r G_r / N                                = g
    divided_again_...     (1/P) sum_r (P/N) G_r / accumulation_steps   = g / accumulation_steps

counts, targets: (P,) lists, P from 1 to 16. All numbers are dimensionless. Source: the averaging of
torch.nn.parallel.DistributedDataParallel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table

SCHEMES = (
    "mean_of_local_means",
    "global_tokens",
    "missing_world_size",
    "sum_collective",
    "divided_again_by_accumulation",
)


@dataclass(frozen=True)
class Inputs:
    """counts: valid tokens n_r; targets: t_r; theta: the parameter before the step."""

    counts: tuple[int, ...] = fields.vector((2, 8), fields.whole(0, 10**9, slider=(0, 32)))
    targets: tuple[float, ...] = fields.vector(
        (2.0, -1.0), fields.real(-1e6, 1e6, slider=(-5, 5)), like="counts"
    )
    theta: float = fields.number(0.0, minimum=-1e6, maximum=1e6, slider=(-5, 5))
    learning_rate: float = fields.number(0.1, minimum=0, maximum=1e3, step=0.01, slider=(0, 1))
    scheme: str = fields.choice("mean_of_local_means", SCHEMES)
    accumulation_steps: int = fields.integer(2, minimum=1, maximum=1024, slider=(1, 16))


def compute(inputs: Inputs) -> Result:
    """Both updates, the correct and the implemented one."""
    n = np.array(inputs.counts, dtype=float)
    g = inputs.theta - np.array(inputs.targets, dtype=float)
    total = int(sum(inputs.counts))
    if total == 0:
        return _without_tokens(inputs, g)
    correct = float((n * g).sum() / total)
    share = implemented_shares(inputs, n, total)
    implemented = None if share is None else float((share * g).sum())
    values = {
        "total_count": total,
        "token_gradients": g,
        "gradient_sums": n * g,
        "weights": n / total,
        "correct_gradient": correct,
        "implemented_gradient": implemented,
        "theta_after_correct": inputs.theta - inputs.learning_rate * correct,
        "theta_after_implemented": None
        if implemented is None
        else inputs.theta - inputs.learning_rate * implemented,
        "direction_reversed": None if implemented is None else correct * implemented < 0,
    }
    notices: tuple[Message, ...] = ()
    if share is None:
        empty = [r for r, count in enumerate(inputs.counts) if count == 0]
        notices = (Message("empty_replica_has_no_mean", {"replicas": empty}),)
    verdict = _verdict(n, share, total, correct, implemented)
    return _shown(inputs, values, share, verdict, notices)


def implemented_shares(inputs: Inputs, n: Any, total: int) -> Any:
    """(P,) weight of each replica's token gradient in the update; None if a mean is undefined."""
    world_size = n.size
    if inputs.scheme == "mean_of_local_means":
        return np.full(world_size, 1 / world_size) if np.all(n > 0) else None
    divisor = {
        "global_tokens": 1.0,
        "missing_world_size": float(world_size),
        "sum_collective": 1.0,
        "divided_again_by_accumulation": float(inputs.accumulation_steps),
    }[inputs.scheme]
    return n / total / divisor


def _without_tokens(inputs: Inputs, g: Any) -> Result:
    keys = ("gradient_sums", "weights", "correct_gradient", "implemented_gradient",
            "theta_after_correct", "theta_after_implemented", "direction_reversed")  # fmt: skip
    values = {"total_count": 0, "token_gradients": g, **dict.fromkeys(keys)}
    notices = (Message("no_valid_tokens_skip_update"),)
    return _shown(inputs, values, None, Message("no_tokens"), notices)


def _verdict(n: Any, share: Any, total: int, correct: float, implemented: float | None) -> Message:
    if implemented is None:
        return Message("empty_replica", {"correct": correct})
    both = {"correct": correct, "implemented": implemented}
    if correct * implemented < 0:
        return Message("reversed", both)
    used = n > 0
    ratios = share[used] / (n[used] / total)
    if np.allclose(share * total, n * ratios[0], rtol=1e-12, atol=0):
        if abs(ratios[0] - 1) < 1e-12:
            return Message("same", both)
        return Message("scaled", {"ratio": float(ratios[0]), "repair": float(1 / ratios[0])})
    return Message("both_zero") if correct == implemented == 0 else Message("different", both)


def _shown(
    inputs: Inputs, values: dict[str, Any], share: Any, verdict: Message, notices: Any
) -> Result:
    keys = ("correct_gradient", "implemented_gradient", "theta_after_correct",
            "theta_after_implemented")  # fmt: skip
    metrics = tuple(
        Metric(key, values[key], "correct" if "correct" in key else "implemented") for key in keys
    )
    world_size = len(inputs.counts)
    blank = [None] * world_size
    columns = (
        range(world_size),
        inputs.counts,
        np.asarray(values["token_gradients"]).tolist(),
        blank if values["gradient_sums"] is None else values["gradient_sums"].tolist(),
        blank if values["weights"] is None else values["weights"].tolist(),
        blank if share is None else share.tolist(),
    )
    table = Table(
        "replicas",
        (Column("replica"), Column("count"), Column("token_gradient"), Column("gradient_sum"),
         Column("weight", "correct"), Column("implemented_weight", "implemented")),
        tuple(zip(*columns, strict=True)),
    )  # fmt: skip
    return Result(values, verdict, notices, metrics, (table,))
