"""Both ranks keep a tensor of one name."""

from __future__ import annotations

from typing import Any

from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = ()


def run(context: Context) -> dict[str, Any]:
    """Both ranks keep a tensor of one name."""
    context.keep("weights", context.tensor([1.0]))
    return {"value": context.rank}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Whatever rank 0 found."""
    return outputs[0]
