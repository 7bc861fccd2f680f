"""The recorded AdamW path against the paper's formulas, with exact rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from experiments.adamw_update import GRADIENTS
from tests.experiments.helpers import record

RESULTS = record("adamw_update").results


def exact_path(gradients: list[float]) -> list[float]:
    """theta after each step; moments in exact arithmetic, one square root in float."""
    beta1, beta2, lr, decay = (
        Fraction(9, 10),
        Fraction(95, 100),
        Fraction(6, 10**4),
        Fraction(1, 10),
    )
    m = v = Fraction(0)
    theta, path = Fraction(1), []
    for t, gradient in enumerate(map(Fraction, gradients), start=1):
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient**2
        root = Fraction(math.sqrt(v / (1 - beta2**t)))
        theta *= 1 - lr * decay
        theta -= lr * (m / (1 - beta1**t)) / (root + Fraction(1, 10**8))
        path.append(float(theta))
    return path


@pytest.mark.parametrize("form", ["single", "foreach", "fused", "calculator"])
def test_ten_steps_follow_the_formula(form: str) -> None:
    assert RESULTS["ten_steps"]["gradients"] == GRADIENTS
    assert RESULTS["ten_steps"][f"theta_{form}"] == pytest.approx(exact_path(GRADIENTS), abs=1e-14)


def test_a_zero_gradient_moves_and_a_missing_one_does_not() -> None:
    zero, none = RESULTS["zero_gradient"], RESULTS["none_gradient"]
    assert zero["theta"] == pytest.approx(exact_path([0.5, 0.0, 0.0]), abs=1e-14)
    assert zero["theta"][-1] == pytest.approx(0.9984940908032164, abs=1e-15)
    assert zero["step_counter"] == 3
    assert none["theta"] == [zero["theta"][0]] * 3
    assert none["step_counter"] == 1


def test_groups_count_a_shared_embedding_once() -> None:
    groups = RESULTS["groups"]
    assert groups == RESULTS["groups_calculator"]
    # 12 layers of width 768: 12 width^2 matrices, and 13 vectors of width with biases and norms.
    width, layers = 768, 12
    assert groups["decayed_parameters"] == (50304 + 1024) * width + layers * 12 * width**2
    assert groups["undecayed_parameters"] == layers * 13 * width + 2 * width
    assert groups["tied_counted_twice"] - groups["total_parameters"] == 50304 * width


def test_resuming_needs_the_whole_state() -> None:
    resume = RESULTS["resume"]
    assert resume["with_state"] == {
        "first_step_that_differs": None, "first_difference": 0.0, "final_max_abs_difference": 0.0,
    }  # fmt: skip
    for variant in ("without_state", "without_step_counter"):
        assert resume[variant]["first_step_that_differs"] == 11
        assert resume[variant]["final_max_abs_difference"] > 1e-3
