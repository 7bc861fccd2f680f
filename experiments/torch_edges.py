"""What torch does at its edges in one process: squares that overflow, state that is listed twice.

Observed: the norm of finite float32, float16 and bfloat16 gradients can be infinite, and
`clip_grad_norm_` then makes zeros of them; a bfloat16 norm has bfloat16's digits. A parameter
listed twice in one group is stepped twice, with a warning; in two groups it is refused. A
GradScaler refuses the second unscale of an update. A Python integer over an integer tensor has
torch's default type, float32. Gradient caching needs the random state of its first pass.

Result keys: `norm.<dtype>_<case>`: `gradients`, `norm`, `norm_dtype`, `clipped`, and the same
gradients through float64, `wide_norm`, `wide_clipped`. `listed.<how>` (`once`, `twice`,
`two_groups`): `is_accepted`, `has_warned`, `step_counter`, `parameter` (from 1, rate 0.1).
`scaler`: `after_unscale`, `after_second_backward` (of gradients 0.5 and 1), `is_refused`, `reason`.
`quotient` (2 over the count 3): `dtype`, `value`, `relative_error`, `item_relative_error`.
`cached.<path>` (`replayed`, `not_replayed`, `no_dropout`): `relative_error`, of the gradient of an
encoder with dropout, in three chunks, against one graph.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from experiments.claims import allclose, bitwise_equal, constant, differs_by_at_least
from experiments.harness import Context, Settings

GRADIENTS = {
    "float32_overflow": [1e20, 1e20],
    "float32_plain": [3.0, 4.0],
    "float16_overflow": [60000.0, 60000.0],
    "float16_plain": [40000.0, 40000.0],
    "bfloat16_overflow": [1e20, 1e20],
    "bfloat16_plain": [1.0, 1.0, 1.0],
}
OVERFLOWS = [case for case in GRADIENTS if case.endswith("overflow")]

SETTINGS = Settings(
    config={"gradients": GRADIENTS, "max_norm": 1.0, "loss_scale": 1024.0, "count": 3}
    | {"chunks": [3, 8, 5], "dropout": 0.5},
    world_sizes=(1, 2),
    tolerances={"results": {"rtol": 1e-12, "atol": 1e-14}},
    quick=True,
)

CLAIMS = (
    *(
        bitwise_equal(f"{c}_has_no_norm", f"norm.{c}.norm", constant("inf"), observation=True)
        for c in OVERFLOWS
    ),
    *(
        bitwise_equal(f"{c}_is_lost", f"norm.{c}.clipped", constant([0.0, 0.0]), observation=True)
        for c in OVERFLOWS
    ),
    *(
        allclose(f"{c}_is_clipped_in_float64", f"norm.{c}.wide_clipped",
                 constant([math.sqrt(0.5)] * 2), 1e-6)
        for c in OVERFLOWS
    ),
    bitwise_equal("plain_norm_is_exact", "norm.float32_plain.norm", 5.0),
    differs_by_at_least("bfloat16_norm_is_coarse", "norm.bfloat16_plain.norm",
                        "norm.bfloat16_plain.wide_norm", 1e-3),
    bitwise_equal("listed_twice_is_stepped_twice", "listed.twice.step_counter", 2.0,
                  observation=True),
    bitwise_equal("listed_twice_gives_a_warning", "listed.twice.has_warned", True,
                  observation=True),
    bitwise_equal("two_groups_are_refused", "listed.two_groups.is_accepted", False,
                  observation=True),
    bitwise_equal("second_unscale_is_refused", "scaler.is_refused", True, observation=True),
    differs_by_at_least("units_are_mixed", "scaler.after_second_backward", 1.5, 1000.0),
    differs_by_at_least("quotient_is_rounded", "quotient.relative_error", 0.0, 1e-8),
    bitwise_equal("item_is_not", "quotient.item_relative_error", 0.0),
    allclose("replayed_masks_are_right", "cached.replayed.relative_error", 0.0, 1e-14),
    differs_by_at_least("other_masks_are_wrong", "cached.not_replayed.relative_error", 0.0, 0.05),
    allclose("without_dropout_is_right", "cached.no_dropout.relative_error", 0.0, 1e-14),
)  # fmt: skip


def clipped(gradients: list[float], dtype: torch.dtype, context: Context) -> tuple[Tensor, Tensor]:
    """The norm that torch returns and the gradient that it leaves."""
    parameter = nn.Parameter(torch.zeros(len(gradients), dtype=dtype, device=context.device))
    parameter.grad = torch.tensor(gradients, dtype=dtype, device=context.device)
    return clip_grad_norm_([parameter], context.config["max_norm"]), parameter.grad


def norm(case: str, context: Context) -> dict[str, Any]:
    """One case in its own type and through float64."""
    dtype = getattr(torch, case.partition("_")[0])
    gradients = context.config["gradients"][case]
    found, left = clipped(gradients, dtype, context)
    wide, wide_left = clipped(gradients, torch.float64, context)
    return {
        "gradients": gradients,
        "norm": found.item(),
        "norm_dtype": str(found.dtype).removeprefix("torch."),
        "clipped": left.tolist(),
        "wide_norm": wide.item(),
        "wide_clipped": wide_left.tolist(),
    }


def listed(times: list[int], context: Context) -> dict[str, Any]:
    """One AdamW step of a parameter that is listed so often in each of some groups."""
    parameter = nn.Parameter(context.tensor(1.0))
    groups = [{"params": [parameter] * count} for count in times]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            optimizer = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.0, foreach=False)
        except ValueError:
            nothing = {"step_counter": None, "parameter": None}
            return {"is_accepted": False, "has_warned": False, **nothing}
    parameter.grad = context.tensor(1.0)
    optimizer.step()
    return {
        "is_accepted": True,
        "has_warned": any("duplicate parameters" in str(w.message) for w in caught),
        "step_counter": float(optimizer.state[parameter]["step"]),
        "parameter": parameter.item(),
    }


def scaler(context: Context) -> dict[str, Any]:
    """Unscale after the first of two backward passes, and once more."""
    parameter = nn.Parameter(context.tensor(0.0))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    scale = torch.amp.GradScaler(context.device.type, init_scale=context.config["loss_scale"])
    found: dict[str, Any] = {"is_refused": False, "reason": None}
    for name, slope in (("after_unscale", 0.5), ("after_second_backward", 1.0)):
        scale.scale(parameter * slope).backward()
        if name == "after_unscale":
            scale.unscale_(optimizer)
        found[name] = parameter.grad.item() if parameter.grad is not None else None
    try:
        scale.unscale_(optimizer)
    except RuntimeError as error:
        found |= {"is_refused": True, "reason": str(error).partition("\n")[0][:160]}
    return found


def quotient(context: Context) -> dict[str, Any]:
    """2 over an integer count, as a tensor of torch's usual default type and by `.item()`."""
    count = torch.tensor(context.config["count"], device=context.device)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        found = 2 / count
    finally:
        torch.set_default_dtype(before)
    right = 2 / context.config["count"]
    return {
        "dtype": str(found.dtype).removeprefix("torch."),
        "value": found.item(),
        "relative_error": abs(found.item() - right) / right,
        "item_relative_error": abs(2 / count.item() - right) / right,
    }


