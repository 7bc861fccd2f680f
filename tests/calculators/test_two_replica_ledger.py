"""two_replica_ledger: numbers of the contract, torch-free brute force over single tokens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "two_replica_ledger"
REPLICAS = st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), min_size=1, max_size=6)


def test_replica_mean_reverses_the_gradient() -> None:
    found = values(NAME)
    assert found["total_count"] == 10
    assert found["token_gradients"] == [-2, 1]
    assert found["gradient_sums"] == [-4, 8]
    assert found["weights"] == [0.2, 0.8]
    assert found["correct_gradient"] == 0.4
    assert found["implemented_gradient"] == -0.5
    assert found["theta_after_correct"] == pytest.approx(-0.04, rel=1e-15)
    assert found["theta_after_implemented"] == 0.05
    assert found["direction_reversed"] is True
    assert verdict(NAME) == "reversed"


@pytest.mark.parametrize(
    ("scheme", "factor", "key"),
    [
        ("global_tokens", 1, "same"),
        ("sum_collective", 1, "same"),
        ("missing_world_size", 1 / 2, "scaled"),
        ("divided_again_by_accumulation", 1 / 4, "scaled"),
    ],
)
def test_a_scheme_scales_the_token_mean(scheme: str, factor: float, key: str) -> None:
    found = values(NAME, scheme=scheme, accumulation_steps=4)
    assert found["implemented_gradient"] == pytest.approx(0.4 * factor, rel=1e-15)
    assert verdict(NAME, scheme=scheme, accumulation_steps=4) == key


def test_equal_counts_hide_the_mistake() -> None:
    assert verdict(NAME, counts=[5, 5]) == "same"
    assert verdict(NAME, counts=[5, 6], targets=[1, 2]) == "different"


def test_an_empty_replica_has_no_mean_but_the_token_mean_stays() -> None:
    found = values(NAME, counts=[0, 6])
    assert found["correct_gradient"] == 1
    for key in ("implemented_gradient", "theta_after_implemented", "direction_reversed"):
        assert found[key] is None
    assert notices(NAME, counts=[0, 6]) == ["empty_replica_has_no_mean"]
    assert values(NAME, counts=[0, 6], scheme="global_tokens")["implemented_gradient"] == 1


def test_no_valid_tokens_leave_nothing_to_update() -> None:
    found = values(NAME, counts=[0, 0])
    assert {key for key, value in found.items() if value is not None} == {
        "total_count", "token_gradients"
    }  # fmt: skip
    assert notices(NAME, counts=[0, 0]) == ["no_valid_tokens_skip_update"]


@given(REPLICAS, st.floats(-5, 5))
def test_the_gradient_is_that_of_the_mean_over_tokens(
    replicas: list[tuple[int, float]], theta: float
) -> None:
    tokens = [target for count, target in replicas for _ in range(count)]
    if not tokens:
        return

    def loss(at: float) -> float:
        return math.fsum(0.5 * (at - target) ** 2 for target in tokens) / len(tokens)

    step = 1e-3
    slope = (loss(theta + step) - loss(theta - step)) / (2 * step)
    counts, targets = zip(*replicas, strict=True)
    for scheme in ("global_tokens", "sum_collective"):
        found = values(NAME, counts=counts, targets=targets, theta=theta, scheme=scheme)
        assert found["correct_gradient"] == pytest.approx(slope, abs=1e-9)
        assert found["implemented_gradient"] == pytest.approx(slope, abs=1e-9)
