"""Every rank finishes, and a claim does not hold."""

from __future__ import annotations

from typing import Any

from experiments.claims import allclose
from experiments.harness import Context, Settings

SETTINGS = Settings()
CLAIMS = (allclose("half_is_one", "value", 1.0, 1e-3),)


def run(context: Context) -> dict[str, Any]:
    """A half."""
    return {"value": context.tensor(0.5).item()}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's half."""
    return outputs[0]
