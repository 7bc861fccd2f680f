"""Rank 1 ends its process without an output."""

from __future__ import annotations

import os
from typing import Any

import torch.distributed as dist

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Rank 1 ends its process without an output."""
    value = context.tensor(1.0)
    if context.rank == 1:
        os._exit(0)
    dist.all_reduce(value)
    return {"value": value.item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
