"""Declare a calculator's inputs once; validation, JSON Schema, controls and the CLI derive from it.

A calculator writes a frozen dataclass whose fields are made by `number`, `integer`, `choice`,
`flag`, `vector`, `matrix`, `choices` or `table`; each puts its default and its spec into the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from calculators.specs import (
    REAL_LIMIT,
    ChoiceSpec,
    FlagSpec,
    InputError,
    ListSpec,
    NumberSpec,
    RowSpec,
    SubsetSpec,
    TextSpec,
)

__all__ = [
    "InputError",
    "TextSpec",
    "choice",
    "choices",
    "flag",
    "integer",
    "matrix",
    "number",
    "real",
    "table",
    "vector",
    "whole",
]


def _declare(default: Any, spec: Any) -> Any:
    return field(default=default, metadata={"spec": spec})


def number(
    default: float | None,
    *,
    minimum: float = -REAL_LIMIT,
    maximum: float = REAL_LIMIT,
    step: float = 0.1,
    **options: Any,
) -> Any:
    """A real number; options are those of `NumberSpec`."""
    return _declare(default, NumberSpec(minimum, maximum, step, **options))


def integer(
    default: int | None, *, minimum: int = 0, maximum: int = 10**9, step: int = 1, **options: Any
) -> Any:
    """A whole number; options are those of `NumberSpec`."""
    return _declare(default, NumberSpec(minimum, maximum, step, is_integer=True, **options))


def choice(default: str, options: Iterable[str]) -> Any:
    """One of `options`."""
    return _declare(default, ChoiceSpec(tuple(options)))


def flag(default: bool) -> Any:
    """A switch."""
    return _declare(default, FlagSpec())


def vector(default: tuple[Any, ...] | None, item: Any, **options: Any) -> Any:
    """A list of `item` (a spec); options are those of `ListSpec`."""
    return _declare(default, ListSpec(item, **options))


def matrix(
    default: tuple[tuple[Any, ...], ...] | None,
    item: Any,
    *,
    min_columns: int = 1,
    max_columns: int = 16,
    **options: Any,
) -> Any:
    """A list of rows of `item`; `ragged=False` asks for rows of one length."""
    return _declare(default, ListSpec(ListSpec(item, min_columns, max_columns), **options))


def choices(default: tuple[str, ...], options: Iterable[str], *, whole: bool = False) -> Any:
    """A subset of `options`, or with `whole` an order of all of them."""
    return _declare(default, SubsetSpec(tuple(options), whole))


def table(
    default: tuple[Mapping[str, Any], ...],
    columns: Mapping[str, Any],
    *,
    optional: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """A list of rows with named columns; `optional`: defaults of columns that may be left out."""
    return _declare(default, ListSpec(RowSpec(columns, optional or {}), **options))


def real(minimum: float = -REAL_LIMIT, maximum: float = REAL_LIMIT, **options: Any) -> NumberSpec:
    """The spec of a real item in a vector or matrix."""
    return NumberSpec(minimum, maximum, options.pop("step", 0.1), **options)


def whole(minimum: int = 0, maximum: int = 10**9, **options: Any) -> NumberSpec:
    """The spec of a whole item in a vector or matrix."""
    return NumberSpec(minimum, maximum, options.pop("step", 1), is_integer=True, **options)
