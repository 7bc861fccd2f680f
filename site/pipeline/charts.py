"""Charts: lists of a record as the spec that the drawing module takes, and as a data table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calculators.numbers import format_number
from pipeline import expressions
from pipeline.holes import PlotHole
from pipeline.model import Record

MAX_ROWS = 25


def points(record: Record, hole: PlotHole, index: int) -> list[tuple[float, float]]:
    """The points of one series: a list of [x, y], or of y at every `step`.

    Raises `ExpressionError` for a path that holds no such list.
    """
    binding = hole.series[index]
    found = expressions.resolve(record.body, binding.path, binding.text)
    if isinstance(found, list) and found:
        rows = [
            row if isinstance(row, list) else [i * hole.step, row] for i, row in enumerate(found)
        ]
        if all(len(row) == 2 and all(map(_is_number, row)) for row in rows):
            return [(float(x), float(y)) for x, y in rows if hole.scale != "log" or y > 0]
    raise expressions.ExpressionError(
        "not a series",
        binding.text,
        "a series is a list of numbers, or of [x, y]",
        "bind such a list",
    )


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and math.isfinite(value)


def spec(record: Record, hole: PlotHole) -> dict[str, Any]:
    """The plot as data, in the form that calculators' plots have."""
    marks: list[Mapping[str, Any]] = []
    for i, (label, role) in enumerate(zip(hole.labels, hole.roles, strict=True)):
        pairs = [list(pair) for pair in points(record, hole, i)]
        marks.append({"type": hole.kind, "role": role, "label": label, "points": pairs})
    return {
        "key": hole.id,
        "title": hole.alt,
        "alt": hole.alt,
        "x": {"label": hole.x, "type": "linear"},
        "y": {"label": hole.y, "type": hole.scale},
        "height": 260,
        "marks": marks,
    }


def rows(record: Record, hole: PlotHole) -> list[list[str]]:
    """The data table: x and every series at it, at most `MAX_ROWS` rows spread evenly."""
    series = [dict(points(record, hole, i)) for i in range(len(hole.series))]
    xs = sorted({x for found in series for x in found})
    if len(xs) > MAX_ROWS:
        xs = [xs[round(i * (len(xs) - 1) / (MAX_ROWS - 1))] for i in range(MAX_ROWS)]
    return [[format_number(x), *(format_number(found.get(x)) for found in series)] for x in xs]
