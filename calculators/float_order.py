"""The same numbers added in another order: other low bits, sometimes another number.

Orders: one after another; pairwise (halves, recursively); each rank its consecutive piece, then the
ranks' sums. Every addition rounds to `dtype`. exact: the correctly rounded sum in float64.
values: (n,), n from 1 to 64, rounded to `dtype` first. Source: IEEE 754; Python's math.fsum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table

DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16}


@dataclass(frozen=True)
class Inputs:
    """values: the terms; dtype: of every term and sum; ranks: pieces of the third order."""

    values: tuple[float, ...] = fields.vector(
        (1e16, 1.0, -1e16, 1.0), fields.real(-1e300, 1e300, step=1), max_length=64
    )
    dtype: str = fields.choice("float64", DTYPES)
    ranks: int = fields.integer(2, minimum=1, maximum=16, slider=(1, 8))


def compute(inputs: Inputs) -> Result:
    """The sum in three orders beside the exact one."""
    dtype = DTYPES[inputs.dtype]
    terms = np.array(inputs.values, dtype=np.float64).astype(dtype)
    pieces = np.array_split(terms, inputs.ranks)
    per_rank = np.array([sequential(piece, dtype) for piece in pieces], dtype=dtype)
    sums = {
        "sequential": float(sequential(terms, dtype)),
        "pairwise": float(pairwise(terms, dtype)),
        "per_rank_then_sum": float(sequential(per_rank, dtype)),
    }
    is_representable = bool(np.isfinite(terms).all())
    exact = _exact(terms) if is_representable else None
    known = exact is not None and all(math.isfinite(total) for total in sums.values())
    rounded = float(np.float64(exact).astype(dtype)) if exact is not None else None
    values: dict[str, Any] = {
        **{key: _finite(total) for key, total in sums.items()},
        "exact": exact,
        "all_equal": known and len({*sums.values(), rounded}) == 1,
    }
    notices = () if known else (Message("overflow", {"dtype": inputs.dtype}),)
    metrics = (
        Metric("exact", exact, "correct", 17),
        *(Metric(key, _finite(total), "implemented", 17) for key, total in sums.items()),
    )
    rows = tuple(
        (Message(key), _finite(total), _error(total, exact)) for key, total in sums.items()
    )
    columns = (Column("order"), Column("sum", "implemented"), Column("error"))
    table = Table("orders", columns, rows)
    return Result(values, _verdict(values, sums, exact), notices, metrics, (table,))


def sequential(terms: Any, dtype: Any) -> Any:
    """Left to right, every partial sum rounded to dtype."""
    total = dtype(0)
    for term in terms:
        total = dtype(total + term)
    return total


def pairwise(terms: Any, dtype: Any) -> Any:
    """The sum of the two halves' pairwise sums."""
    if terms.size <= 1:
        return dtype(terms[0]) if terms.size else dtype(0)
    middle = terms.size // 2
    return dtype(pairwise(terms[:middle], dtype) + pairwise(terms[middle:], dtype))


def _exact(terms: Any) -> float | None:
    try:
        return math.fsum(terms.tolist())
    except OverflowError:
        return None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _error(total: float, exact: float | None) -> float | None:
    return _finite(total - exact) if exact is not None else None


def _verdict(values: dict[str, Any], sums: dict[str, float], exact: float | None) -> Message:
    if exact is None or not all(math.isfinite(total) for total in sums.values()):
        return Message("overflow")
    if values["all_equal"]:
        return Message("all_equal", {"sum": exact})
    errors = {key: abs(total - exact) for key, total in sums.items()}
    worst = max(errors, key=lambda key: errors[key])
    return Message("orders_differ", {"error": errors[worst], "order": Message(worst), "sum": exact})
