"""step_coordination: torch's own GradScaler update against the scales, replicas that drift."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "step_coordination"
FLAGS = st.lists(st.lists(st.booleans(), min_size=2, max_size=2), min_size=1, max_size=12)


def test_an_agreed_skip_keeps_the_ranks_equal() -> None:
    found = values(NAME)
    assert found["updates_done"] == [4, 4]
    assert found["max_divergence"] == 0
    assert found["first_divergent_step"] is None
    assert [row[0] for row in found["scales"]] == [65536, 65536, 32768, 32768, 32768, 65536]
    assert verdict(NAME) == "agreed_skip"
    assert notices(NAME) == ["overflow"]


def test_a_rank_that_skips_alone_never_comes_back() -> None:
    found = values(NAME, decision="local")
    assert found["first_divergent_step"] == 1
    assert found["updates_done"] == [4, 5]
    gaps = [abs(a - b) for a, b in found["parameters"]]
    assert gaps == pytest.approx([0, 0, 0.1, 0.1, 0.1, 0.1])
    assert verdict(NAME, decision="local") == "diverged"


def test_without_an_overflow_both_decisions_agree() -> None:
    gradients = [[1, 2], [3, -1]]
    both = [values(NAME, gradients=gradients, decision=d) for d in ("agreed", "local")]
    assert both[0] == both[1]
    assert verdict(NAME, gradients=gradients) == "no_overflow"


def test_more_ranks_need_no_new_gradients() -> None:
    assert len(values(NAME, ranks=5)["updates_done"]) == 5


def scaler_scales(flags: list[bool], interval: int) -> list[float]:
    """Scales after each step from torch's fused scale update, as GradScaler.update calls it."""
    scale = torch.tensor([65536.0], dtype=torch.float32)
    tracker = torch.tensor([0], dtype=torch.int32)
    scales = [65536.0]
    for flag in flags:
        found = torch.tensor([float(flag)])
        torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, interval)
        scales.append(float(scale))
    return scales


@settings(deadline=None)
@given(FLAGS, st.integers(1, 4))
def test_scales_follow_torch(flags: Any, interval: int) -> None:
    gradients = [["inf" if bad else 1.0 for bad in row] for row in flags]
    inputs: dict[str, Any] = {"gradients": gradients, "growth_interval": interval}
    agreed = values(NAME, **inputs)
    any_bad = [any(row) for row in flags]
    assert [row[0] for row in agreed["scales"]] == scaler_scales(any_bad, interval)
    assert agreed["updates_done"] == [any_bad.count(False)] * 2
    local = values(NAME, **inputs, decision="local")
    for rank in range(2):
        own = [row[rank] for row in flags]
        assert [row[rank] for row in local["scales"]] == scaler_scales(own, interval)
        assert local["updates_done"][rank] == own.count(False)