def contrast(rows: Tensor) -> Tensor:
    """A loss that needs all rows at once: each row's best match is itself."""
    scores = rows @ rows.T
    return nn.functional.cross_entropy(scores, torch.arange(len(rows), device=rows.device))


def cached(path: str, context: Context) -> dict[str, float]:
    """The gradient in chunks, each encoded twice, against one graph over all chunks."""
    rate = 0.0 if path == "no_dropout" else context.config["dropout"]
    torch.manual_seed(context.seed)
    encoder = nn.Sequential(nn.Linear(4, 8), nn.Dropout(rate), nn.Tanh(), nn.Linear(8, 4))
    chunks = torch.randn(sum(context.config["chunks"]), 4).split(context.config["chunks"])
    start = torch.get_rng_state()
    contrast(torch.cat([encoder(chunk) for chunk in chunks])).backward()
    right = flat_gradient(encoder)
    torch.set_rng_state(start)
    states, pieces = [], []
    with torch.no_grad():
        for chunk in chunks:
            states.append(torch.get_rng_state())
            pieces.append(encoder(chunk))
    rows = torch.cat(pieces).requires_grad_()
    contrast(rows).backward()
    assert rows.grad is not None
    for chunk, state, gradient in zip(
        chunks, states, rows.grad.split(context.config["chunks"]), strict=True
    ):
        if path != "not_replayed":
            torch.set_rng_state(state)
        encoder(chunk).backward(gradient)
    error = flat_gradient(encoder) - right
    return {"relative_error": (error.norm() / right.norm()).item()}


def flat_gradient(model: nn.Module) -> Tensor:
    """The gradient of all parameters as one vector; clears it."""
    found = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    model.zero_grad()
    return found


def run(context: Context) -> dict[str, Any]:
    """Everything; each rank does the same, and needs no other."""
    times = {"once": [1], "twice": [2], "two_groups": [1, 1]}
    paths = ("replayed", "not_replayed", "no_dropout")
    return {
        "norm": {case: norm(case, context) for case in GRADIENTS},
        "listed": {how: listed(count, context) for how, count in times.items()},
        "scaler": scaler(context),
        "quotient": quotient(context),
        "cached": {path: cached(path, context) for path in paths},
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings; the others' are the same."""
    return outputs[0]
