"""What DistributedSampler does to an epoch whose size the ranks do not divide.

Claim: without drop_last the list is padded from its start, so some samples are read twice; with
drop_last the tail is not read at all. Both agree with calculators/sampler_padding, and a mean over
the padded epoch is not the mean over the data set.

Result keys: cases `d10_p4`, `d10_p4_drop_last`, `d3_p8` (fewer samples than ranks), `d12_p4`:
`dataset_size`, `num_replicas`, `drop_last`, `indices` (per replica), `duplicated`, `dropped`,
`effective_size`, `epoch_mean`, `dataset_mean` (of the values 0 .. size - 1). `this_group`:
`indices` (per rank), as the sampler gives them from the process group. `shuffled`: `first_epoch`,
`second_epoch_without_set_epoch`, `second_epoch_with_set_epoch` (indices of rank 0).
`calculator.<case>`: `indices`, `duplicated`, `dropped`, `effective_size`.
"""

from __future__ import annotations

from typing import Any

from torch.utils.data import DistributedSampler

from experiments.calculated import values
from experiments.claims import bitwise_equal, constant, differs_by_at_least
from experiments.harness import Context, Settings

CASES: dict[str, dict[str, Any]] = {
    "d10_p4": {"dataset_size": 10, "num_replicas": 4, "drop_last": False},
    "d10_p4_drop_last": {"dataset_size": 10, "num_replicas": 4, "drop_last": True},
    "d3_p8": {"dataset_size": 3, "num_replicas": 8, "drop_last": False},
    "d12_p4": {"dataset_size": 12, "num_replicas": 4, "drop_last": False},
}
QUANTITIES = ("indices", "duplicated", "dropped", "effective_size")

SETTINGS = Settings(
    config={"cases": CASES, "group_size": 5},
    calculators=("sampler_padding",),
    tolerances={"results": {"rtol": 1e-12, "atol": 0.0}},
    quick=True,
)

CLAIMS = (
    *(
        bitwise_equal(
            f"{case}_{key}_is_the_calculator's", f"{case}.{key}", f"calculator.{case}.{key}"
        )
        for case in CASES
        for key in QUANTITIES
    ),
    differs_by_at_least("padding_moves_the_mean", "d10_p4.epoch_mean", "d10_p4.dataset_mean", 0.1),
    differs_by_at_least(
        "dropping_moves_the_mean",
        "d10_p4_drop_last.epoch_mean",
        "d10_p4_drop_last.dataset_mean",
        0.1,
    ),
    bitwise_equal("a_size_that_divides_is_exact", "d12_p4.epoch_mean", "d12_p4.dataset_mean"),
    bitwise_equal("the_group_pads_too", "this_group.indices", constant([[0, 2, 4], [1, 3, 0]])),
    bitwise_equal(
        "without_set_epoch_the_order_repeats",
        "shuffled.second_epoch_without_set_epoch",
        "shuffled.first_epoch",
    ),
)


def indices_of(size: int, replicas: int, rank: int, drop_last: bool) -> list[int]:
    """One replica's indices, in order."""
    sampler: Any = DistributedSampler(
        range(size), num_replicas=replicas, rank=rank, shuffle=False, drop_last=drop_last
    )
    return list(sampler)


def epoch(case: dict[str, Any]) -> dict[str, Any]:
    """Every replica's indices of one case, and what they do to the epoch."""
    size, replicas = case["dataset_size"], case["num_replicas"]
    rows = [indices_of(size, replicas, rank, case["drop_last"]) for rank in range(replicas)]
    read = [index for row in rows for index in row]
    return {
        **case,
        "indices": rows,
        "duplicated": len(read) - len(set(read)),
        "dropped": size - len(set(read)),
        "effective_size": len(read),
        "epoch_mean": sum(read) / len(read),
        "dataset_mean": (size - 1) / 2,
    }


def shuffled(size: int) -> dict[str, list[int]]:
    """Two epochs of a shuffling sampler, with and without `set_epoch`."""
    sampler: Any = DistributedSampler(range(size), num_replicas=2, rank=0, shuffle=True, seed=0)
    first, repeated = list(sampler), list(sampler)
    sampler.set_epoch(1)
    return {
        "first_epoch": first,
        "second_epoch_without_set_epoch": repeated,
        "second_epoch_with_set_epoch": list(sampler),
    }


def run(context: Context) -> dict[str, Any]:
    """Every case, and this rank's own indices from the group."""
    sampler: Any = DistributedSampler(range(context.config["group_size"]), shuffle=False)
    return {
        "cases": {name: epoch(case) for name, case in context.config["cases"].items()},
        "own": list(sampler),
        "shuffled": shuffled(10),
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's cases, every rank's own indices, and the calculator's."""
    calculator = {}
    for name, case in CASES.items():
        inputs = {"dataset_size": case["dataset_size"], "world_size": case["num_replicas"]}
        found = values("sampler_padding", **inputs, drop_last=case["drop_last"])
        calculator[name] = {key: found[key] for key in QUANTITIES}
    return {
        **outputs[0]["cases"],
        "this_group": {"indices": [output["own"] for output in outputs]},
        "shuffled": outputs[0]["shuffled"],
        "calculator": calculator,
    }
