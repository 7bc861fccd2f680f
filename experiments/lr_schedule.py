"""Warm-up and cosine over all 19,073 updates: LambdaLR against the formula, at every index.

Claim: the rate that torch's optimizer uses at update i is calculators/lr_schedule's rate at i, to
rounding; the last executed index is total_steps - 1, whose rate is just above the floor; LambdaLR
stepped once more, or once per micro-step, gives other rates.

Result keys: `schedule`: `num_updates`, `first_lr`, `last_executed_index`, `lr_at_last_executed`,
`lr_after_last_step`, `index_of_max_error`, `max_abs_error`, `max_relative_error`,
`num_bitwise_equal`, `steps_at_peak`. `boundaries`: `index`, `torch`, `calculator` (lists: 0, W-1,
W, middle, S-1). `stepped_per_micro_step` (8 micro-steps): `lr_at_last_executed`,
`floor_reached_at_update`, `index_compared`, `lr_ratio` (to the right rate at that index).
`numerator_i`: `first_lr`.
The tensors file keeps `torch_lr`, `calculator_lr` and `abs_error` at every index.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from calculators import contract
from calculators.lr_schedule import learning_rates
from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

MICRO_STEPS = 8

SETTINGS = Settings(
    config={"max_lr": 6e-4, "min_ratio": 0.1, "warmup_steps": 715, "total_steps": 19073}
    | {"grad_accum_steps": MICRO_STEPS},
    calculators=("lr_schedule",),
    tolerances={
        "results": {"rtol": 1e-12, "atol": 1e-16},
        "results.schedule.max_abs_error": {"rtol": 0.0, "atol": 1e-17},
        "results.schedule.max_relative_error": {"rtol": 0.0, "atol": 1e-13},
        "results.schedule.index_of_max_error": {"bits_of_this_machine": True},
        "results.schedule.num_bitwise_equal": {"bits_of_this_machine": True},
        "tensors": {"rtol": 1e-12, "atol": 1e-17},
    },
)

CLAIMS = (
    allclose("every_index_agrees", "schedule.max_abs_error", 0.0, 1e-17),
    bitwise_equal("last_executed_index_is_S_minus_1", "schedule.last_executed_index", 19072),
    differs_by_at_least(
        "last_rate_is_above_the_floor", "schedule.lr_at_last_executed", 6e-5, 1e-12
    ),
    allclose("the_peak_is_reached_twice", "schedule.steps_at_peak", 2, 0.0),
    differs_by_at_least(
        "micro_step_schedule_is_too_fast", "stepped_per_micro_step.lr_ratio", 1.0, 0.1
    ),
    differs_by_at_least(
        "numerator_i_starts_at_zero", "numerator_i.first_lr", "schedule.first_lr", 1e-7
    ),
)


def factor(i: int, config: Any, first: int = 1) -> float:
    """The schedule as a factor on max_lr, as a LambdaLR function."""
    warmup, total, low = config["warmup_steps"], config["total_steps"], config["min_ratio"]
    if i < warmup:
        return float((i + first) / warmup)
    if i > total:
        return float(low)
    r = (i - warmup) / (total - warmup)
    return float(low + 0.5 * (1 + math.cos(math.pi * r)) * (1 - low))


def executed_rates(context: Context) -> tuple[list[float], float]:
    """The rate of every optimizer step, and the rate the scheduler holds after the last."""
    config = context.config
    weight = nn.Parameter(context.tensor([0.0]))
    weight.grad = context.tensor([0.0])
    optimizer = torch.optim.SGD([weight], lr=config["max_lr"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: factor(i, config))
    rates = []
    for done in range(config["total_steps"]):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        scheduler.step()
        context.progress(done + 1, config["total_steps"])
    return rates, float(optimizer.param_groups[0]["lr"])


def calculator_rates(config: Any, **changes: Any) -> Any:
    """calculators/lr_schedule at every executed index: (S,) floats."""
    inputs = contract.parse_inputs(contract.get("lr_schedule"), {**config, **changes})
    return learning_rates(inputs, np.arange(config["total_steps"]))


def run(context: Context) -> dict[str, Any]:
    """The executed rates and their distance to the calculator's at every index."""
    config = context.config
    rates, after = executed_rates(context)
    ours, theirs = np.array(rates), calculator_rates(config)
    errors = np.abs(ours - theirs)
    if context.rank == 0:
        for name, array in (("torch_lr", ours), ("calculator_lr", theirs), ("abs_error", errors)):
            context.keep(name, torch.from_numpy(array))
    total, warmup = config["total_steps"], config["warmup_steps"]
    marks = [0, warmup - 1, warmup, (warmup + total) // 2, total - 1]
    return {
        "schedule": {
            "num_updates": len(rates),
            "first_lr": rates[0],
            "last_executed_index": total - 1,
            "lr_at_last_executed": rates[-1],
            "lr_after_last_step": after,
            "index_of_max_error": int(errors.argmax()),
            "max_abs_error": float(errors.max()),
            "max_relative_error": float((errors / theirs).max()),
            "num_bitwise_equal": int((errors == 0).sum()),
            "steps_at_peak": int(np.isclose(ours, config["max_lr"], rtol=1e-12, atol=0).sum()),
        },
        "boundaries": {
            "index": marks,
            "torch": [rates[i] for i in marks],
            "calculator": [float(theirs[i]) for i in marks],
        },
        **variants(config, rates),
    }


def variants(config: Any, rates: list[float]) -> dict[str, Any]:
    """The scheduler stepped once per micro-step, and the warm-up that starts from zero."""
    steps, total = config["grad_accum_steps"], config["total_steps"]
    warmup = config["warmup_steps"]
    fast = [factor(i * steps, config) * config["max_lr"] for i in range(total)]
    floor = config["min_ratio"] * config["max_lr"]
    at_floor = (i for i, rate in enumerate(fast) if i * steps > warmup and rate <= floor)
    middle = total // 10
    return {
        "stepped_per_micro_step": {
            "lr_at_last_executed": fast[-1],
            "floor_reached_at_update": next(at_floor),
            "index_compared": middle,
            "lr_ratio": fast[middle] / rates[middle],
        },
        "numerator_i": {"first_lr": factor(0, config, first=0) * config["max_lr"]},
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings; that the other ranks found the same is in `ranks`."""
    return outputs[0]
