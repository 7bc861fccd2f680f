"""All-reduce of the same contributions over 1, 2, 3 and 4 ranks: the bits of the sum.

Claim: the sum of the same twelve vectors has other bits at other world sizes, while all ranks of
one run hold the same bits. Whether a second run repeats them is recorded as this machine does it.
Each rank adds its share in order, then the ranks all-reduce.

Result keys, for `float32` and `bfloat16`: `<dtype>.world_size_1` to `world_size_4`: `sha256`,
`num_elements_unlike_world_size_1`, `largest_difference` and `relative_difference` (to world size
1; the second is of norms), `largest_error` (to the float64 sum), `second_run_repeats_the_bits`,
`ranks_agree`. `<dtype>.distinct_results`: how many of the four hashes differ.
`vectors`: `num_contributions`, `length`.
"""

from __future__ import annotations

import hashlib
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from experiments.claims import bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

DTYPES = ("float32", "bfloat16")
SIZES = (1, 2, 3, 4)
BITS = {"bits_of_this_machine": True}

SETTINGS = Settings(
    config={"num_contributions": 12, "length": 1024, "scale_exponents": [-4, 4]},
    world_sizes=(4,),
    tolerances={"results": {"rtol": 0.0, "atol": 0.0}}
    | {
        f"results.{dtype}.world_size_{size}.{key}": BITS
        for dtype in DTYPES
        for size in SIZES
        for key in (
            "sha256",
            "num_elements_unlike_world_size_1",
            "largest_difference",
            "relative_difference",
            "largest_error",
        )
    },
)

CLAIMS = (
    *(
        bitwise_equal(f"{d}_{size}_ranks_agree", f"{d}.world_size_{size}.ranks_agree", True)
        for d in DTYPES
        for size in SIZES
    ),
    *(
        bitwise_equal(
            f"{d}_{size}_repeats", f"{d}.world_size_{size}.second_run_repeats_the_bits", True,
            observation=True,
        )
        for d in DTYPES
        for size in SIZES
    ),
    *(
        differs_by_at_least(f"{d}_depends_on_world_size", f"{d}.distinct_results", 1, 1)
        for d in DTYPES
    ),
)  # fmt: skip


def contributions(dtype: str, context: Context) -> Tensor:
    """(contributions, length) vectors of very different sizes, the same on every rank."""
    config = context.config
    generator = torch.Generator().manual_seed(context.seed)
    shape = config["num_contributions"], config["length"]
    low, high = config["scale_exponents"]
    exponents = torch.rand(shape, generator=generator) * (high - low) + low
    vectors = torch.randn(shape, generator=generator) * 10.0**exponents
    return vectors.to(getattr(torch, dtype)).to(context.device)


def reduce_over(group: Any, size: int, rows: Tensor, rank: int) -> Tensor:
    """Sum this rank's share in order, then all-reduce over the group."""
    share = len(rows) // size
    own = rows[rank * share : (rank + 1) * share]
    total = torch.zeros_like(own[0])
    for row in own:
        total += row
    dist.all_reduce(total, group=group)
    return total


def bits(vector: Tensor) -> str:
    """SHA-256 of a vector's bytes."""
    return hashlib.sha256(vector.cpu().view(torch.uint8).numpy().tobytes()).hexdigest()


def measure(dtype: str, groups: dict[int, Any], context: Context) -> dict[str, Any]:
    """One dtype at every world size that this rank takes part in."""
    rows = contributions(dtype, context)
    exact = rows.to(torch.float64).sum(0)
    found: dict[str, Any] = {}
    single = reduce_over(groups[1], 1, rows, 0) if context.rank == 0 else None
    for size in SIZES:
        if context.rank >= size:
            continue
        total = reduce_over(groups[size], size, rows, context.rank)
        again = reduce_over(groups[size], size, rows, context.rank)
        entry: dict[str, Any] = {"sha256": bits(total)}
        entry["second_run_repeats_the_bits"] = bits(again) == entry["sha256"]
        if single is not None:
            gap = (total.to(torch.float64) - single.to(torch.float64)).abs()
            entry["num_elements_unlike_world_size_1"] = int((gap > 0).sum())
            entry["largest_difference"] = gap.max().item()
            entry["relative_difference"] = (gap.norm() / exact.norm()).item()
            entry["largest_error"] = (total.to(torch.float64) - exact).abs().max().item()
        found[f"world_size_{size}"] = entry
    return found


def run(context: Context) -> dict[str, Any]:
    """Every dtype; groups are made by every rank in one order."""
    groups = {size: dist.new_group(list(range(size))) for size in SIZES}
    found = {}
    for dtype in DTYPES:
        found[dtype] = measure(dtype, groups, context)
        dist.barrier()
    return found


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's measurements, and whether the other ranks hold the same bits."""
    config = SETTINGS.config
    results: dict[str, Any] = {
        "vectors": {key: config[key] for key in ("num_contributions", "length")}
    }
    for dtype in DTYPES:
        entries: dict[str, Any] = {}
        for size in SIZES:
            key = f"world_size_{size}"
            hashes = {output[dtype][key]["sha256"] for output in outputs[:size]}
            repeats = all(o[dtype][key]["second_run_repeats_the_bits"] for o in outputs[:size])
            entries[key] = {
                **outputs[0][dtype][key],
                "second_run_repeats_the_bits": repeats,
                "ranks_agree": len(hashes) == 1,
            }
        distinct = {entry["sha256"] for entry in entries.values()}
        results[dtype] = {**entries, "distinct_results": len(distinct)}
    return results
