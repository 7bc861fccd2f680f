"""Linear warm-up, then a half cosine down to a floor; the index is the one of the update made.

    eta(i) = max (i + 1) / W                                   i < W
    eta(i) = min + 1/2 (1 + cos(pi r)) (max - min)             W <= i <= S,  r = (i - W) / (S - W)
    eta(i) = min                                               i > S

W = warmup_steps, S = total_steps, min = min_ratio max. With numerator `i` the warm-up reads i / W.
Stepped per micro_step the schedule has been advanced grad_accum_steps times per update. Updates run
over i = 0 .. S - 1. With W = S there is no decay and eta(S) = min.
Source: the schedule used for nanoGPT-style training runs; torch.optim.lr_scheduler.LambdaLR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Axis, Column, Mark, Message, Metric, Plot, Result, Table
from calculators.plots import thin
from calculators.specs import InputError


@dataclass(frozen=True)
class Inputs:
    """max_lr: the peak; index: the update whose rate is asked for, counted from 0."""

    max_lr: float = fields.number(
        6e-4, minimum=0, maximum=1e3, step=1e-5, slider=(1e-5, 1), logarithmic=True
    )
    min_ratio: float = fields.number(0.1, minimum=0, maximum=1, step=0.01, slider=(0, 1))
    warmup_steps: int = fields.integer(715, maximum=10**6, slider=(0, 2000))
    total_steps: int = fields.integer(19073, minimum=1, maximum=10**6, slider=(1, 20000))
    index: int = fields.integer(0, maximum=10**7, slider=(0, 20000))
    numerator: str = fields.choice("i_plus_1", ("i_plus_1", "i"))
    stepped_per: str = fields.choice("update", ("update", "micro_step"))
    grad_accum_steps: int = fields.integer(8, minimum=1, maximum=1024, slider=(1, 16))

    def __post_init__(self) -> None:
        if self.warmup_steps > self.total_steps:
            raise InputError(
                "warmup_steps", "longer_than_run", came=self.warmup_steps, total=self.total_steps
            )


def compute(inputs: Inputs) -> Result:
    """The rate at `index`, at the boundaries, and the curve."""
    last, warmup, total = inputs.total_steps - 1, inputs.warmup_steps, inputs.total_steps
    marks = sorted({i for i in (0, warmup - 1, warmup, (warmup + total) // 2, last, total,
                                total + 1) if i >= 0})  # fmt: skip
    every = learning_rates(inputs, np.arange(total))
    right = replace(inputs, numerator="i_plus_1", stepped_per="update")
    every_right = every if right == inputs else learning_rates(right, np.arange(total))
    correct = float(learning_rates(right, np.array([inputs.index]))[0])
    rate = float(learning_rates(inputs, np.array([inputs.index]))[0])
    values = {
        "lr": rate,
        "last_executed_index": last,
        "lr_at_last_executed": float(every[-1]),
        "boundaries": [
            {"index": i, "lr": lr}
            for i, lr in zip(marks, learning_rates(inputs, np.array(marks)).tolist(), strict=True)
        ],
        "steps_at_peak": int(np.sum(np.abs(every - inputs.max_lr) <= 1e-12 * inputs.max_lr)),
    }
    metrics = (
        Metric("correct_lr", correct, "correct"),
        Metric("lr", rate, "implemented"),
        Metric("lr_at_last_executed", values["lr_at_last_executed"]),
        Metric("steps_at_peak", values["steps_at_peak"]),
    )
    verdict = _verdict(inputs, every, every_right)
    tables = (_table(values),)
    return Result(values, verdict, (), metrics, tables, (_plot(inputs, every, every_right),))


def learning_rates(inputs: Inputs, index: Any) -> Any:
    """eta at each update index: (n,) ints -> (n,) floats."""
    factor = inputs.grad_accum_steps if inputs.stepped_per == "micro_step" else 1
    i = np.asarray(index, dtype=float) * factor
    warmup, total = inputs.warmup_steps, inputs.total_steps
    low = inputs.min_ratio * inputs.max_lr
    first = 1 if inputs.numerator == "i_plus_1" else 0
    r = (i - warmup) / (total - warmup) if total > warmup else np.ones_like(i)
    decay = low + 0.5 * (1 + np.cos(math.pi * r)) * (inputs.max_lr - low)
    rates = np.where(i > total, low, decay)
    return np.where(i < warmup, inputs.max_lr * (i + first) / max(warmup, 1), rates)


def _verdict(inputs: Inputs, every: Any, right: Any) -> Message:
    if inputs.stepped_per == "micro_step" and inputs.grad_accum_steps > 1:
        end = math.ceil(inputs.total_steps / inputs.grad_accum_steps)
        return Message("too_fast", {"factor": inputs.grad_accum_steps, "end": end})
    if np.array_equal(every, right):
        return Message("as_stated", {"last": inputs.total_steps - 1, "lr": float(every[-1])})
    return Message("first_update_is_zero", {"lr": float(every[0]), "right": float(right[0])})


def _table(values: dict[str, Any]) -> Table:
    rows = tuple((mark["index"], mark["lr"]) for mark in values["boundaries"])
    return Table("boundaries", (Column("index"), Column("lr")), rows)


def _plot(inputs: Inputs, every: Any, right: Any) -> Plot:
    index = np.arange(inputs.total_steps)
    marks = []
    if inputs.numerator == "i" or inputs.stepped_per == "micro_step":
        marks.append(Mark("line", "correct", thin(index, right), "correct"))
    marks.append(Mark("line", "implemented", thin(index, every), "implemented"))
    rate = float(learning_rates(inputs, np.array([inputs.index]))[0])
    if inputs.index <= inputs.total_steps:
        marks.append(Mark("dot", "index", [(inputs.index, rate)], "accent"))
    alt = {"warmup": inputs.warmup_steps, "total": inputs.total_steps, "peak": inputs.max_lr,
           "floor": inputs.min_ratio * inputs.max_lr}  # fmt: skip
    top = inputs.max_lr * 1.05 or 1.0
    return Plot("curve", tuple(marks), Axis(), Axis("linear", (0.0, top)), alt)
