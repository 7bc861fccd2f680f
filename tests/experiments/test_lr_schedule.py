"""The kept curve against the formula in exact places and in higher precision."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file

from experiments.record import FOLDER
from tests.experiments.helpers import record

RECORD = record("lr_schedule")
RESULTS = RECORD.results


@pytest.fixture(scope="module")
def curve() -> dict[str, npt.NDArray[np.float64]]:
    assert RECORD.tensors is not None
    found: dict[str, npt.NDArray[np.float64]] = load_file(FOLDER / RECORD.tensors["file"])
    return found


def test_every_update_has_the_stated_rate(curve: dict[str, npt.NDArray[np.float64]]) -> None:
    i = np.arange(19073, dtype=np.longdouble)
    r = (i - 715) / (19073 - 715)
    high, low = np.longdouble("6e-4"), np.longdouble("6e-5")
    decay = low + (1 + np.cos(np.longdouble("3.14159265358979323846") * r)) / 2 * (high - low)
    expected = np.where(i < 715, high * (i + 1) / 715, decay)
    assert curve["torch_lr"].shape == (19073,)
    assert np.abs(curve["torch_lr"] - expected).max() < 1e-17
    assert np.abs(curve["calculator_lr"] - expected).max() < 1e-17


def test_the_summary_is_the_curves(curve: dict[str, npt.NDArray[np.float64]]) -> None:
    errors = np.abs(curve["torch_lr"] - curve["calculator_lr"])
    assert np.array_equal(errors, curve["abs_error"])
    schedule = RESULTS["schedule"]
    assert schedule["max_abs_error"] == errors.max()
    assert schedule["index_of_max_error"] == errors.argmax()
    assert schedule["num_bitwise_equal"] == (errors == 0).sum()
    assert schedule["first_lr"] == curve["torch_lr"][0]
    assert schedule["lr_at_last_executed"] == curve["torch_lr"][-1]
    assert RESULTS["boundaries"]["torch"] == list(curve["torch_lr"][RESULTS["boundaries"]["index"]])


def test_the_known_places_have_the_known_rates() -> None:
    assert RESULTS["boundaries"]["index"] == [0, 714, 715, 9894, 19072]
    assert RESULTS["boundaries"]["torch"] == pytest.approx(
        [8.391608391608392e-07, 6e-4, 6e-4, 3.3e-4, 6.000000395350947e-05], rel=1e-13
    )
    assert RESULTS["schedule"]["lr_after_last_step"] == pytest.approx(6e-5, rel=1e-13)
    assert RESULTS["stepped_per_micro_step"]["floor_reached_at_update"] == -(-19073 // 8)
    assert RESULTS["numerator_i"]["first_lr"] == 0.0
