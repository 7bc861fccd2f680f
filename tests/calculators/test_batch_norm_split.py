"""batch_norm_split: torch's BatchNorm1d on the whole batch and on the pieces."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.specs import InputError
from tests.calculators.helpers import notices, values, verdict

NAME = "batch_norm_split"


def test_pieces_have_other_statistics() -> None:
    found = values(NAME)
    assert (found["full_mean"], found["full_variance"]) == (4, 12.5)
    assert (found["split_means"], found["split_variances"]) == ([1.5, 6.5], [0.25, 12.25])
    assert verdict(NAME) == "different"
    exact = values(NAME, values=[0, 2, 10, 12], epsilon=0)
    assert exact["split_output"] == [-1, 1, -1, 1]
    assert exact["full_output"] == pytest.approx(
        [-1.1766968, -0.78446454, 0.78446454, 1.1766968], abs=5e-8
    )


def test_equal_pieces_hide_the_difference() -> None:
    assert verdict(NAME, values=[1, 3, 1, 3]) == "same"


def test_a_piece_without_variance_needs_epsilon() -> None:
    inputs = {"values": [1, 2], "epsilon": 0}
    assert values(NAME, **inputs)["split_output"] is None
    assert values(NAME, **inputs)["max_abs_difference"] is None
    assert notices(NAME, **inputs) == ["no_variance"]
    with pytest.raises(InputError, match="split: split_too_fine"):
        values(NAME, values=[1], split=2)


@settings(deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=4, max_size=12), st.integers(1, 2))
def test_outputs_are_those_of_torch(x: list[float], split: int) -> None:
    found = values(NAME, values=x, split=split)
    layer = torch.nn.BatchNorm1d(1, affine=False, dtype=torch.float64)
    whole = torch.tensor(x, dtype=torch.float64)[:, None]
    assert found["full_output"] == pytest.approx(layer(whole)[:, 0].tolist(), abs=1e-9)
    pieces = torch.cat([layer(piece) for piece in whole.tensor_split(split)])
    assert found["split_output"] == pytest.approx(pieces[:, 0].tolist(), abs=1e-9)
