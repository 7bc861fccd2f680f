"""Two ranks add their numbers; everything holds."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

SETTINGS = Settings(
    config={"step": 0.5},
    world_sizes=(2, 3),
    files=("tests/experiments/failing/__init__.py",),
    quick=True,
)
CLAIMS = (
    allclose("sum_is_right", "sum.value", 1.5, 1e-15),
    differs_by_at_least("mean_is_not_the_sum", "sum.mean", "sum.value", 0.5),
    bitwise_equal("torch_surprises", "sum.ranks_agree", False, observation=True),
)


def run(context: Context) -> dict[str, Any]:
    """0.5 on rank 0, 1.0 on rank 1, summed."""
    value = context.tensor((context.rank + 1) * context.config["step"])
    dist.all_reduce(value)
    context.progress(1, 1, "summed")
    if context.rank == 0:
        context.keep("value", value)
        context.keep("bits", torch.arange(3))
    return {"value": value.item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum, the mean, and whether both ranks hold it."""
    value = outputs[0]["value"]
    agree = all(output["value"] == value for output in outputs)
    return {"sum": {"value": value, "mean": value / len(outputs), "ranks_agree": agree}}
