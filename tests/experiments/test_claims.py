"""Claims tell what holds from what does not, on both sides of every bound."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.claims import (
    allclose,
    bitwise_equal,
    constant,
    differs_by_at_least,
    evaluate,
    first_broken,
    holds,
    largest_difference,
    same_bits,
    within,
)

RESULTS = {"a": {"x": 1.0, "list": [1.0, 2.0]}, "b": {"x": 1.25, "list": [1.0, 2.5]}, "n": "nan"}
FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE, st.floats(0, 10), st.floats(0, 1))
def test_within_is_the_stated_inequality(a: float, b: float, atol: float, rtol: float) -> None:
    assert within(a, b, rtol, atol) == (abs(a - b) <= atol + rtol * abs(b))


@given(FINITE, st.floats(0, 1e9))
def test_a_non_finite_number_equals_only_itself(a: float, atol: float) -> None:
    for odd in (math.nan, math.inf, -math.inf):
        assert within(odd, odd, 0.0, atol)
        assert not within(a, odd, 1.0, atol)
        assert not within(odd, a, 1.0, atol)
    assert not within(math.inf, -math.inf, 1.0, atol)


def test_bits_tell_signed_zeros_booleans_and_strings() -> None:
    assert same_bits([0.0, {"a": 1}], [0, {"a": 1.0}])
    assert not same_bits(0.0, -0.0)
    assert not same_bits(True, 1)
    assert not same_bits([1.0], [1.0, 1.0])
    assert not same_bits({"a": 1}, {"b": 1})
    assert not same_bits(1.0, math.nextafter(1.0, 2.0))
    assert same_bits("nan", "nan")


def test_a_difference_to_nan_is_infinite() -> None:
    assert largest_difference([1.0, "nan"], [1.0, 2.0]) == math.inf
    assert largest_difference([1.0, "nan"], [1.5, "nan"]) == 0.5
    assert largest_difference([None], ["nan"]) == 0.0


def test_evaluated_claims_keep_both_values_and_where_they_are() -> None:
    claims = (
        allclose("near", "a.x", "b.x", 0.25),
        differs_by_at_least("apart", "a.list", "b.list", 0.6),
        bitwise_equal("no_number", "n", constant("nan"), observation=True),
    )
    assert evaluate(claims, RESULTS) == [
        {
            "name": "near", "relation": "allclose", "rtol": 0.0, "atol": 0.25,
            "left": {"path": "results.a.x", "value": 1.0},
            "right": {"path": "results.b.x", "value": 1.25},
            "observation": False, "held": True,
        },
        {
            "name": "apart", "relation": "differs_by_at_least", "at_least": 0.6,
            "left": {"path": "results.a.list", "value": [1.0, 2.0]},
            "right": {"path": "results.b.list", "value": [1.0, 2.5]},
            "observation": False, "held": False,
        },
        {
            "name": "no_number", "relation": "bitwise_equal",
            "left": {"path": "results.n", "value": "nan"}, "right": {"value": "nan"},
            "observation": True, "held": True,
        },
    ]  # fmt: skip


def test_only_an_observation_may_fail() -> None:
    seen = bitwise_equal("seen", "a.x", "b.x", observation=True)
    assert first_broken(evaluate([seen], RESULTS)) is None
    claimed = bitwise_equal("claimed", "a.x", "b.x")
    broken = first_broken(evaluate([seen, claimed], RESULTS))
    assert broken is not None
    assert broken["name"] == "claimed"


def test_lists_of_other_lengths_are_an_error() -> None:
    with pytest.raises(ValueError, match="argument 2 is longer"):
        holds("allclose", [1.0], [1.0, 2.0], {"rtol": 0.0, "atol": 1.0})


def test_an_unknown_relation_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^relation 'about' is unknown$"):
        holds("about", 1, 1, {})
