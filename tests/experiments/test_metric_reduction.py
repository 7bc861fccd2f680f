"""Merged metrics as fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.experiments.helpers import record

RESULTS = record("metric_reduction").results


@pytest.mark.parametrize("case", ["unequal", "equal"])
def test_both_reductions_are_these_fractions(case: str) -> None:
    found = RESULTS[case]
    pairs = list(zip(found["correct"], found["total"], strict=True))
    merged = Fraction(sum(found["correct"]), sum(found["total"]))
    mean = sum(Fraction(c, t) for c, t in pairs) / len(pairs)
    assert found["ratio_of_sums"] == pytest.approx(float(merged), abs=1e-15)
    assert found["mean_of_ratios"] == pytest.approx(float(mean), abs=1e-15)
    assert found["difference"] == pytest.approx(float(mean - merged), abs=1e-15)


def test_an_empty_rank_spoils_the_mean_of_ratios_only() -> None:
    found = RESULTS["empty_rank"]
    assert found["ratio_of_sums"] == 0.9
    assert found["mean_of_ratios"] == "nan"
    assert RESULTS["calculator"]["empty_rank"]["mean_of_ratios"] is None


def test_mean_losses_merge_by_their_tokens() -> None:
    assert RESULTS["loss_mean"]["merged"] == (1.5 * 4 + 3.0 * 8) / 12
    assert RESULTS["loss_mean"]["mean_of_means"] == 2.25


def test_average_is_the_mean_where_the_backend_takes_it() -> None:
    for dtype, found in RESULTS["reduce_op_avg"].items():
        if found["is_supported"]:
            assert (found["value"], found["reason"]) == (1.5, None), dtype
        else:
            assert found["value"] is None, dtype
            assert found["reason"], dtype
    assert RESULTS["reduce_op_avg"]["float32"]["is_supported"]
