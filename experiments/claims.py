"""Claims: a relation between two values of one run, with both values kept.

    CLAIMS = (
        allclose("after_ddp_equals_one_process", "ddp.after", "single_process.gradient", 1e-14),
        differs_by_at_least("detached_loses_gradient", "detached.after", "ddp.after", 0.5),
    )

A side is a path into `results`, a number or boolean, or `constant(...)` of anything else. An
`observation` records what this torch does: it is kept whether or not it holds, every other claim
that does not hold fails the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.record import lookup


@dataclass(frozen=True)
class Constant:
    """A side that is a value itself, also where it is a string or a list."""

    value: Any


Side = str | float | Constant
constant = Constant


@dataclass(frozen=True)
class Claim:
    """`left` and `right` are paths into `results` or constants; `bounds` belong to `relation`."""

    name: str
    relation: str
    left: Side
    right: Side
    bounds: Mapping[str, float]
    observation: bool = False


def bitwise_equal(name: str, left: Side, right: Side, *, observation: bool = False) -> Claim:
    """Both sides are the same bits: numbers, lists, strings or booleans."""
    return Claim(name, "bitwise_equal", left, right, {}, observation)


def allclose(name: str, left: Side, right: Side, atol: float, rtol: float = 0.0) -> Claim:
    """Every element differs by at most `atol + rtol * |right|`."""
    return Claim(name, "allclose", left, right, {"rtol": rtol, "atol": atol})


def differs_by_at_least(name: str, left: Side, right: Side, at_least: float) -> Claim:
    """Some element differs by at least so much: the wrong path is wrong."""
    return Claim(name, "differs_by_at_least", left, right, {"at_least": at_least})


def numbers(value: Any) -> list[float]:
    """The numbers of a nested value in order, "nan" and "inf" among them; null is not a number."""
    if isinstance(value, Mapping):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list | tuple):
        return [number for item in value for number in numbers(item)]
    return [math.nan if value is None else float(value)]


def same_bits(left: Any, right: Any) -> bool:
    """Equality of JSON values that tells -0.0 from 0.0 and True from 1."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_bits(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_bits, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return float(left).hex() == float(right).hex()
    return bool(left == right)


def within(left: float, right: float, rtol: float, atol: float) -> bool:
    """|left - right| <= atol + rtol |right|; a non-finite number equals only itself."""
    if not (math.isfinite(left) and math.isfinite(right)):
        return left == right or (math.isnan(left) and math.isnan(right))
    return abs(left - right) <= atol + rtol * abs(right)


def distance(left: float, right: float) -> float:
    """|left - right|; infinite between a non-finite number and anything but itself."""
    if within(left, right, 0.0, 0.0):
        return 0.0
    return abs(left - right) if math.isfinite(left) and math.isfinite(right) else math.inf


def largest_difference(left: Any, right: Any) -> float:
    """The largest distance over two nested values of the same length."""
    pairs = zip(numbers(left), numbers(right), strict=True)
    return max((distance(a, b) for a, b in pairs), default=0.0)


def holds(relation: str, left: Any, right: Any, bounds: Mapping[str, float]) -> bool:
    """Whether a relation holds between two values."""
    if relation == "bitwise_equal":
        return same_bits(left, right)
    if relation == "allclose":
        pairs = zip(numbers(left), numbers(right), strict=True)
        return all(within(a, b, bounds["rtol"], bounds["atol"]) for a, b in pairs)
    if relation == "differs_by_at_least":
        return largest_difference(left, right) >= bounds["at_least"]
    raise ValueError(f"relation {relation!r} is unknown")


def _side(side: Side, results: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(side, str):
        return {"path": f"results.{side}", "value": lookup(results, side)}
    return {"value": side.value if isinstance(side, Constant) else side}


def evaluate(claims: Iterable[Claim], results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each claim as the record keeps it, with both values and `held`."""
    found = []
    for claim in claims:
        left, right = _side(claim.left, results), _side(claim.right, results)
        found.append(
            {
                "name": claim.name,
                "relation": claim.relation,
                **claim.bounds,
                "left": left,
                "right": right,
                "observation": claim.observation,
                "held": holds(claim.relation, left["value"], right["value"], claim.bounds),
            }
        )
    return found


def first_broken(evaluated: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first claim that does not hold and is no observation."""
    return next((c for c in evaluated if not c["held"] and not c["observation"]), None)
