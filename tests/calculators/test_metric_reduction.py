"""metric_reduction: numbers of the contract, and a metric recomputed from single samples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "metric_reduction"


def test_the_mean_of_ratios_is_not_the_ratio_of_sums() -> None:
    found = values(NAME)
    assert found["ratio_of_sums"] == 91 / 102
    assert found["mean_of_ratios"] == pytest.approx(0.7)
    assert found["difference"] == pytest.approx(0.7 - 91 / 102)
    assert verdict(NAME) == "lower"
    assert verdict(NAME, correct=[2, 10], total=[2, 100]) == "higher"


def test_an_empty_rank_has_no_ratio() -> None:
    found = values(NAME, correct=[0, 3], total=[0, 4])
    assert (found["ratio_of_sums"], found["mean_of_ratios"], found["difference"]) == (
        0.75, None, None,
    )  # fmt: skip
    assert notices(NAME, correct=[0, 3], total=[0, 4]) == ["empty_rank_has_no_ratio"]
    assert values(NAME, correct=[0, 0], total=[0, 0])["ratio_of_sums"] is None
    assert notices(NAME, correct=[0, 0], total=[0, 0]) == ["nothing_counted"]


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=8), min_size=1, max_size=5))
def test_the_ratio_of_sums_is_the_mean_over_samples(ranks: Any) -> None:
    found = values(NAME, correct=[sum(rank) for rank in ranks], total=[len(r) for r in ranks])
    samples = [sample for rank in ranks for sample in rank]
    assert found["ratio_of_sums"] == pytest.approx(float(Fraction(sum(samples), len(samples))))
    means = sum((Fraction(sum(rank), len(rank)) for rank in ranks), Fraction()) / len(ranks)
    assert found["mean_of_ratios"] == pytest.approx(float(means))
