"""Global negatives: which gather keeps the gradient of a contrastive loss.

Claim: with a differentiable gather, DistributedDataParallel's average is the gradient of one
process that holds every pair, whether each rank returns the loss of its own queries or the whole
loss. A gather that detaches the other ranks' documents keeps the loss and loses gradient: with
own rows no constant repairs it, with the whole loss on every rank the factor is the world size.

Encoder: q_i = w_q a_i and d_i = w_d b_i, one pair per rank; logits q_i d_j / temperature.

Result keys, for `single_process`: `loss` (mean over queries), `w_q`, `w_d` (gradients), `w_q_next`,
`w_d_next` (after one SGD step). For each variant `differentiable_gather`, `detached_remote`,
`local_pairs_only` (a rank returns its own query's loss), `whole_loss_differentiable`,
`whole_loss_detached` (a rank returns the mean over all queries): `losses`, `mean_loss`,
`before_ddp_w_q`, `before_ddp_w_d` (per rank); `after_ddp_w_q`, `after_ddp_w_d`, `w_q_next`,
`w_d_next` (rank 0), `ranks_agree`, `repair_factor_w_q`, `repair_factor_w_d` (the factor that would
repair it; null where the gradient is zero), `max_abs_difference` (to one process). `calculator`
holds, for the first three variants, calculators/shared_encoder's `losses`, `before_ddp_w_q`,
`before_ddp_w_d`, `after_ddp_w_q`, `after_ddp_w_d`, `w_q_next`, `w_d_next`.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed._functional_collectives import all_gather_single
from torch.nn.parallel import DistributedDataParallel

from experiments.calculated import values
from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

OWN_ROWS = ("differentiable_gather", "detached_remote", "local_pairs_only")
WHOLE_LOSS = ("whole_loss_differentiable", "whole_loss_detached")
VARIANTS = OWN_ROWS + WHOLE_LOSS
PER_RANK = ("losses", "before_ddp_w_q", "before_ddp_w_d")
COMPARED = ("after_ddp_w_q", "after_ddp_w_d", "w_q_next", "w_d_next")

SETTINGS = Settings(
    config={"a": [1.0, 2.0], "b": [1.0, -1.0], "w_q": 1.0, "w_d": 1.0}
    | {"temperature": 1.0, "learning_rate": 0.1},
    calculators=("shared_encoder", "infonce"),
    tolerances={"results": {"rtol": 1e-12, "atol": 1e-14}},
    quick=True,
)


def _against_reference(variant: str, atol: float = 1e-14) -> tuple[Any, ...]:
    pairs = {"after_ddp_w_q": "w_q", "after_ddp_w_d": "w_d"}
    pairs |= {"w_q_next": "w_q_next", "w_d_next": "w_d_next"}
    return tuple(
        allclose(f"{variant}_{key}_is_right", f"{variant}.{key}", f"single_process.{ref}", atol)
        for key, ref in pairs.items()
    )


CLAIMS = (
    *(
        allclose(f"{v}_{key}_is_the_calculator's", f"{v}.{key}", f"calculator.{v}.{key}", 1e-14)
        for v in OWN_ROWS
        for key in PER_RANK + COMPARED
    ),
    *_against_reference("differentiable_gather"),
    *_against_reference("whole_loss_differentiable"),
    *(bitwise_equal(f"{v}_ranks_end_equal", f"{v}.ranks_agree", True) for v in VARIANTS),
    allclose("detached_keeps_the_loss", "detached_remote.mean_loss", "single_process.loss", 1e-14),
    differs_by_at_least(
        "detached_loses_gradient", "detached_remote.after_ddp_w_d", "single_process.w_d", 0.9
    ),
    differs_by_at_least(
        "no_constant_repairs_own_rows",
        "detached_remote.repair_factor_w_q",
        "detached_remote.repair_factor_w_d",
        at_least=0.9,
    ),
    allclose(
        "whole_detached_needs_world_size_w_q", "whole_loss_detached.repair_factor_w_q", 2.0, 1e-14
    ),
    allclose(
        "whole_detached_needs_world_size_w_d", "whole_loss_detached.repair_factor_w_d", 2.0, 1e-14
    ),
    differs_by_at_least(
        "local_pairs_have_no_negatives", "local_pairs_only.after_ddp_w_q", "single_process.w_q", 1.0
    ),
)


class Encoder(nn.Module):
    """Two scalars that turn inputs a, b into queries and documents."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.w_q = nn.Parameter(context.tensor(context.config["w_q"]))
        self.w_d = nn.Parameter(context.tensor(context.config["w_d"]))

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return self.w_q * a, self.w_d * b


def losses(queries: Tensor, documents: Tensor, first: int, temperature: float) -> Tensor:
    """Cross-entropy of each query; the positive of row i is document first + i."""
    logits = queries[:, None] * documents[None, :] / temperature
    targets = torch.arange(len(queries), device=queries.device) + first
    return nn.functional.cross_entropy(logits, targets, reduction="none")


