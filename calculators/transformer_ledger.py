"""One update of a trained 298,176-parameter transformer, split as you say.

Four windows of held-out text; window i has n_i supervised labels at its end and the loss sum S_i
with gradient G_i (transformer_model.py). Every scheme is a weighted sum of the four, so it is told
by its coefficients c_i, g = sum_i c_i G_i, with N = sum_i n_i and P ranks:

    accumulation_by_tokens   c_i = 1 / N                            the whole batch
    ddp_tokens               c_i = (1/P) (P/N)                      the whole batch
    micro_step_means         c_i = 1 / (4 n_i)
    ddp_default              c_i = 1 / (P n_r), n_r the labels on the rank that holds window i

SGD starts fresh; AdamW continues from the recorded state of update 800 (t = 801). All distances
are Euclidean over the 298,176 parameters. Source: the records language_model, transformer_update.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields, transformer_data
from calculators.contract import Axis, Column, Mark, Message, Metric, Plot, Result, Table
from calculators.specs import InputError
from calculators.transformer_vectors import (
    adamw_update,
    angle_degrees,
    cosine,
    distance,
    next_tokens,
    norm,
    slices,
    tensor_gaps,
    window_gradient,
)

SCHEMES = ("accumulation_by_tokens", "micro_step_means", "ddp_default", "ddp_tokens")
DEALS = {
    "two_ranks": ((0, 1), (2, 3)),
    "two_ranks_interleaved": ((0, 2), (1, 3)),
    "one_rank": ((0, 1, 2, 3),),
    "four_ranks": ((0,), (1,), (2,), (3,)),
}
LENGTHS = (96, 96, 96, 40)
SHOWN_TOKENS, SHOWN_TENSORS = 6, 5


@dataclass(frozen=True)
class Inputs:
    """suffixes: supervised labels n_i; deal: which rank holds which windows; what to look at."""

    suffixes: tuple[int, ...] = fields.vector(
        (96, 8, 24, 40), fields.whole(0, 96, slider=(0, 96)), min_length=4, max_length=4
    )
    deal: str = fields.choice("two_ranks", DEALS)
    scheme: str = fields.choice("micro_step_means", SCHEMES)
    optimizer: str = fields.choice("sgd", ("sgd", "adamw"))
    sgd_learning_rate: float = fields.number(0.1, minimum=0, maximum=10, step=0.01, slider=(0, 1))
    adamw_learning_rate: float = fields.number(
        2e-3, minimum=0, maximum=1, step=1e-4, slider=(0, 0.02)
    )
    window: int = fields.integer(2, maximum=3, slider=(0, 3))
    position: int = fields.integer(80, maximum=95, slider=(0, 95))

    def __post_init__(self) -> None:
        for i, (suffix, length) in enumerate(zip(self.suffixes, LENGTHS, strict=True)):
            if suffix > length:
                raise InputError(f"suffixes[{i}]", "suffix_too_long", came=suffix, length=length)
        if self.position > (last := LENGTHS[self.window] - 1):
            raise InputError("position", "outside_window", came=self.position, length=last)


def missing_data(inputs: Inputs) -> list[str]:
    """Data files that these inputs need and this machine lacks."""
    return transformer_data.missing(with_state=inputs.optimizer == "adamw")


def compute(inputs: Inputs) -> Result:
    """Gradient and update of the scheme against those of the whole batch."""
    if (total := sum(inputs.suffixes)) == 0:
        return _nothing()
    coefficients = np.array(scheme_coefficients(inputs))
    right = np.full(4, 1 / total)
    sums = [window_gradient(i, suffix) for i, suffix in enumerate(inputs.suffixes)]
    losses, gradients = (np.array(column) for column in zip(*sums, strict=True))
    g, h = right @ gradients, coefficients @ gradients
    step, other = _update(inputs, g), _update(inputs, h)
    gaps = tensor_gaps(g, h)
    worst = sorted(gaps, key=lambda name: -gaps[name])[:SHOWN_TENSORS]
    values = {
        "global_valid_tokens": total,
        "correct_coefficients": right,
        "effective_coefficients": coefficients,
        "loss": float(right @ losses),
        "implemented_loss": float(coefficients @ losses),
        "grad_norm": norm(g),
        "implemented_grad_norm": norm(h),
        "tensor_norms": {name: norm(g[part]) for name, part in slices().items()},
        "cosine": cosine(g, h),
        "angle_degrees": angle_degrees(g, h),
        "relative_distance": distance(h, g),
        "max_abs_error": float(np.abs(h - g).max()),
        "update_cosine": cosine(step, other),
        "update_distance": norm(other - step),
        "update_relative_distance": distance(other, step) if norm(step) else None,
        "worst_tensors": [{"name": name, "relative_distance": gaps[name]} for name in worst],
        "next_tokens": next_tokens(inputs.window, inputs.position, step, other, SHOWN_TOKENS),
    }
    return _shown(inputs, values, gaps)


def scheme_coefficients(inputs: Inputs) -> list[float]:
    """What each window's gradient sum is multiplied by: (4,)."""
    n, ranks = inputs.suffixes, DEALS[inputs.deal]
    if inputs.scheme in ("accumulation_by_tokens", "ddp_tokens"):
        return [1 / sum(n)] * 4
    if inputs.scheme == "micro_step_means":
        return [1 / (4 * max(count, 1)) for count in n]
    own = {i: sum(n[j] for j in windows) for windows in ranks for i in windows}
    return [1 / (len(ranks) * max(own[i], 1)) for i in range(4)]


