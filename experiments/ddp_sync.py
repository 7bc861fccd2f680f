"""Where `no_sync` must stand: all-reduces counted by a communication hook over two updates.

Observed: `no_sync` around forward and backward reduces once per update and is right; around the
backward only it has no effect, every micro-step reduces and the gradient is still right;
`require_backward_grad_sync` set before the forward equals `no_sync` around both; set after the
forward, the first backward of an update reduces instead of the last, and the ranks part.

Two linear layers (4 -> 8 -> 2), 3 micro-steps per update, 2 updates by SGD, other data per rank.
Result keys: `sync_every_micro_step`, `no_sync_around_both`, `no_sync_around_backward_only`,
`flag_before_forward`, `flag_after_forward`: `all_reduces` (per update), `total_all_reduces`,
`reduced_in` (micro-steps of both updates in which a reduction ran), `gradient_max_abs_error`,
`gradient_relative_error` (first update, worst rank, against one process with all the data),
`parameter_max_abs_error` (after both updates), `ranks_gradients_agree`, `ranks_parameters_agree`,
`max_rank_divergence` (largest difference of a parameter between ranks).
`one_process`: `grad_norm`, `grad_accum_steps`, `num_updates`.
"""

import math
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from experiments.claims import Claim, allclose, bitwise_equal, constant, differs_by_at_least
from experiments.harness import Context, Settings

VARIANTS = (
    "sync_every_micro_step",
    "no_sync_around_both",
    "no_sync_around_backward_only",
    "flag_before_forward",
    "flag_after_forward",
)
RIGHT = VARIANTS[:4]

SETTINGS = Settings(
    config={"layers": [4, 8, 2], "grad_accum_steps": 3, "num_updates": 2, "batch": 2}
    | {"learning_rate": 0.1},
    tolerances={"results": {"rtol": 1e-9, "atol": 1e-12}},
    quick=True,
)


def _counts(variant: str, per_update: list[int], *, observation: bool = False) -> Claim:
    path = f"{variant}.all_reduces"
    name = f"{variant}_reduces_{per_update[0]}_times"
    return bitwise_equal(name, path, constant(per_update), observation=observation)


CLAIMS = (
    _counts("sync_every_micro_step", [3, 3]),
    _counts("no_sync_around_both", [1, 1]),
    _counts("no_sync_around_backward_only", [3, 3], observation=True),
    _counts("flag_before_forward", [1, 1]),
    *(
        allclose(f"{v}_gradient_is_right", f"{v}.gradient_max_abs_error", 0.0, 1e-14)
        for v in RIGHT
    ),
    *(bitwise_equal(f"{v}_ranks_end_equal", f"{v}.ranks_parameters_agree", True) for v in RIGHT),
    differs_by_at_least(
        "flag_after_forward_is_wrong", "flag_after_forward.gradient_relative_error", 0.0, 0.05
    ),
    bitwise_equal(
        "flag_after_forward_parts_the_ranks", "flag_after_forward.ranks_parameters_agree", False,
        observation=True,
    ),
)  # fmt: skip


