"""What the tests of single calculators share."""

from __future__ import annotations

from typing import Any

from calculators import contract


def values(name: str, **inputs: Any) -> dict[str, Any]:
    """The values of calculator `name`; inputs left out take their defaults."""
    return contract.evaluate(name, inputs)[1].values


def verdict(name: str, **inputs: Any) -> str:
    """The key of the verdict."""
    return contract.evaluate(name, inputs)[1].verdict.key


def notices(name: str, **inputs: Any) -> list[str]:
    """The codes of the notices."""
    return [notice.key for notice in contract.evaluate(name, inputs)[1].notices]
