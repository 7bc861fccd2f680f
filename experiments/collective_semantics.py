"""What collectives do beyond their result: NaN under MAX, shared memory, calls that do not match.

Observed: of one element, Gloo's MAX keeps a NaN of rank 0 and loses one of rank 1; of several,
each is computed on one of the ranks, so that half of them keep either. Calls are matched by
position: another reduce operation or dtype passes without a word, a longer tensor aborts the rank
that holds the shorter one, another collective or an absent rank is waited for, a dead one is
noticed at once. TORCH_DISTRIBUTED_DEBUG=DETAIL compares kind, shape and dtype, not the operation.

Result keys: `nan.<op>` for `max`, `min`, `sum`: `one_element`, `four_elements`, each by where the
NaN is (`on_rank_0`, `on_rank_1`); the other rank holds 1. `flag`: the maximum of 0 and 1, by which
rank holds the 1. `in_place.<path>`, a reduction between forward and backward of a loss that ends in
a square root, `unreduced`, `detached`, `not_detached`, `cloned`, and of `mean`, that ends in a
mean: `losses`, `gradients`, `shares` (of the unreduced gradients) by rank, `has_warned`. `reduce`
(`dist.reduce` of 1 and 10 to rank 0): `destination`, `other`. `ddp_forward`: collectives in one
forward: `evaluation`, `first_no_grad`, `second_no_grad` (after a training step),
`without_buffers`, `without_buffers_rebuild` (second training forward). `contained.<scenario>` of
experiments/mismatched_calls, and `.detail` with DETAIL: `endings`, `values`, see
experiments/contained; null where `contained.is_measured` is false, for `contained.reason`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from experiments.claims import Claim, allclose, bitwise_equal, constant, differs_by_at_least
from experiments.contained import Trial, endings
from experiments.harness import Context, Settings
from experiments.mismatched_calls import ANSWERED, DETAILED, WAITING

SCENARIOS = {**ANSWERED, **WAITING}
NAN = float("nan")
OPS = {"max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN, "sum": dist.ReduceOp.SUM}
PATHS = ("unreduced", "detached", "not_detached", "cloned", "mean")
REASON = "calls that do not match may hang or end the process: they are tried on Gloo only"

SETTINGS = Settings(
    # Seconds that a collective may wait: where nobody answers, and where somebody does.
    config={"losses": [3.0, 4.0], "limit": 2.0, "patient_limit": 30.0},
    files=("experiments/contained.py", "experiments/mismatched_calls.py"),
    tolerances={"results": {"rtol": 1e-12, "atol": 1e-14}},
    quick=True,
)


def _seen(name: str, path: str, value: Any) -> Claim:
    return bitwise_equal(name, path, constant(value), observation=True)


def _ends(scenario: str, *kinds: str) -> Claim:
    name = f"{scenario.replace('.', '_')}_ends_{'_and_'.join(kinds)}"
    return _seen(name, f"contained.{scenario}.endings", list(kinds))


CLAIMS = (
    _seen("max_keeps_a_nan_of_rank_0", "nan.max.one_element.on_rank_0", ["nan"]),
    _seen("max_loses_a_nan_of_rank_1", "nan.max.one_element.on_rank_1", [1.0]),
    _seen("max_keeps_half_of_rank_0", "nan.max.four_elements.on_rank_0", ["nan", "nan", 1.0, 1.0]),
    _seen("max_keeps_half_of_rank_1", "nan.max.four_elements.on_rank_1", [1.0, 1.0, "nan", "nan"]),
    *(
        bitwise_equal(f"sum_keeps_a_nan_of_rank_{r}", f"nan.sum.four_elements.on_rank_{r}",
                      constant(["nan"] * 4))
        for r in (0, 1)
    ),
    *(
        bitwise_equal(f"flag_of_rank_{r}_arrives", f"flag.on_rank_{r}", constant([1.0, 1.0]))
        for r in (0, 1)
    ),
    allclose("reduced_loss_scales_its_gradient", "in_place.detached.shares",
             constant([3 / 7, 4 / 7]), 1e-14),
    differs_by_at_least("reduced_loss_spoils_its_gradient", "in_place.detached.gradients",
                        "in_place.unreduced.gradients", 0.4),
    bitwise_equal("clone_is_safe", "in_place.cloned.gradients", "in_place.unreduced.gradients"),
    bitwise_equal("mean_is_safe", "in_place.mean.shares", constant([1.0, 1.0])),
    _seen("detached_loss_gives_no_warning", "in_place.detached.has_warned", [False, False]),
    _seen("attached_loss_gives_a_warning", "in_place.not_detached.has_warned", [True, True]),
    bitwise_equal("destination_has_the_sum", "reduce.destination", constant([11.0] * 4)),
    differs_by_at_least("other_lacks_the_sum", "reduce.other", constant([11.0] * 4), 1),
    _seen("evaluation_forward_reduces", "ddp_forward.evaluation", 2),
    _seen("first_no_grad_forward_reduces", "ddp_forward.first_no_grad", 2),
    _seen("second_no_grad_forward_does_not", "ddp_forward.second_no_grad", 0),
    _seen("forward_without_buffers_does_not", "ddp_forward.without_buffers", 0),
    _ends("rank_stays_away", "timed_out", "returned"),
    _ends("rank_dies", "lost_its_peer", "exited"),
    _ends("other_collective", "timed_out", "timed_out"),
    _ends("other_length", "aborted", "lost_its_peer"),
    *(_ends(name, "returned", "returned") for name in ANSWERED if name.startswith("other_r")),
    _ends("other_dtype", "returned", "returned"),
    _ends("swapped_step", "returned", "returned"),
    *(
        _ends(f"{name}.detail", *(["refused"] * 2 if name in ("other_dtype", "other_length",
              "other_collective") else ["returned"] * 2))
        for name in DETAILED
    ),
)  # fmt: skip


def reduced(values: list[float], context: Context, op: Any) -> list[float]:
    """All-reduce this rank's vector."""
    tensor = context.tensor(values)
    dist.all_reduce(tensor, op=op)
    found: list[float] = tensor.tolist()
    return found


