"""clip_ownership: numbers of the contract, torch's clip on the concatenated elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "clip_ownership"
SHARDS = st.lists(st.lists(st.floats(-50, 50), min_size=1, max_size=4), min_size=1, max_size=4)


def test_one_norm_for_all_ranks() -> None:
    found = values(NAME)
    assert (found["global_norm"], found["coefficients"]) == (5, [0.2, 0.2])
    assert found["owned_square_sums"] == [9, 16]
    assert np.array(found["applied"]) == pytest.approx(np.array([[0.6], [0.8]]))
    assert np.array(found["parameters_next"]) == pytest.approx(np.array([[0.94], [0.92]]))
    assert verdict(NAME) == "same_clipped"


def test_local_shard_norms_exceed_the_limit() -> None:
    found = values(NAME, scheme="local_shard_norm")
    assert found["applied"] == [[1], [1]]
    assert found["clipped_norm"] == 1.4142135623730951
    assert verdict(NAME, scheme="local_shard_norm") == "ranks_disagree"
    same = {"scaled_gradients": [[24], [24]], "scheme": "local_shard_norm"}
    assert verdict(NAME, **same) == "underestimated"


def test_a_replica_counted_on_every_rank_overestimates() -> None:
    assert values(NAME, replicated_scaled_gradient=96)["global_norm"] == 13
    inputs = {"replicated_scaled_gradient": 96, "scheme": "every_replica_counted"}
    assert values(NAME, **inputs)["used_norms"] == [17.69180601295413] * 2
    assert verdict(NAME, **inputs) == "overestimated"


def test_a_zero_gradient_has_coefficient_one() -> None:
    found = values(NAME, scaled_gradients=[[0], [0]])
    assert (found["global_norm"], found["coefficients"]) == (0, [1, 1])


@pytest.mark.parametrize("bad", ["inf", "-inf", "nan"])
def test_one_non_finite_value_stops_every_rank(bad: str) -> None:
    inputs = {"scaled_gradients": [[24, 1], [bad]], "initial_parameter": 3}
    found = values(NAME, **inputs)
    assert found["decision"] == "skip"
    assert found["applied"] is None
    assert found["unscaled"] == [[3, 0.125], [None]]
    assert found["parameters_next"] == [[3, 3], [3]]
    assert notices(NAME, **inputs) == ["non_finite_skips_every_rank"]
    assert values(NAME, replicated_scaled_gradient=bad)["decision"] == "skip"


@settings(deadline=None)
@given(SHARDS, st.one_of(st.none(), st.floats(-50, 50)), st.floats(0.1, 20))
def test_owned_once_is_the_clip_of_one_process(
    shards: Any, replica: float | None, max_norm: float
) -> None:
    inputs = {"scale": 1, "scaled_gradients": shards, "replicated_scaled_gradient": replica}
    found = values(NAME, **inputs, max_norm=max_norm)
    whole = [g for shard in shards for g in shard] + ([] if replica is None else [replica])
    parameter = torch.zeros(len(whole), dtype=torch.float64, requires_grad=True)
    parameter.grad = torch.tensor(whole, dtype=torch.float64)
    norm = float(torch.nn.utils.clip_grad_norm_([parameter], max_norm))
    assert found["global_norm"] == pytest.approx(norm, abs=1e-12)
    applied = [g for row, shard in zip(found["applied"], shards, strict=True)
               for g in row[: len(shard)]]  # fmt: skip
    # torch adds 1e-6 to the norm, so it shrinks by up to 1e-6 / norm more.
    slack = 1e-6 / max(norm, 1e-6) if norm > max_norm - 1e-6 else 1e-12
    clipped = parameter.grad.tolist()[: len(applied)]
    assert applied == pytest.approx(clipped, rel=slack * 1.01 + 1e-12, abs=1e-9)
    assert found["clipped_norm"] <= max(max_norm, 0) * (1 + 1e-12) or norm <= max_norm
    assert found["clipped_norm"] == pytest.approx(min(norm, max_norm), rel=1e-12, abs=1e-12)
    assert math.isfinite(found["clipped_norm"])
