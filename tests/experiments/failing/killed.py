"""Rank 1 is killed between two collectives."""

from __future__ import annotations

import os
import signal
from typing import Any

import torch.distributed as dist

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Rank 1 is killed between two collectives."""
    value = context.tensor(1.0)
    dist.all_reduce(value)
    if context.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(value)
    return {"value": value.item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
