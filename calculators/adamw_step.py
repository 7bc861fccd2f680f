"""AdamW, one scalar parameter, one gradient after another.

    m <- b1 m + (1 - b1) g         m_hat = m / (1 - b1^t)
    v <- b2 v + (1 - b2) g^2       v_hat = v / (1 - b2^t)
    theta <- theta (1 - lr wd) - lr m_hat / (sqrt(v_hat) + eps)          variant adamw
    adam_l2: g + wd theta takes the place of g, and nothing is multiplied by (1 - lr wd)

t counts the updates made, this one included: t = t0 + 1 for the first. gradients: 1 to 64 values.
Sources: arXiv:1412.6980, arXiv:1711.05101; torch.optim.AdamW and Adam compute in the same order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from calculators import fields
from calculators.contract import Column, Mark, Message, Metric, Plot, Result, Table

VARIANTS = ("adamw", "adam_l2")


@dataclass(frozen=True)
class Inputs:
    """theta, m0, v0, t0: the state before the first of `gradients`."""

    theta: float = fields.number(1.0, minimum=-1e6, maximum=1e6, slider=(-3, 3))
    gradients: tuple[float, ...] = fields.vector(
        (0.5,), fields.real(-1e6, 1e6, slider=(-2, 2)), max_length=64
    )
    learning_rate: float = fields.number(
        6e-4, minimum=0, maximum=1e3, step=1e-4, slider=(1e-5, 0.5), logarithmic=True
    )
    beta1: float = fields.number(0.9, minimum=0, maximum=0.999999, step=0.01, slider=(0, 0.99))
    beta2: float = fields.number(0.95, minimum=0, maximum=0.999999, step=0.001, slider=(0, 0.999))
    epsilon: float = fields.number(
        1e-8, minimum=0, maximum=1e3, step=1e-8, slider=(1e-10, 1), logarithmic=True
    )
    weight_decay: float = fields.number(0.1, minimum=0, maximum=1e3, step=0.01, slider=(0, 1))
    m0: float = fields.number(0.0, minimum=-1e6, maximum=1e6, step=0.01, slider=(-1, 1))
    v0: float = fields.number(0.0, minimum=0, maximum=1e12, step=0.01, slider=(0, 1))
    t0: int = fields.integer(0, maximum=10**9, slider=(0, 100))
    variant: str = fields.choice("adamw", VARIANTS)


def compute(inputs: Inputs) -> Result:
    """All steps of the chosen variant, beside those of AdamW."""
    steps = run(inputs)
    reference = run(replace(inputs, variant="adamw"))
    last = steps[-1]
    values = {
        "steps": [{k: step[k] for k in ("t", "m", "v", "m_hat", "v_hat", "theta")}
                  for step in steps],
        "theta_next": last["theta"],
        "update_without_decay": last["update"],
    }  # fmt: skip
    metrics = (
        Metric("theta_adamw", reference[-1]["theta"], "correct", 8),
        Metric("theta_next", last["theta"], "implemented", 8),
        Metric("update_without_decay", last["update"]),
    )
    undefined = Message("zero_over_zero", {"t": steps[0]["t"]})
    notices = () if math.isfinite(last["theta"]) else (undefined,)
    verdict = _verdict(inputs, last, reference[-1])
    return Result(values, verdict, notices, metrics, (_table(steps),), _plots(inputs, steps))


def run(inputs: Inputs) -> list[dict[str, Any]]:
    """One mapping per gradient: t, g, m, v, m_hat, v_hat, update, theta after it."""
    theta, m, v = inputs.theta, inputs.m0, inputs.v0
    steps = []
    for i, gradient in enumerate(inputs.gradients):
        t = inputs.t0 + i + 1
        g = gradient + (inputs.weight_decay * theta if inputs.variant == "adam_l2" else 0.0)
        m = inputs.beta1 * m + (1 - inputs.beta1) * g
        v = inputs.beta2 * v + (1 - inputs.beta2) * g * g
        m_hat = m / (1 - inputs.beta1**t)
        v_hat = v / (1 - inputs.beta2**t)
        denominator = math.sqrt(v_hat) + inputs.epsilon
        update = inputs.learning_rate * m_hat / denominator if denominator else math.nan
        if inputs.variant == "adamw":
            theta *= 1 - inputs.learning_rate * inputs.weight_decay
        theta -= update
        steps.append({"t": t, "g": gradient, "m": m, "v": v, "m_hat": m_hat, "v_hat": v_hat,
                      "update": update, "theta": theta})  # fmt: skip
    return steps


def _verdict(inputs: Inputs, last: dict[str, Any], reference: dict[str, Any]) -> Message:
    if not math.isfinite(last["theta"]):
        return Message("undefined")
    if inputs.variant == "adam_l2" and last["theta"] != reference["theta"]:
        params = {"theta": last["theta"], "reference": reference["theta"]}
        return Message("decay_in_the_gradient", params)
    moved = last["theta"] - inputs.theta
    if inputs.gradients[-1] == 0 and last["update"] != 0:
        return Message("zero_gradient_still_moves", {"update": last["update"], "t": last["t"]})
    if all(g == 0 for g in inputs.gradients) and moved != 0:
        return Message("decay_alone", {"moved": moved})
    return Message("moved", {"moved": moved, "t": last["t"]})


def _table(steps: list[dict[str, Any]]) -> Table:
    keys = ("t", "g", "m", "v", "m_hat", "v_hat", "update", "theta")
    return Table(
        "steps",
        tuple(Column(key) for key in keys),
        tuple(tuple(_finite(step[key]) for key in keys) for step in steps),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plots(inputs: Inputs, steps: list[dict[str, Any]]) -> tuple[Plot, ...]:
    if len(steps) < 2:
        return ()
    start = (inputs.t0, inputs.theta)
    theta = [start, *((step["t"], step["theta"]) for step in steps)]
    means = [(step["t"], step["m_hat"]) for step in steps]
    roots = [(step["t"], math.sqrt(step["v_hat"])) for step in steps]
    moments = (Mark("line", "m_hat", means, "accent"), Mark("line", "root_v_hat", roots))
    count = {"steps": len(steps), "start": inputs.theta, "end": _finite(steps[-1]["theta"])}
    return (
        Plot("theta", (Mark("line", "theta", theta, "accent"),), alt=count),
        Plot("moments", moments, alt=count),
    )