class Counter:
    """A communication hook that averages as DDP does and notes the micro-step it ran in."""

    def __init__(self) -> None:
        self.micro_step = 0
        self.ran_in: list[int] = []

    # DDP reads these annotations as objects: this module must not turn them into strings.
    def hook(self, group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Called once per bucket; the model is small enough for one."""
        self.ran_in.append(self.micro_step)
        return allreduce_hook(group, bucket)


def make_model(context: Context) -> nn.Sequential:
    """The same weights on every rank and in every variant."""
    torch.manual_seed(context.seed)
    first, hidden, out = context.config["layers"]
    return nn.Sequential(nn.Linear(first, hidden), nn.Tanh(), nn.Linear(hidden, out)).to(
        context.device
    )


def make_data(context: Context) -> tuple[Tensor, Tensor]:
    """Inputs and targets: (updates, micro-steps, ranks, batch, features)."""
    config = context.config
    generator = torch.Generator().manual_seed(context.seed + 1)
    shape = (config["num_updates"], config["grad_accum_steps"], context.world_size, config["batch"])
    x = torch.randn(*shape, config["layers"][0], generator=generator)
    y = torch.randn(*shape, config["layers"][-1], generator=generator)
    return x.to(context.device), y.to(context.device)


def backward_once(variant: str, model: Any, parts: tuple[Any, Any, float], is_last: bool) -> None:
    """Forward and backward of one micro-step, with the synchronisation of a variant."""
    x, y, share = parts
    around_forward = model.no_sync() if variant == "no_sync_around_both" else nullcontext()
    around_backward = (
        model.no_sync() if variant == "no_sync_around_backward_only" else nullcontext()
    )
    if variant == "flag_before_forward":
        model.require_backward_grad_sync = is_last
    with nullcontext() if is_last else around_forward:
        loss = nn.functional.mse_loss(model(x), y) * share
        if variant == "flag_after_forward":
            model.require_backward_grad_sync = is_last
        with nullcontext() if is_last else around_backward:
            loss.backward()


def flat(tensors: Any) -> Tensor:
    """One vector of all tensors."""
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def train(variant: str, context: Context) -> dict[str, Any]:
    """Two updates of one variant on this rank."""
    x, y = make_data(context)
    steps = context.config["grad_accum_steps"]
    inner = make_model(context)
    devices = [context.local_rank] if context.backend == "nccl" else None
    model = DistributedDataParallel(inner, device_ids=devices)
    counter = Counter()
    model.register_comm_hook(None, counter.hook)
    optimizer = torch.optim.SGD(inner.parameters(), lr=context.config["learning_rate"])
    gradients = []
    for update in range(context.config["num_updates"]):
        optimizer.zero_grad()
        for k in range(steps):
            counter.micro_step = update * steps + k
            own = x[update, k, context.rank], y[update, k, context.rank], 1 / steps
            backward_once(variant, model, own, is_last=k == steps - 1)
        gradients.append(flat(parameter.grad for parameter in inner.parameters()))
        optimizer.step()
    return {
        "reduced_in": counter.ran_in,
        "gradient": gradients[0].tolist(),
        "parameters": flat(inner.parameters()).tolist(),
    }


def one_process(context: Context) -> dict[str, Any]:
    """The reference: every rank's data of an update in one batch."""
    x, y = make_data(context)
    model = make_model(context)
    optimizer = torch.optim.SGD(model.parameters(), lr=context.config["learning_rate"])
    gradients = []
    for inputs, targets in zip(x, y, strict=True):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs.flatten(0, 2)), targets.flatten(0, 2)).backward()
        gradients.append(flat(parameter.grad for parameter in model.parameters()))
        optimizer.step()
    return {"gradient": gradients[0].tolist(), "parameters": flat(model.parameters()).tolist()}


def run(context: Context) -> dict[str, Any]:
    """Every variant on this rank, and the reference."""
    found = {variant: train(variant, context) for variant in VARIANTS}
    dist.barrier()
    return {**found, "one_process": one_process(context)}


def _gap(left: list[float], right: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


def _norm(vector: list[float]) -> float:
    return math.sqrt(sum(value * value for value in vector))


def _relative(left: list[float], right: list[float]) -> float:
    return _norm([a - b for a, b in zip(left, right, strict=True)]) / _norm(right)


def _variant(ranks: list[dict[str, Any]], reference: dict[str, Any]) -> dict[str, Any]:
    steps, updates = SETTINGS.config["grad_accum_steps"], SETTINGS.config["num_updates"]
    ran = ranks[0]["reduced_in"]
    gradients = [rank["gradient"] for rank in ranks]
    parameters = [rank["parameters"] for rank in ranks]
    return {
        "all_reduces": [sum(k // steps == update for k in ran) for update in range(updates)],
        "total_all_reduces": len(ran),
        "reduced_in": ran,
        "gradient_max_abs_error": max(_gap(g, reference["gradient"]) for g in gradients),
        "gradient_relative_error": max(_relative(g, reference["gradient"]) for g in gradients),
        "parameter_max_abs_error": max(_gap(p, reference["parameters"]) for p in parameters),
        "ranks_gradients_agree": all(g == gradients[0] for g in gradients),
        "ranks_parameters_agree": all(p == parameters[0] for p in parameters),
        "max_rank_divergence": max(_gap(p, parameters[0]) for p in parameters),
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, errors against one process, and whether the ranks end equal."""
    reference = outputs[0]["one_process"]
    config = SETTINGS.config
    return {
        "one_process": {
            "grad_norm": _norm(reference["gradient"]),
            "grad_accum_steps": config["grad_accum_steps"],
            "num_updates": config["num_updates"],
        },
        **{v: _variant([output[v] for output in outputs], reference) for v in VARIANTS},
    }
