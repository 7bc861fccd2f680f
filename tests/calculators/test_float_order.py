"""float_order: known orders, exact sums by rational arithmetic, torch's rounding of each type."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "float_order"
TYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16}


def test_the_order_decides_the_default_sum() -> None:
    found = values(NAME)
    assert found["exact"] == 2
    assert (found["sequential"], found["pairwise"], found["per_rank_then_sum"]) == (1, 0, 0)
    assert found["all_equal"] is False
    assert verdict(NAME) == "orders_differ"
    assert values(NAME, values=[1, 2, 3])["all_equal"] is True


def test_single_precision_loses_the_one() -> None:
    found = values(NAME, values=[1e8, -1e8, 1], dtype="float32")
    assert (found["sequential"], found["pairwise"], found["exact"]) == (1, 0, 1)


@pytest.mark.parametrize(("terms", "dtype"), [([7e4, 1], "float16"), ([1e39], "float32")])
def test_overflow_is_said_and_nothing_infinite_is_returned(terms: list[float], dtype: str) -> None:
    found = values(NAME, values=terms, dtype=dtype)
    assert found["sequential"] is None
    assert found["exact"] is None
    assert found["all_equal"] is False
    assert notices(NAME, values=terms, dtype=dtype) == ["overflow"]


@settings(deadline=None)
@given(
    st.lists(st.floats(-1000, 1000), min_size=1, max_size=12),
    st.sampled_from(sorted(TYPES)),
    st.integers(1, 4),
)
def test_sums_against_torch_and_fractions(terms: list[float], dtype: str, ranks: int) -> None:
    found = values(NAME, values=terms, dtype=dtype, ranks=ranks)
    rounded = torch.tensor(terms, dtype=torch.float64).to(TYPES[dtype])
    exact = sum((Fraction(float(term)) for term in rounded), Fraction())
    assert found["exact"] == float(exact)
    total = torch.zeros((), dtype=TYPES[dtype])
    for term in rounded:
        total = total + term
    assert found["sequential"] == float(total)
    parts = [torch.zeros((), dtype=TYPES[dtype]) for _ in range(ranks)]
    for rank, piece in enumerate(rounded.tensor_split(ranks)):
        for term in piece:
            parts[rank] = parts[rank] + term
    whole = torch.zeros((), dtype=TYPES[dtype])
    for part in parts:
        whole = whole + part
    assert found["per_rank_then_sum"] == float(whole)
