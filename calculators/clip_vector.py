"""Clipping by global norm is a statement about the whole vector; element-wise clipping is another.

    global_clip(g) = g min(1, max_norm / |g|)          keeps the direction
    element_clip(g)_i = max(-max_norm, min(max_norm, g_i))

and the clip of a sum is not the sum of clips. gradient, second_gradient: (n,) vectors, n from 1 to
16; the second is what another micro-step or rank adds. Source: torch.nn.utils.clip_grad_norm_ and
clip_grad_value_, without the 1e-6 that torch adds to the norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Mark, Message, Metric, Plot, Result, Table


@dataclass(frozen=True)
class Inputs:
    """gradient, second_gradient: two contributions to one update; max_norm: the limit."""

    gradient: tuple[float, ...] = fields.vector((3.0, 4.0), fields.real(-1e6, 1e6, slider=(-8, 8)))
    second_gradient: tuple[float, ...] = fields.vector(
        (0.0, 0.0), fields.real(-1e6, 1e6, slider=(-8, 8)), like="gradient"
    )
    max_norm: float = fields.number(1.0, minimum=0, maximum=1e9, slider=(0, 10))


def compute(inputs: Inputs) -> Result:
    """Global and element-wise clips of the first gradient, and both orders of clip and sum."""
    g, h = np.array(inputs.gradient), np.array(inputs.second_gradient)
    whole, element = global_clip(g, inputs.max_norm), np.clip(g, -inputs.max_norm, inputs.max_norm)
    of_sum = global_clip(g + h, inputs.max_norm)
    of_each = whole + global_clip(h, inputs.max_norm)
    values = {
        "norm": float(np.linalg.norm(g)),
        "global_clip": whole,
        "element_clip": element,
        "angle_degrees": angle_degrees(whole, element),
        "clip_of_sum": of_sum,
        "sum_of_clips": of_each,
        "difference": float(np.linalg.norm(of_each - of_sum)),
    }
    metrics = (
        Metric("clip_of_sum", of_sum.tolist(), "correct"),
        Metric("sum_of_clips", of_each.tolist(), "implemented"),
        Metric("norm", values["norm"]),
        Metric("angle_degrees", values["angle_degrees"]),
    )
    undefined = Message("zero_vector_has_no_angle")
    notices = (undefined,) if values["angle_degrees"] is None else ()
    columns = ("element", "gradient", "global_clip", "element_clip", "second", "clip_of_sum",
               "sum_of_clips")  # fmt: skip
    roles = {"clip_of_sum": "correct", "sum_of_clips": "implemented"}
    rows = tuple(zip(range(g.size), *(x.tolist() for x in (g, whole, element, h, of_sum, of_each)),
                     strict=True))  # fmt: skip
    table = Table("elements", tuple(Column(c, roles.get(c, "neutral")) for c in columns), rows)
    return Result(
        values, _verdict(inputs, values), notices, metrics, (table,), _plots(values, g, h)
    )


def global_clip(g: Any, max_norm: float) -> Any:
    """g scaled to at most `max_norm`: (n,) -> (n,)."""
    norm = float(np.linalg.norm(g))
    return g * (1.0 if norm == 0 else min(1.0, max_norm / norm))


def angle_degrees(u: Any, v: Any) -> float | None:
    """Angle between two vectors, by atan2 of their normalised difference and sum (Kahan)."""
    a, b = float(np.linalg.norm(u)), float(np.linalg.norm(v))
    if a == 0 or b == 0:
        return None
    x, y = u / a, v / b
    return math.degrees(2 * math.atan2(np.linalg.norm(x - y), np.linalg.norm(x + y)))


def _verdict(inputs: Inputs, values: dict[str, Any]) -> Message:
    if not any(inputs.second_gradient):
        if values["norm"] <= inputs.max_norm:
            return Message("inside", values)
        return Message("one_vector", values)
    if values["difference"] <= 1e-12 * max(1.0, inputs.max_norm):
        return Message("orders_agree", values)
    return Message("orders_differ", values)


def _plots(values: dict[str, Any], g: Any, h: Any) -> tuple[Plot, ...]:
    if g.size != 2:
        return ()
    roles = {"element_clip": "accent", "clip_of_sum": "correct", "sum_of_clips": "implemented"}
    arrows = {"gradient": g, "second": h, **{key: values[key] for key in roles}}
    marks = tuple(
        Mark("line", key, [(0.0, 0.0), (float(v[0]), float(v[1]))], roles.get(key, "neutral"))
        for key, v in arrows.items()
        if np.any(v)
    )
    table = Table(
        "elements",
        (Column("element"), Column("clip_of_sum"), Column("sum_of_clips")),
        tuple(zip(range(2), values["clip_of_sum"].tolist(), values["sum_of_clips"].tolist(),
                  strict=True)),
    )  # fmt: skip
    return (Plot("vectors", marks, alt=values, table=table, height=300),) if marks else ()
