"""A metric over ranks: the ratio of sums, and the mean of per-rank ratios that is logged instead.

    ratio_of_sums  = sum_r c_r / sum_r t_r
    mean_of_ratios = (1/P) sum_r c_r / t_r

c_r: correct answers (or any sum) on rank r, t_r: how many were counted; lists of 1 to 16 ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table


@dataclass(frozen=True)
class Inputs:
    """correct: c_r, a count or a sum; total: t_r, how many it was taken over."""

    correct: tuple[float, ...] = fields.vector(
        (1.0, 90.0), fields.real(-1e9, 1e9, step=1, slider=(0, 100))
    )
    total: tuple[int, ...] = fields.vector(
        (2, 100), fields.whole(0, 10**9, slider=(0, 100)), like="correct"
    )


def compute(inputs: Inputs) -> Result:
    """Both reductions and their difference (mean of ratios minus ratio of sums)."""
    total = sum(inputs.total)
    ratios = [c / t if t else None for c, t in zip(inputs.correct, inputs.total, strict=True)]
    known = [ratio for ratio in ratios if ratio is not None]
    ratio_of_sums = math.fsum(inputs.correct) / total if total else None
    mean_of_ratios = math.fsum(known) / len(known) if len(known) == len(ratios) else None
    both = ratio_of_sums is not None and mean_of_ratios is not None
    difference = mean_of_ratios - ratio_of_sums if both else None  # type: ignore[operator]
    values = {
        "ratio_of_sums": ratio_of_sums,
        "mean_of_ratios": mean_of_ratios,
        "difference": difference,
    }
    metrics = (
        Metric("ratio_of_sums", ratio_of_sums, "correct"),
        Metric("mean_of_ratios", mean_of_ratios, "implemented"),
        Metric("difference", difference),
    )
    shares = [t / total if total else None for t in inputs.total]
    table = Table(
        "ranks",
        (Column("rank"), Column("correct"), Column("total"), Column("ratio"),
         Column("share", "correct"), Column("equal_share", "implemented")),
        tuple(zip(range(len(ratios)), inputs.correct, inputs.total, ratios, shares,
                  [1 / len(ratios)] * len(ratios), strict=True)),
    )  # fmt: skip
    return Result(values, _verdict(values), _notices(inputs, total), metrics, (table,))


def _verdict(values: dict[str, float | None]) -> Message:
    difference = values["difference"]
    if values["ratio_of_sums"] is None:
        return Message("nothing_counted")
    if difference is None:
        return Message("empty_rank", values)
    if abs(difference) <= 1e-12 * max(1.0, abs(values["ratio_of_sums"])):
        return Message("same", values)
    return Message("higher" if difference > 0 else "lower", {**values, "size": abs(difference)})


def _notices(inputs: Inputs, total: int) -> tuple[Message, ...]:
    if not total:
        return (Message("nothing_counted"),)
    empty = [rank for rank, count in enumerate(inputs.total) if not count]
    return (Message("empty_rank_has_no_ratio", {"ranks": empty}),) if empty else ()
