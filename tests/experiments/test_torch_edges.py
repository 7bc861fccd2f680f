"""Norms, counters and masks at their edges, by numpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.experiments.helpers import record

RESULTS = record("torch_edges").results
LARGEST = {
    "float32": float(np.finfo(np.float32).max),
    "float16": float(np.finfo(np.float16).max),
    "bfloat16": (2 - 2**-7) * 2.0**127,
}


@pytest.mark.parametrize("case", list(RESULTS["norm"]))
def test_a_norm_overflows_where_its_type_ends(case: str) -> None:
    found, dtype = RESULTS["norm"][case], case.partition("_")[0]
    gradient = np.array(found["gradients"])
    norm = float(np.sqrt(np.square(gradient).sum()))
    assert found["norm_dtype"] == dtype
    assert found["wide_norm"] == pytest.approx(norm, rel=1e-15)
    assert found["wide_clipped"] == pytest.approx(list(gradient / (norm + 1e-6)), rel=1e-12)
    # float16 is summed in float32 and rounded at the end; the others lose their squares.
    largest = LARGEST[dtype]
    reach = largest if dtype == "float16" else np.sqrt(largest)
    assert all(abs(value) <= largest for value in gradient)
    if norm > reach:
        assert found["norm"] == "inf"
        assert found["clipped"] == [0.0, 0.0]
    else:
        assert found["norm"] == pytest.approx(norm, rel=2**-8)
        assert all(value > 0 for value in found["clipped"])


def test_a_bfloat16_norm_is_a_bfloat16() -> None:
    norm = RESULTS["norm"]["bfloat16_plain"]["norm"]
    assert norm == round(float(np.sqrt(3)) * 2**7) / 2**7


def test_a_parameter_listed_twice_is_stepped_twice() -> None:
    found = RESULTS["listed"]
    for how, steps in (("once", 1), ("twice", 2)):
        assert found[how]["step_counter"] == steps
        assert found[how]["has_warned"] is (steps == 2)
        assert found[how]["parameter"] == pytest.approx(1 - steps * 0.1 / (1 + 1e-8), abs=1e-15)
    assert found["two_groups"]["is_accepted"] is False


def test_unscaling_in_a_window_mixes_units() -> None:
    found = RESULTS["scaler"]
    assert found["after_unscale"] == 0.5
    assert found["after_second_backward"] == 0.5 + 1024 * 1.0
    assert found["is_refused"] is True


def test_a_quotient_of_tensors_is_float32() -> None:
    found = RESULTS["quotient"]
    assert found["value"] == float(np.float32(2 / 3))
    assert found["relative_error"] == pytest.approx(abs(float(np.float32(2 / 3)) * 3 / 2 - 1))
    assert found["item_relative_error"] == 0


def test_caching_needs_the_masks_of_its_first_pass() -> None:
    found = RESULTS["cached"]
    assert found["replayed"]["relative_error"] < 1e-15
    assert found["no_dropout"]["relative_error"] < 1e-15
    assert found["not_replayed"]["relative_error"] > 0.05