def gather(local: Tensor, rank: int, *, is_differentiable: bool) -> Tensor:
    """Every rank's rows; the detached form keeps the gradient of this rank's rows only."""
    if is_differentiable:
        return all_gather_single(local, 0, dist.group.WORLD)
    rows = [torch.empty_like(local) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, local.detach())
    rows[rank] = local
    return torch.cat(rows)


def variant_loss(variant: str, rows: tuple[Tensor, Tensor], context: Context) -> Tensor:
    """What a rank returns under a variant, from its own rows of queries and documents."""
    queries, documents = rows
    temperature = context.config["temperature"]
    if variant == "local_pairs_only":
        return losses(queries, documents, 0, temperature).mean()
    is_differentiable = "differentiable" in variant
    everyone = gather(documents, context.rank, is_differentiable=is_differentiable)
    if variant in WHOLE_LOSS:
        queries = gather(queries, context.rank, is_differentiable=is_differentiable)
        return losses(queries, everyone, 0, temperature).mean()
    first = context.rank * len(queries)
    return losses(queries, everyone, first, temperature).mean()


def measure(variant: str, context: Context) -> dict[str, float]:
    """One rank's loss, its gradients before and after DDP, and its weights after a step."""
    a = context.tensor(context.config["a"])[context.rank : context.rank + 1]
    b = context.tensor(context.config["b"])[context.rank : context.rank + 1]
    encoder = Encoder(context)
    devices = [context.local_rank] if context.backend == "nccl" else None
    model = DistributedDataParallel(encoder, device_ids=devices)
    optimizer = torch.optim.SGD(model.parameters(), lr=context.config["learning_rate"])
    with model.no_sync():
        variant_loss(variant, model(a, b), context).backward()
    found = {"before_ddp_w_q": gradient(encoder.w_q), "before_ddp_w_d": gradient(encoder.w_d)}
    optimizer.zero_grad()
    loss = variant_loss(variant, model(a, b), context)
    loss.backward()
    found |= {"after_ddp_w_q": gradient(encoder.w_q), "after_ddp_w_d": gradient(encoder.w_d)}
    optimizer.step()
    found |= {"w_q_next": encoder.w_q.item(), "w_d_next": encoder.w_d.item()}
    return {"loss": loss.item(), **found}


def gradient(parameter: nn.Parameter) -> float:
    """The gradient of a scalar parameter; zero when none was computed."""
    return 0.0 if parameter.grad is None else parameter.grad.item()


def single_process(context: Context) -> dict[str, float]:
    """The reference: one process holds every pair and takes the mean over queries."""
    encoder = Encoder(context)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=context.config["learning_rate"])
    queries, documents = encoder(*(context.tensor(context.config[key]) for key in "ab"))
    loss = losses(queries, documents, 0, context.config["temperature"]).mean()
    loss.backward()
    found = {"loss": loss.item(), "w_q": gradient(encoder.w_q), "w_d": gradient(encoder.w_d)}
    optimizer.step()
    return {**found, "w_q_next": encoder.w_q.item(), "w_d_next": encoder.w_d.item()}


def run(context: Context) -> dict[str, Any]:
    """Every variant on this rank, and the reference that this rank computes alone."""
    found: dict[str, Any] = {variant: measure(variant, context) for variant in VARIANTS}
    return {**found, "single_process": single_process(context)}


def _ratio(right: float, wrong: float) -> float | None:
    return None if wrong == 0 else right / wrong


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Per-rank lists, rank 0's synchronised values, and the distance to one process."""
    reference = outputs[0]["single_process"]
    results: dict[str, Any] = {"single_process": reference}
    for variant in VARIANTS:
        ranks = [output[variant] for output in outputs]
        entry = {"losses": [rank["loss"] for rank in ranks]}
        for key in ("before_ddp_w_q", "before_ddp_w_d"):
            entry[key] = [rank[key] for rank in ranks]
        after = {key: ranks[0][key] for key in COMPARED}
        gaps = [after[f"after_ddp_{w}"] - reference[w] for w in ("w_q", "w_d")]
        results[variant] = {
            **entry,
            "mean_loss": sum(entry["losses"]) / len(ranks),
            **after,
            "ranks_agree": all(rank[key] == after[key] for rank in ranks for key in COMPARED),
            "repair_factor_w_q": _ratio(reference["w_q"], after["after_ddp_w_q"]),
            "repair_factor_w_d": _ratio(reference["w_d"], after["after_ddp_w_d"]),
            "max_abs_difference": max(map(abs, gaps)),
        }
    return {**results, "calculator": {variant: calculated(variant) for variant in OWN_ROWS}}


def calculated(variant: str) -> dict[str, Any]:
    """The same quantities from the calculator."""
    found = values("shared_encoder", **SETTINGS.config, scheme=variant)
    return {"losses": found["local_losses"], **{k: found[k] for k in PER_RANK[1:] + COMPARED}}
