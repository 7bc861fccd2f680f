"""Global-norm clipping over two processes: every independent element is counted once.

Claim: with one collective order on every rank (non-finite flag by MAX, owned square sum by SUM,
owned element count by SUM), shards and an owned replica give the norm of the whole model. A rank
that uses the norm of its own shard clips too little, a replica counted on every rank clips too
much, and clipping does not repair a non-finite gradient. FSDP2 with torch's clip_grad_norm_ gives
the right norm.

Result keys: cases `sharded` ([24] and [32], scale 8), `replicated` (and 96 on both ranks), `zero`,
`non_finite` (inf on rank 1). `<case>`: `unscaled` (per rank), `owned_square_sums` (per rank),
`owned_elements`, `has_non_finite`, `decision`. `<case>.<scheme>` for `owned_once`,
`local_shard_norm`, `every_replica_counted`: `used_norms`, `coefficients`, `applied`,
`parameters_next` (per rank), `clipped_norm`; for `non_finite` the same and `is_finite` under
`without_flag`, and `parameters_next` under `agreed`. `fsdp2`: `is_supported`, `norm`,
`local_norms`, `applied` (per rank), `reason` (why not, else null); `fsdp2_mixed` (a plain
replicated parameter beside the sharded one): `is_supported`, `norm`, `reason`. `one_process`:
`norm`, `applied` (torch, one process). `calculator.<case>.<scheme>`: the same keys from
calculators/clip_ownership.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from experiments.calculated import values
from experiments.claims import Claim, allclose, bitwise_equal, constant, differs_by_at_least
from experiments.fsdp2_clip import one_process, with_fsdp2
from experiments.harness import Context, Settings

SCHEMES = ("owned_once", "local_shard_norm", "every_replica_counted")
CASES: dict[str, dict[str, Any]] = {
    "sharded": {"scaled_gradients": [[24.0], [32.0]], "replicated_scaled_gradient": None},
    "replicated": {"scaled_gradients": [[24.0], [32.0]], "replicated_scaled_gradient": 96.0},
    "zero": {"scaled_gradients": [[0.0], [0.0]], "replicated_scaled_gradient": None},
    "non_finite": {"scaled_gradients": [[24.0], ["inf"]], "replicated_scaled_gradient": None},
}
FINITE = ("sharded", "replicated", "zero")
QUANTITIES = ("used_norms", "coefficients", "applied", "parameters_next", "clipped_norm")

SETTINGS = Settings(
    config={"cases": CASES, "scale": 8.0, "max_norm": 1.0, "learning_rate": 0.1}
    | {"initial_parameter": 1.0},
    calculators=("clip_ownership",),
    files=("experiments/fsdp2_clip.py",),
    tolerances={"results": {"rtol": 1e-12, "atol": 1e-14}},
    quick=True,
)


def _calculator_claims(case: str, scheme: str) -> list[Claim]:
    return [
        allclose(
            f"{case}_{scheme}_{key}_is_the_calculator's",
            f"{case}.{scheme}.{key}",
            f"calculator.{case}.{scheme}.{key}",
            1e-14,
        )
        for key in QUANTITIES
    ]


CLAIMS = (
    *(claim for case in FINITE for scheme in SCHEMES for claim in _calculator_claims(case, scheme)),
    allclose("shards_make_norm_5", "sharded.owned_once.used_norms", constant([5.0, 5.0]), 1e-14),
    allclose(
        "replica_makes_norm_13", "replicated.owned_once.used_norms", constant([13.0, 13.0]), 1e-14
    ),
    differs_by_at_least(
        "local_norm_clips_too_little", "sharded.local_shard_norm.clipped_norm", 1.0, 0.4
    ),
    differs_by_at_least(
        "counted_replica_clips_too_much", "replicated.every_replica_counted.clipped_norm", 1.0, 0.2
    ),
    bitwise_equal("one_bad_rank_stops_all", "non_finite.decision", constant("skip")),
    bitwise_equal(
        "skip_keeps_parameters", "non_finite.agreed.parameters_next", constant([[1.0], [1.0]])
    ),
    bitwise_equal(
        "clipping_leaves_nan", "non_finite.without_flag.is_finite", False, observation=True
    ),
    bitwise_equal("fsdp2_runs_here", "fsdp2.is_supported", True, observation=True),
    allclose("fsdp2_norm_is_right", "fsdp2.norm", "one_process.norm", 1e-14),
    allclose("fsdp2_clips_as_one_process", "fsdp2.applied", "one_process.applied", 1e-14),
)


def own_gradients(case: dict[str, Any], context: Context) -> tuple[Tensor, Tensor]:
    """This rank's unscaled elements, and which of them it owns (the replica is rank 0's)."""
    shard = [float(value) for value in case["scaled_gradients"][context.rank]]
    replica = case["replicated_scaled_gradient"]
    held = shard if replica is None else [*shard, float(replica)]
    owned = [True] * len(shard) + [context.rank == 0] * (len(held) - len(shard))
    unscaled = context.tensor(held) / context.config["scale"]
    return unscaled, torch.tensor(owned, device=context.device)


def agree(unscaled: Tensor, owned: Tensor) -> dict[str, float]:
    """The three collectives, in one order on every rank, whatever this rank holds."""
    flag = (~unscaled.isfinite()).any().to(unscaled.dtype)
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    squares = unscaled[owned].square().sum()
    own_squares = squares.item()
    dist.all_reduce(squares, op=dist.ReduceOp.SUM)
    count = owned.sum()
    dist.all_reduce(count, op=dist.ReduceOp.SUM)
    return {
        "has_non_finite": bool(flag.item()),
        "own_square_sum": own_squares,
        "square_sum": squares.item(),
        "elements": int(count.item()),
    }


def used_norm(scheme: str, unscaled: Tensor, agreed: dict[str, float]) -> float:
    """The norm this rank divides by under a scheme."""
    if scheme == "owned_once":
        return math.sqrt(agreed["square_sum"])
    local = unscaled.square().sum()
    if scheme == "every_replica_counted":
        dist.all_reduce(local, op=dist.ReduceOp.SUM)
    return math.sqrt(local.item())


def clip(unscaled: Tensor, owned: Tensor, norm: float, context: Context) -> dict[str, Any]:
    """One rank's clipped gradient and step; the clipped norm over independent elements."""
    coefficient = 1.0 if norm == 0 else min(1.0, context.config["max_norm"] / norm)
    applied = coefficient * unscaled
    square = applied[owned].square().sum()
    dist.all_reduce(square, op=dist.ReduceOp.SUM)
    start = context.config["initial_parameter"]
    return {
        "used_norm": norm,
        "coefficient": coefficient,
        "applied": applied.tolist(),
        "clipped_norm": square.sqrt().item(),
        "parameters_next": (start - context.config["learning_rate"] * applied).tolist(),
    }


