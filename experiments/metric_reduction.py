"""Merging a metric over ranks: SUM of counts, and what a mean of ratios does to it.

Claim: accuracy is SUM(correct) / SUM(total); the mean of per-rank ratios weighs a rank of 2 samples
as much as a rank of 100, and has no value when a rank is empty. `ReduceOp.AVG` is recorded as this
backend treats it.

Result keys: cases `unequal` (1 of 2, 90 of 100), `equal` (20 of 50, 30 of 50), `empty_rank`
(0 of 0, 90 of 100): `correct`, `total` (per rank), `ratio_of_sums`, `mean_of_ratios` ("nan" with an
empty rank), `difference`. `loss_mean` (per-rank mean losses over 4 and 8 valid tokens):
`loss_means`, `valid_tokens`, `merged`, `mean_of_means`. `reduce_op_avg.<dtype>` for `float64`,
`float32`, `bfloat16`, `int64`: `is_supported`, `value` (of the ranks' 1 and 2; null when refused),
`reason` (what torch said, else null). `calculator.<case>`: `ratio_of_sums`, `mean_of_ratios`,
`difference` from calculators/metric_reduction.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from experiments.calculated import values
from experiments.claims import allclose, bitwise_equal, constant, differs_by_at_least
from experiments.harness import Context, Settings

CASES = {
    "unequal": {"correct": [1, 90], "total": [2, 100]},
    "equal": {"correct": [20, 30], "total": [50, 50]},
    "empty_rank": {"correct": [0, 90], "total": [0, 100]},
}
QUANTITIES = ("ratio_of_sums", "mean_of_ratios", "difference")
DTYPES = ("float64", "float32", "bfloat16", "int64")

SETTINGS = Settings(
    config={"cases": CASES, "loss_means": [1.5, 3.0], "valid_tokens": [4, 8]},
    calculators=("metric_reduction",),
    tolerances={"results": {"rtol": 1e-12, "atol": 1e-14}},
    quick=True,
)

CLAIMS = (
    *(
        allclose(f"{c}_{key}_is_the_calculator's", f"{c}.{key}", f"calculator.{c}.{key}", 1e-14)
        for c in CASES
        for key in QUANTITIES
    ),
    differs_by_at_least(
        "mean_of_ratios_is_another_number", "unequal.mean_of_ratios", "unequal.ratio_of_sums", 0.1
    ),
    allclose("equal_totals_agree", "equal.mean_of_ratios", "equal.ratio_of_sums", 1e-14),
    bitwise_equal("empty_rank_has_no_ratio", "empty_rank.mean_of_ratios", constant("nan")),
    allclose("losses_merge_by_tokens", "loss_mean.merged", 2.5, 1e-14),
    *(
        bitwise_equal(f"avg_of_{d}_is_accepted", f"reduce_op_avg.{d}.is_supported", True,
                      observation=True)
        for d in DTYPES[:3]
    ),
    bitwise_equal("avg_of_int64_is_refused", "reduce_op_avg.int64.is_supported", False,
                  observation=True),
)  # fmt: skip


def total_of(value: Any, context: Context) -> float:
    """SUM over ranks."""
    tensor = context.tensor(value)
    dist.all_reduce(tensor, op=dist.ReduceOp.SUM)
    return float(tensor.item())


def metric(case: dict[str, list[int]], context: Context) -> dict[str, float]:
    """Both reductions of one case, each through a collective."""
    correct = context.tensor(float(case["correct"][context.rank]))
    total = context.tensor(float(case["total"][context.rank]))
    ratio = correct / total  # 0 / 0 is nan, as in a logging line that does not look
    ratio_of_sums = total_of(correct.item(), context) / total_of(total.item(), context)
    mean_of_ratios = total_of(ratio.item(), context) / context.world_size
    return {
        "ratio_of_sums": ratio_of_sums,
        "mean_of_ratios": mean_of_ratios,
        "difference": mean_of_ratios - ratio_of_sums,
    }


def merged_loss(context: Context) -> dict[str, float]:
    """Two per-rank mean losses over 4 and 8 valid tokens."""
    mean = context.config["loss_means"][context.rank]
    count = context.config["valid_tokens"][context.rank]
    return {
        "merged": total_of(mean * count, context) / total_of(count, context),
        "mean_of_means": total_of(mean, context) / context.world_size,
    }


def try_average(dtype: str, context: Context) -> dict[str, Any]:
    """`ReduceOp.AVG` of rank + 1, or what the backend says to it.

    In a group of its own: a later collective of the same group may raise a refusal once more.
    """
    group = dist.new_group()
    tensor = torch.tensor(context.rank + 1, dtype=getattr(torch, dtype), device=context.device)
    try:
        dist.all_reduce(tensor, op=dist.ReduceOp.AVG, group=group)
    except (RuntimeError, ValueError, NotImplementedError) as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:160]
        return {"is_supported": False, "value": None, "reason": reason}
    return {"is_supported": True, "value": float(tensor.item()), "reason": None}


def run(context: Context) -> dict[str, Any]:
    """Every case, the merged loss, and AVG in four dtypes."""
    cases = context.config["cases"]
    return {
        **{name: metric(case, context) for name, case in cases.items()},
        "loss_mean": merged_loss(context),
        "reduce_op_avg": {dtype: try_average(dtype, context) for dtype in DTYPES},
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's values beside their inputs and the calculator's."""
    first, config = outputs[0], SETTINGS.config
    calculator = {case: values("metric_reduction", **inputs) for case, inputs in CASES.items()}
    return {
        **{case: {**inputs, **first[case]} for case, inputs in CASES.items()},
        "loss_mean": {
            "loss_means": config["loss_means"],
            "valid_tokens": config["valid_tokens"],
            **first["loss_mean"],
        },
        "reduce_op_avg": first["reduce_op_avg"],
        "calculator": {
            case: {key: found[key] for key in QUANTITIES} for case, found in calculator.items()
        },
    }
