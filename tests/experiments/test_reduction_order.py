"""The recorded sums again, added in this process in the order of each world size."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from experiments.harness import Context
from experiments.reduction_order import DTYPES, SETTINGS, SIZES, bits, contributions
from tests.experiments.helpers import record

RESULTS = record("reduction_order").results


def rows_of(dtype: str) -> torch.Tensor:
    """The twelve vectors, made as a rank makes them."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    settings: dict[str, Any] = {"seed": SETTINGS.seed, "config": SETTINGS.config}
    context = Context(
        rank=0, local_rank=0, world_size=4, backend="gloo", device=torch.device("cpu"),
        dtype=torch.float64, signal=lambda *_: None, **settings,
    )  # fmt: skip
    try:
        return contributions(dtype, context)
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_rank_adds_in_order(dtype: str) -> None:
    rows = rows_of(dtype)
    total = torch.zeros_like(rows[0])
    for row in rows:
        total += row
    found = RESULTS[dtype]["world_size_1"]
    error = (total.double() - rows.double().sum(0)).abs().max().item()
    assert error == pytest.approx(found["largest_error"], rel=1e-3)
    assert len(bits(total)) == len(found["sha256"]) == 64
    assert bits(total) != bits(-total)


def test_two_float32_halves_differ_from_one_sum_where_recorded() -> None:
    rows = rows_of("float32")

    def added(part: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(part[0])
        for row in part:
            total += row
        return total

    gap = (added(rows[:6]) + added(rows[6:]) - added(rows)).abs()
    found = RESULTS["float32"]["world_size_2"]
    assert int((gap > 0).sum()) == pytest.approx(found["num_elements_unlike_world_size_1"], abs=20)
    assert gap.max().item() == pytest.approx(found["largest_difference"], rel=0.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ranks_of_a_run_agree_and_world_sizes_do_not(dtype: str) -> None:
    found = [RESULTS[dtype][f"world_size_{size}"] for size in SIZES]
    assert all(entry["ranks_agree"] for entry in found)
    hashes = {entry["sha256"] for entry in found}
    assert len(hashes) == RESULTS[dtype]["distinct_results"] > 1
    assert found[0]["largest_difference"] == 0
    assert all(entry["largest_difference"] > 0 for entry in found[1:])


def test_bfloat16_errs_far_more_than_float32() -> None:
    for size in SIZES:
        key = f"world_size_{size}"
        low, high = RESULTS["bfloat16"][key], RESULTS["float32"][key]
        assert low["largest_error"] > 1000 * high["largest_error"]
