"""What a calculator says, for an experiment to be compared with."""

from __future__ import annotations

from typing import Any

from calculators import contract


def values(name: str, **inputs: Any) -> dict[str, Any]:
    """The `values` of a calculator at these inputs, the others at their defaults."""
    _, result = contract.evaluate(name, inputs)
    found: dict[str, Any] = result.values
    return found
