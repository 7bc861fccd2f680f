"""Rank 1 sleeps while rank 0 waits for it in a collective."""

from __future__ import annotations

import time
from typing import Any

import torch.distributed as dist

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Rank 1 sleeps while rank 0 waits for it in a collective."""
    value = context.tensor(1.0)
    if context.rank == 1:
        time.sleep(600)
    dist.all_reduce(value)
    return {"value": value.item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
