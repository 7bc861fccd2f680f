"""Rank 1 raises while rank 0 waits for it."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Rank 1 raises while rank 0 waits for it."""
    value = context.tensor(1.0)
    if context.rank == 1:
        raise ArithmeticError("the third batch is empty")
    dist.all_reduce(value)
    return {"value": value.item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
