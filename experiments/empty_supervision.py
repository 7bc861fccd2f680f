"""A replica without a valid label: which loss gives NaN, and which gives NaN gradients.

Observed: cross_entropy whose labels are all ignored returns NaN, but its gradient is zero, so DDP's
average stays finite and silently loses half of the update. (loss * mask).sum() / mask.sum() has NaN
gradients, which the average carries to every rank. A loss sum divided by the global count is right.

Linear model (4 -> 3), rank 0 has three valid labels, rank 1 none. Result keys: `alone.<form>` on a
process without valid labels, for `cross_entropy_mean`, `masked_mean`, `cross_entropy_sum`,
`masked_mean_clamped` (count at least 1): `loss`, `gradient_is_zero`, `gradient_is_finite`.
`ddp.<form>` on two ranks, and `ddp.global_tokens` (loss sum x world size / global count): `losses`,
`gradient_norm`, `gradient_is_finite`, `share_of_update` (of the gradient of the whole batch; "nan"
when not finite), `max_abs_error`, `ranks_agree`. `whole_batch`: `loss`, `gradient_norm`,
`valid_tokens`.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings
from experiments.record import sha256

IGNORE_INDEX = -100
FORMS = ("cross_entropy_mean", "masked_mean", "cross_entropy_sum", "masked_mean_clamped")

SETTINGS = Settings(
    config={"features": 4, "classes": 3, "labels": [[0, 2, 1], [-100, -100, -100]]},
    tolerances={"results": {"rtol": 1e-9, "atol": 1e-12}},
    quick=True,
)

CLAIMS = (
    bitwise_equal(
        "mean_over_nothing_is_nan", "alone.cross_entropy_mean.loss", "alone.masked_mean.loss",
        observation=True,
    ),
    bitwise_equal(
        "cross_entropy_of_nothing_has_zero_gradient",
        "alone.cross_entropy_mean.gradient_is_zero", True, observation=True,
    ),
    bitwise_equal(
        "masked_mean_of_nothing_has_nan_gradient",
        "alone.masked_mean.gradient_is_finite", False, observation=True,
    ),
    bitwise_equal(
        "average_spreads_nan", "ddp.masked_mean.gradient_is_finite", False, observation=True
    ),
    allclose("average_halves_the_update", "ddp.cross_entropy_mean.share_of_update", 0.5, 1e-14),
    differs_by_at_least(
        "halved_update_is_wrong", "ddp.cross_entropy_mean.max_abs_error", 0.0, 1e-2
    ),
    allclose("global_tokens_are_right", "ddp.global_tokens.max_abs_error", 0.0, 1e-14),
    *(bitwise_equal(f"{f}_ranks_end_equal", f"ddp.{f}.ranks_agree", True) for f in FORMS),
)  # fmt: skip


def loss_of(form: str, logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of one replica in one of the usual spellings."""
    if form.startswith("cross_entropy"):
        kind = form.removeprefix("cross_entropy_")
        return nn.functional.cross_entropy(
            logits, labels, ignore_index=IGNORE_INDEX, reduction=kind
        )
    mask = (labels != IGNORE_INDEX).to(logits.dtype)
    per_token = nn.functional.cross_entropy(logits, labels.clamp(min=0), reduction="none")
    count = mask.sum().clamp(min=1) if form.endswith("clamped") else mask.sum()
    return (per_token * mask).sum() / count


def gradient(model: nn.Module, loss: Tensor) -> Tensor:
    """The gradient of all parameters as one vector."""
    model.zero_grad()
    loss.backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def global_tokens(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss sum times world size over the global count; DDP's average makes it the mean."""
    count = (labels != IGNORE_INDEX).sum()
    dist.all_reduce(count)
    return loss_of("cross_entropy_sum", logits, labels) * dist.get_world_size() / count


def alone(model: nn.Module, x: Tensor, labels: Tensor, form: str) -> dict[str, Any]:
    """One process whose labels are all ignored."""
    loss = loss_of(form, model(x), labels)
    found = gradient(model, loss)
    return {
        "loss": loss.item(),
        "gradient_is_zero": bool((found == 0).all()),
        "gradient_is_finite": bool(found.isfinite().all()),
    }


def together(model: nn.Module, x: Tensor, labels: Tensor, form: str, right: Tensor) -> Any:
    """One rank's loss, and the gradient after DDP's average."""
    rule = global_tokens if form == "global_tokens" else lambda a, b: loss_of(form, a, b)
    loss = rule(model(x), labels)
    found = gradient(model, loss)
    return {
        "loss": loss.item(),
        "gradient": found.tolist(),
        "gradient_norm": found.norm().item(),
        "gradient_is_finite": bool(found.isfinite().all()),
        "share_of_update": (found.dot(right) / right.dot(right)).item(),
        "max_abs_error": (found - right).abs().max().item(),
    }


def run(context: Context) -> dict[str, Any]:
    """Each form alone without labels, and on two ranks of which one has none."""
    config = context.config
    model = nn.Linear(config["features"], config["classes"]).to(context.device)
    labels = torch.tensor(config["labels"], device=context.device)
    generator = torch.Generator().manual_seed(context.seed)
    x = torch.randn(*labels.shape, config["features"], generator=generator).to(context.device)
    whole = loss_of("cross_entropy_mean", model(x.flatten(0, 1)), labels.flatten())
    right = gradient(model, whole)
    found = {form: alone(model, x[1], labels[1], form) for form in FORMS}
    devices = [context.local_rank] if context.backend == "nccl" else None
    wrapped = DistributedDataParallel(model, device_ids=devices)
    own = context.rank
    return {
        "whole_batch": {
            "loss": whole.item(),
            "gradient_norm": right.norm().item(),
            "valid_tokens": int((labels != IGNORE_INDEX).sum()),
        },
        "alone": found,
        "ddp": {
            form: together(wrapped, x[own], labels[own], form, right)
            for form in (*FORMS, "global_tokens")
        },
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings, the losses of both, and whether both hold the same gradient."""
    found: dict[str, Any] = {}
    for form, entry in outputs[0]["ddp"].items():
        ranks = [output["ddp"][form] for output in outputs]
        found[form] = {
            "losses": [rank["loss"] for rank in ranks],
            **{key: entry[key] for key in ("gradient_norm", "gradient_is_finite")},
            **{key: entry[key] for key in ("share_of_update", "max_abs_error")},
            "ranks_agree": len({sha256(rank["gradient"]) for rank in ranks}) == 1,
        }
    return {
        "whole_batch": outputs[0]["whole_batch"],
        "alone": outputs[0]["alone"],
        "ddp": found,
    }