def with_nan(op: str, context: Context) -> dict[str, Any]:
    """One reduction with the NaN on either rank, of one element and of four."""
    found: dict[str, Any] = {}
    for name, length in (("one_element", 1), ("four_elements", 4)):
        found[name] = {
            f"on_rank_{owner}": reduced(
                [NAN if context.rank == owner else 1.0] * length, context, OPS[op]
            )
            for owner in range(context.world_size)
        }
    return found


def reduce_for_log(path: str, loss: Tensor) -> None:
    """What a logging line does to the loss between forward and backward."""
    if path in ("detached", "mean"):
        dist.all_reduce(loss.detach())
    elif path == "not_detached":
        dist.all_reduce(loss)
    elif path == "cloned":
        dist.all_reduce(loss.detach().clone())


def in_place(path: str, context: Context) -> dict[str, Any]:
    """The loss, 3 on rank 0 and 4 on rank 1, and its gradient by a parameter of that value."""
    value = context.config["losses"][context.rank]
    parameter = context.tensor([value]).requires_grad_()
    loss = parameter.mean() if path == "mean" else parameter.square().mean().sqrt()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reduce_for_log(path, loss)
        loss.backward()
    gradient = parameter.grad
    assert gradient is not None
    return {
        "loss": loss.item(),
        "gradient": gradient.item(),
        "has_warned": any("all" in str(w.message) and "autograd" in str(w.message) for w in caught),
    }


def collectives_in(call: Callable[[], Any]) -> int:
    """How many collectives torch's profiler sees in a call."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=kinds) as profile:
        call()
    return sum(e.count for e in profile.key_averages() if e.key.startswith("c10d::"))


def ddp_forward(context: Context) -> dict[str, int]:
    """Collectives in a forward of DistributedDataParallel, with and without buffers."""
    devices = [context.local_rank] if context.backend == "nccl" else None
    x = context.tensor([[1.0, 2.0], [3.0, 5.0]])

    def wrap(*layers: nn.Module) -> DistributedDataParallel:
        inner = nn.Sequential(nn.Linear(2, 2), *layers).to(context.device)
        model = DistributedDataParallel(inner, device_ids=devices)
        model(x).sum().backward()
        return model

    plain = wrap()
    found = {"without_buffers_rebuild": collectives_in(lambda: plain(x).sum())}
    found["without_buffers"] = collectives_in(lambda: plain(x).sum())
    model = wrap(nn.BatchNorm1d(2))
    model(x).sum().backward()
    model.eval()
    found["evaluation"] = collectives_in(lambda: model(x))
    with torch.no_grad():
        found["first_no_grad"] = collectives_in(lambda: model(x))
        found["second_no_grad"] = collectives_in(lambda: model(x))
    return found


def contained(context: Context) -> dict[str, Any]:
    """This rank's share of the scenarios of mismatched calls, each in child processes."""
    config, is_measured = context.config, context.backend == "gloo"
    unknown = {"endings": None, "values": None}
    names = [*ANSWERED, *WAITING][context.rank :: context.world_size]
    found: dict[str, Any] = {}
    for name in names:
        entry: dict[str, Any] = {**unknown, **({"detail": unknown} if name in DETAILED else {})}
        if is_measured:
            limit = config["limit" if name in WAITING else "patient_limit"]
            entry |= endings(Trial(SCENARIOS[name], limit))
        if is_measured and name in DETAILED:
            trial = Trial(SCENARIOS[name], config["patient_limit"], is_detailed=True)
            entry["detail"] = endings(trial)
        found[name] = entry
        context.progress(len(found), len(names), name)
    return found


def run(context: Context) -> dict[str, Any]:
    """Everything that ends by itself, then, in processes of their own, what may not."""
    buffer = context.tensor([(1.0, 10.0)[context.rank]] * 4)
    dist.reduce(buffer, dst=0)
    owners = range(context.world_size)
    return {
        "nan": {op: with_nan(op, context) for op in OPS},
        "flag": {
            f"on_rank_{owner}": reduced([float(context.rank == owner)], context, OPS["max"])[0]
            for owner in owners
        },
        "in_place": {path: in_place(path, context) for path in PATHS},
        "reduce": buffer.tolist(),
        "ddp_forward": ddp_forward(context),
        "contained": contained(context),
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings, and those of both ranks where they may differ."""
    first, second = outputs
    is_measured = first["contained"]["rank_dies"]["endings"] is not None
    right = [output["in_place"]["unreduced"]["gradient"] for output in outputs]
    paths: dict[str, Any] = {}
    for path in PATHS:
        ranks = [output["in_place"][path] for output in outputs]
        gradients = [rank["gradient"] for rank in ranks]
        paths[path] = {
            "losses": [rank["loss"] for rank in ranks],
            "gradients": gradients,
            "shares": [g / r for g, r in zip(gradients, right, strict=True)],
            "has_warned": [rank["has_warned"] for rank in ranks],
        }
    return {
        "nan": first["nan"],
        "flag": {key: [first["flag"][key], second["flag"][key]] for key in first["flag"]},
        "in_place": paths,
        "reduce": {"destination": first["reduce"], "other": second["reduce"]},
        "ddp_forward": first["ddp_forward"],
        "contained": {
            "is_measured": is_measured,
            "reason": None if is_measured else REASON,
            **first["contained"],
            **second["contained"],
        },
    }
