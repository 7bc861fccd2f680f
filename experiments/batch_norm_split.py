"""Splitting a batch under BatchNorm, LayerNorm and no normalisation.

Claim: with LayerNorm or none, accumulation and two DDP ranks give the gradient of the whole batch
to rounding; BatchNorm in training mode takes its statistics from the part it sees, and does not.
In evaluation mode it uses running statistics and is exact again.

A model Linear(3 -> 6), norm, Tanh, Linear(6 -> 1), 8 samples, 2 parts.
Result keys: `batch_norm`, `layer_norm`, `none`, `batch_norm_eval`: `grad_norm` (whole batch), and
`<norm>.accumulation`, `<norm>.two_ranks`: `max_abs_error`, `relative_error`, `cosine`.
`layer` (torch's BatchNorm on the values 1, 2, 3, 10, in halves): `full_mean`, `full_variance`,
`split_means`, `split_variances`, `full_output`, `split_output`, `max_abs_difference`; the same in
`layer_calculator`, from calculators/batch_norm_split.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from experiments.calculated import values
from experiments.claims import allclose, differs_by_at_least
from experiments.harness import Context, Settings

NORMS = ("batch_norm", "layer_norm", "none", "batch_norm_eval")
EXACT = NORMS[1:]
LAYER = (
    "full_mean", "full_variance", "split_means", "split_variances", "full_output", "split_output",
    "max_abs_difference",
)  # fmt: skip
WAYS = ("accumulation", "two_ranks")

SETTINGS = Settings(
    config={"features": 3, "hidden": 6, "samples": 8, "parts": 2, "values": [1.0, 2.0, 3.0, 10.0]},
    calculators=("batch_norm_split",),
    tolerances={"results": {"rtol": 1e-9, "atol": 1e-12}},
)

CLAIMS = (
    *(
        allclose(f"{norm}_{way}_is_the_batch", f"{norm}.{way}.max_abs_error", 0.0, 1e-14)
        for norm in EXACT
        for way in WAYS
    ),
    *(
        differs_by_at_least(
            f"batch_norm_{way}_is_not", f"batch_norm.{way}.relative_error", 0.0, 1e-2
        )
        for way in WAYS
    ),
    *(
        allclose(f"{key}_is_the_calculator's", f"layer.{key}", f"layer_calculator.{key}", 1e-14)
        for key in LAYER
    ),
    differs_by_at_least("halves_have_other_outputs", "layer.max_abs_difference", 0.0, 0.1),
)


def make_model(norm: str, context: Context) -> nn.Module:
    """The same linear weights under every normalisation."""
    torch.manual_seed(context.seed)
    hidden = context.config["hidden"]
    first, last = nn.Linear(context.config["features"], hidden), nn.Linear(hidden, 1)
    middle: nn.Module = nn.Identity()
    if norm.startswith("batch_norm"):
        middle = nn.BatchNorm1d(hidden)
    elif norm == "layer_norm":
        middle = nn.LayerNorm(hidden)
    model = nn.Sequential(first, middle, nn.Tanh(), last).to(context.device)
    return model.eval() if norm.endswith("eval") else model


def make_data(context: Context) -> tuple[Tensor, Tensor]:
    """(samples, features) inputs and (samples, 1) targets."""
    generator = torch.Generator().manual_seed(context.seed + 1)
    samples = context.config["samples"]
    x = torch.randn(samples, context.config["features"], generator=generator)
    y = torch.randn(samples, 1, generator=generator)
    return x.to(context.device), y.to(context.device)


def gradient(model: nn.Module, x: Tensor, y: Tensor, sizes: int) -> Tensor:
    """Accumulate the weighted means of equal parts of `sizes` samples; all gradients as one."""
    model.zero_grad()
    for rows, targets in zip(x.split(sizes), y.split(sizes), strict=True):
        loss = nn.functional.mse_loss(model(rows), targets) * len(rows) / len(x)
        loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def errors(found: Tensor, reference: Tensor) -> dict[str, float]:
    """How far a gradient is from the whole batch's."""
    gap = found - reference
    return {
        "max_abs_error": gap.abs().max().item(),
        "relative_error": (gap.norm() / reference.norm()).item(),
        "cosine": nn.functional.cosine_similarity(found, reference, dim=0).item(),
    }


def compare(norm: str, context: Context) -> dict[str, Any]:
    """One normalisation: whole batch, accumulation in this process, and two ranks."""
    x, y = make_data(context)
    part = len(x) // context.config["parts"]
    model = make_model(norm, context)
    reference = gradient(model, x, y, len(x))
    accumulated = gradient(model, x, y, part)
    devices = [context.local_rank] if context.backend == "nccl" else None
    # Buffers are not broadcast: each rank keeps the statistics of what it saw.
    wrapped = DistributedDataParallel(model, device_ids=devices, broadcast_buffers=False)
    own = slice(context.rank * part, (context.rank + 1) * part)
    together = gradient(wrapped, x[own], y[own], part)
    return {
        "grad_norm": reference.norm().item(),
        "accumulation": errors(accumulated, reference),
        "two_ranks": errors(together, reference),
    }


def layer(context: Context) -> dict[str, Any]:
    """BatchNorm of one feature, over all four values and over each half."""
    column = context.tensor(context.config["values"])[:, None]
    norm = nn.BatchNorm1d(1, affine=False).to(context.device)
    halves = column.split(2)
    full, split = norm(column), torch.cat([norm(half) for half in halves])
    return {
        "full_mean": column.mean().item(),
        "full_variance": column.var(correction=0).item(),
        "split_means": [half.mean().item() for half in halves],
        "split_variances": [half.var(correction=0).item() for half in halves],
        "full_output": full.flatten().tolist(),
        "split_output": split.flatten().tolist(),
        "max_abs_difference": (full - split).abs().max().item(),
    }


def run(context: Context) -> dict[str, Any]:
    """Every normalisation on this rank, and the layer by itself."""
    found: dict[str, Any] = {norm: compare(norm, context) for norm in NORMS}
    return {**found, "layer": layer(context)}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings (after DDP every rank holds the same gradient), and the calculator's."""
    config = SETTINGS.config
    found = values("batch_norm_split", values=config["values"], split=config["parts"])
    return {**outputs[0], "layer_calculator": {key: found[key] for key in LAYER}}
