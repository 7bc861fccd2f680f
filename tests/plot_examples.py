"""Plots of every kind, for the tests that draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]
STEPS = 19_073


def rate(index: int) -> float:
    if index < 715:
        return 6e-4 * (index + 1) / 715
    share = (index - 715) / (STEPS - 715)
    return 6e-5 + 0.5 * (1 + math.cos(math.pi * share)) * 5.4e-4


def line(role: str, points: Sequence[Sequence[Any]], label: str = "", kind: str = "line") -> Spec:
    return {"type": kind, "role": role, "label": label or role, "points": points}


def spec(*marks: Spec, x: Spec | None = None, y: Spec | None = None, key: str = "plot") -> Spec:
    return {"key": key, "x": x or {}, "y": y or {}, "marks": list(marks)}


SCHEDULE = spec(
    line("correct", [[index, rate(index)] for index in range(STEPS)], "as stated"),
    line("implemented", [[index, 0.8 * rate(index)] for index in range(STEPS)], "as set"),
    line("accent", [[5000, 5e-4]], "this update", "dot"),
    x={"label": "update index i"},
    y={"label": "learning rate", "domain": [0, 6.3e-4]},
    key="schedule",
)
BARS = spec(
    line("correct", [["w < 1", 1], ["b & c", -0.5], ['"q"', 2]], "correct", "bar"),
    line("implemented", [["w < 1", 0.5], ["b & c", 2.5], ['"q"', 1]], "implemented", "bar"),
    x={"label": "梯度", "type": "band"},
)
LOGARITHMS = spec(
    line("correct", [[1, 1e-16], [10, 1e-15], [1e4, 1e-12]]),
    line("implemented", [[1, 1e-7], [10, 1e-6], [1e4, 0]]),
    x={"label": "n", "type": "log"},
    y={"label": "error", "type": "log"},
)
MIXED = spec(
    line("accent", [[0, 1], [1, 0.8], [2, 0.7]], "lowest", "step"),
    line("neutral", [[0, 1], [1, 0.9], [2, 0.9]], "highest", "step"),
    line("neutral", [[None, 0.75]], "limit", "rule"),
    line("correct", [[1, 0.5, "here"]], "note", "text"),
    line("correct", [[0, 0.2], [2, 0.3]], "band", "area"),
)
EMPTY = spec()
EXAMPLES = [SCHEDULE, BARS, LOGARITHMS, MIXED, EMPTY]
