"""Plots as data: thinned points, the JSON spec that the drawing module takes, the data table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from calculators.contract import Axis, Plot
from calculators.text import fill, lookup

TABLE_ROWS = 25


def thin(x: Any, y: Any, buckets: int = 320) -> list[tuple[float, float]]:
    """The points of a long line that a screen can show: each bucket's first, lowest and highest.

    x, y: (n,) finite arrays. Returns at most 3 * buckets + 1 points, the first and last among them.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.size <= 3 * buckets:
        return list(zip(x.tolist(), y.tolist(), strict=True))
    width = -(-x.size // buckets)
    starts = np.arange(0, x.size, width)
    # The last bucket is filled up with its last value, of which the first is found.
    pieces = np.pad(y, (0, starts.size * width - y.size), mode="edge").reshape(-1, width)
    found = (starts, starts + pieces.argmin(axis=1), starts + pieces.argmax(axis=1), [x.size - 1])
    index = np.unique(np.concatenate(found))
    return list(zip(x[index].tolist(), y[index].tolist(), strict=True))


def plot_spec(name: str, plot: Plot, language: str) -> dict[str, Any]:
    """The plot for the drawing module; points that are not finite are left out."""

    def label(*keys: str) -> str:
        return lookup(language, name, "plots", plot.key, *keys)

    marks = [
        {
            "type": mark.kind,
            "role": mark.role,
            "label": label("marks", mark.key),
            "points": [list(point) for point in mark.points if _is_drawable(point)],
        }
        for mark in plot.marks
    ]
    return {
        "key": plot.key,
        "title": label("title"),
        "alt": fill(label("alt"), plot.alt),
        "x": _axis(plot.x, label("x")),
        "y": _axis(plot.y, label("y")),
        "height": plot.height,
        "marks": marks,
    }


def _axis(axis: Axis, label: str) -> dict[str, Any]:
    body: dict[str, Any] = {"label": label, "type": axis.kind}
    if axis.domain is not None:
        body["domain"] = list(axis.domain)
    return body


def _is_drawable(point: Sequence[Any]) -> bool:
    return all(
        value is not None and (isinstance(value, str) or math.isfinite(value)) for value in point
    )


def data_table(name: str, plot: Plot, language: str) -> tuple[list[str], list[Sequence[Any]]]:
    """Column labels and rows of the plot's data, at most `TABLE_ROWS` x values spread evenly."""
    if plot.table is not None:
        keys = [column.key for column in plot.table.columns]
        labels = [lookup(language, name, "tables", plot.table.key, key) for key in keys]
        return labels, list(plot.table.rows)
    labels = [lookup(language, name, "plots", plot.key, "x")]
    labels += [lookup(language, name, "plots", plot.key, "marks", m.key) for m in plot.marks]
    series = [{x: y for x, y in mark.points if _is_drawable((x, y))} for mark in plot.marks]
    xs = list(dict.fromkeys(x for points in series for x in points))
    if len(xs) > TABLE_ROWS:
        xs = sorted(xs)
        xs = [xs[round(i * (len(xs) - 1) / (TABLE_ROWS - 1))] for i in range(TABLE_ROWS)]
    return labels, [[x, *(points.get(x) for points in series)] for x in xs]
