"""Where reductions ran, and what they were worth."""

from __future__ import annotations

import pytest

from tests.experiments.helpers import record

RESULTS = record("ddp_sync").results
RIGHT = (
    "sync_every_micro_step",
    "no_sync_around_both",
    "no_sync_around_backward_only",
    "flag_before_forward",
)


@pytest.mark.parametrize(
    ("variant", "ran_in"),
    [
        ("sync_every_micro_step", [0, 1, 2, 3, 4, 5]),
        ("no_sync_around_both", [2, 5]),
        ("no_sync_around_backward_only", [0, 1, 2, 3, 4, 5]),
        ("flag_before_forward", [2, 5]),
        ("flag_after_forward", [0, 3]),
    ],
)
def test_reductions_ran_in_these_micro_steps(variant: str, ran_in: list[int]) -> None:
    found = RESULTS[variant]
    assert found["reduced_in"] == ran_in
    assert found["total_all_reduces"] == len(ran_in)
    assert found["all_reduces"] == [len(ran_in) // 2] * 2


@pytest.mark.parametrize("variant", RIGHT)
def test_right_variants_are_one_process(variant: str) -> None:
    found = RESULTS[variant]
    assert found["gradient_max_abs_error"] < 1e-15
    assert found["parameter_max_abs_error"] < 1e-15
    assert found["max_rank_divergence"] == 0
    assert found["ranks_parameters_agree"] is True


def test_a_flag_set_too_late_parts_the_ranks() -> None:
    found = RESULTS["flag_after_forward"]
    assert found["ranks_gradients_agree"] is False
    assert found["ranks_parameters_agree"] is False
    assert found["max_rank_divergence"] > 1e-2
    assert found["gradient_relative_error"] > 0.05