def clip_case(case: dict[str, Any], context: Context) -> dict[str, Any]:
    """One case under every scheme; a non-finite one also with and without the agreed flag."""
    unscaled, owned = own_gradients(case, context)
    agreed = agree(unscaled, owned)
    found: dict[str, Any] = {"unscaled": unscaled.tolist(), "agreed": agreed}
    if agreed["has_non_finite"]:
        unchanged = [context.config["initial_parameter"]] * len(unscaled)
        found["skipped"] = {"parameters_next": unchanged}
        found["without_flag"] = clip(unscaled, owned, math.sqrt(agreed["square_sum"]), context)
        return found
    for scheme in SCHEMES:
        norm = used_norm(scheme, unscaled, agreed)
        found[scheme] = clip(unscaled, owned, norm, context)
    return found


def run(context: Context) -> dict[str, Any]:
    """Every case, FSDP2, and one process."""
    found = {name: clip_case(case, context) for name, case in context.config["cases"].items()}
    return {**found, **with_fsdp2(context), "one_process": one_process(context)}


def _schemes(ranks: list[dict[str, Any]], scheme: str) -> dict[str, Any]:
    own = [rank[scheme] for rank in ranks]
    lists = {"used_norms": "used_norm", "coefficients": "coefficient"}
    return {
        **{key: [entry[name] for entry in own] for key, name in lists.items()},
        "applied": [entry["applied"] for entry in own],
        "parameters_next": [entry["parameters_next"] for entry in own],
        "clipped_norm": own[0]["clipped_norm"],
    }


def _case(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    agreed = ranks[0]["agreed"]
    found: dict[str, Any] = {
        "unscaled": [rank["unscaled"] for rank in ranks],
        "owned_square_sums": [rank["agreed"]["own_square_sum"] for rank in ranks],
        "owned_elements": agreed["elements"],
        "has_non_finite": agreed["has_non_finite"],
        "decision": "skip" if agreed["has_non_finite"] else "update",
    }
    if agreed["has_non_finite"]:
        entry = _schemes(ranks, "without_flag")
        finite = all(not isinstance(number, str) for row in entry["applied"] for number in row)
        skipped = [rank["skipped"]["parameters_next"] for rank in ranks]
        return {
            **found,
            "agreed": {"parameters_next": skipped},
            "without_flag": {**entry, "is_finite": finite},
        }
    return {**found, **{scheme: _schemes(ranks, scheme) for scheme in SCHEMES}}


def _fsdp2(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    own = [rank["fsdp2"] for rank in ranks]
    supported = "norm" in own[0]
    mixed = ranks[0]["fsdp2_mixed"]
    return {
        "fsdp2": {
            "is_supported": supported,
            "norm": own[0].get("norm"),
            "local_norms": [entry.get("local_norm") for entry in own],
            "applied": [entry.get("applied") for entry in own],
            "reason": own[0].get("reason"),
        },
        "fsdp2_mixed": {
            "is_supported": "norm" in mixed,
            "norm": mixed.get("norm"),
            "reason": mixed.get("reason"),
        },
    }


def calculated(case: str, scheme: str) -> dict[str, Any]:
    """The same quantities from the calculator."""
    config = {k: v for k, v in SETTINGS.config.items() if k != "cases"}
    found = values("clip_ownership", **CASES[case], **config, scheme=scheme)
    return {key: found[key] for key in QUANTITIES}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Per-rank lists for every case and scheme, FSDP2, one process, and the calculator."""
    return {
        **{case: _case([output[case] for output in outputs]) for case in CASES},
        **_fsdp2(outputs),
        "one_process": outputs[0]["one_process"],
        "calculator": {
            case: {scheme: calculated(case, scheme) for scheme in SCHEMES} for case in FINITE
        },
    }