def _update(inputs: Inputs, g: Any) -> Any:
    is_sgd = inputs.optimizer == "sgd"
    return -inputs.sgd_learning_rate * g if is_sgd else adamw_update(g, inputs.adamw_learning_rate)


def _nothing() -> Result:
    keys = (
        "correct_coefficients effective_coefficients loss implemented_loss grad_norm "
        "implemented_grad_norm tensor_norms cosine angle_degrees relative_distance max_abs_error "
        "update_cosine update_distance update_relative_distance worst_tensors next_tokens"
    ).split()
    notices = (Message("no_valid_tokens_skip_update"),)
    return Result({"global_valid_tokens": 0, **dict.fromkeys(keys)}, Message("no_tokens"), notices)


def _verdict(values: dict[str, Any]) -> Message:
    if values["relative_distance"] == 0:
        return Message("same")
    if values["angle_degrees"] == 0:
        return Message("scaled", {"factor": values["implemented_grad_norm"] / values["grad_norm"]})
    percent = 100 * values["relative_distance"]
    return Message("turned", {"angle": values["angle_degrees"], "distance": percent})


def _shown(inputs: Inputs, values: dict[str, Any], gaps: dict[str, float]) -> Result:
    metrics = (
        Metric("grad_norm", values["grad_norm"], "correct"),
        Metric("implemented_grad_norm", values["implemented_grad_norm"], "implemented"),
        Metric("relative_distance", values["relative_distance"]),
        Metric("angle_degrees", values["angle_degrees"]),
        Metric("update_relative_distance", values["update_relative_distance"]),
    )
    holder = {i: rank for rank, own in enumerate(DEALS[inputs.deal]) for i in own}
    windows = Table(
        "windows",
        (Column("window"), Column("rank"), Column("suffix"), Column("right", "correct"),
         Column("used", "implemented")),
        tuple(zip(range(4), [holder[i] for i in range(4)], inputs.suffixes,
                  values["correct_coefficients"].tolist(),
                  values["effective_coefficients"].tolist(), strict=True)),
    )  # fmt: skip
    worst = Table(
        "worst",
        (Column("tensor"), Column("distance")),
        tuple((entry["name"], entry["relative_distance"]) for entry in values["worst_tensors"]),
    )
    tokens = Table(
        "tokens",
        (Column("token"), Column("before"), Column("after", "correct"),
         Column("after_implemented", "implemented")),
        tuple((_quoted(t), t["before"], t["correct"], t["implemented"])
              for t in values["next_tokens"]),
    )  # fmt: skip
    tables, plots = (windows, worst, tokens), _plots(values, gaps)
    return Result(values, _verdict(values), (), metrics, tables, plots)


def _quoted(entry: dict[str, Any]) -> str:
    return f"‘{entry['token']}’" + (" ←" if entry["is_actual"] else "")


def _plots(values: dict[str, Any], gaps: dict[str, float]) -> tuple[Plot, ...]:
    bars = Mark("bar", "distance", list(gaps.items()), "implemented")
    angle = math.radians(values["angle_degrees"])
    size = values["implemented_grad_norm"] / values["grad_norm"]
    tip = (size * math.cos(angle), size * math.sin(angle))
    arrows = (
        Mark("line", "right", [(0.0, 0.0), (1.0, 0.0)], "correct"),
        Mark("line", "used", [(0.0, 0.0), tip], "implemented"),
    )
    turn = {"angle": values["angle_degrees"], "size": size}
    distances = {"least": min(gaps.values()), "most": max(gaps.values())}
    return (
        Plot("angle", arrows, alt=turn, height=200),
        Plot("distances", (bars,), Axis("band"), alt=distances, height=320),
    )
