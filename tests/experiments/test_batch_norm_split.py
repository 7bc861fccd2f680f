"""BatchNorm by hand, and which normalisations survive a split."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tests.experiments.helpers import record

RESULTS = record("batch_norm_split").results


def normalised(values: list[float]) -> npt.NDArray[np.float64]:
    """(x - mean) / sqrt(variance + 1e-5), the population variance."""
    x = np.array(values)
    result: npt.NDArray[np.float64] = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    return result


def test_the_layer_normalises_what_it_sees() -> None:
    layer = RESULTS["layer"]
    full = normalised([1, 2, 3, 10])
    split = np.concatenate([normalised([1, 2]), normalised([3, 10])])
    assert layer["full_output"] == pytest.approx(full, abs=1e-14)
    assert layer["split_output"] == pytest.approx(split, abs=1e-14)
    assert layer["max_abs_difference"] == pytest.approx(np.abs(full - split).max(), abs=1e-14)
    assert (layer["full_mean"], layer["full_variance"]) == (4.0, 12.5)


@pytest.mark.parametrize("way", ["accumulation", "two_ranks"])
def test_only_batch_statistics_break_the_split(way: str) -> None:
    for norm in ("layer_norm", "none", "batch_norm_eval"):
        assert RESULTS[norm][way]["max_abs_error"] < 1e-14
        assert RESULTS[norm][way]["cosine"] == pytest.approx(1, abs=1e-12)
    assert RESULTS["batch_norm"][way]["relative_error"] > 0.1
    assert RESULTS["batch_norm"][way]["cosine"] < 0.99


def test_two_ranks_err_exactly_as_two_micro_steps() -> None:
    ways = RESULTS["batch_norm"]
    assert ways["two_ranks"]["relative_error"] == pytest.approx(
        ways["accumulation"]["relative_error"], rel=1e-9
    )
