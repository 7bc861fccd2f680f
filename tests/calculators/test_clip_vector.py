"""clip_vector: numbers of the contract, torch's two clips, geometry."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "clip_vector"
VECTORS = st.integers(1, 5).flatmap(
    lambda n: st.tuples(*(st.lists(st.floats(-9, 9), min_size=n, max_size=n) for _ in range(2)))
)


def test_global_norm_against_elements() -> None:
    found = values(NAME)
    assert found["norm"] == 5
    assert found["global_clip"] == pytest.approx([0.6, 0.8])
    assert found["element_clip"] == [1, 1]
    angle = math.degrees(math.atan2(0.8, 0.6) - math.atan2(1, 1))
    assert found["angle_degrees"] == pytest.approx(angle)
    assert verdict(NAME) == "one_vector"


def test_the_clip_of_a_sum_is_not_the_sum_of_clips() -> None:
    inputs = {"gradient": [3, 0], "second_gradient": [0, 4]}
    found = values(NAME, **inputs)
    assert found["clip_of_sum"] == pytest.approx([0.6, 0.8])
    assert found["sum_of_clips"] == [1, 1]
    assert found["difference"] == pytest.approx(math.hypot(0.4, 0.2))
    assert verdict(NAME, **inputs) == "orders_differ"


def test_a_zero_vector_has_no_angle() -> None:
    assert values(NAME, gradient=[0, 0])["angle_degrees"] is None
    assert notices(NAME, gradient=[0, 0]) == ["zero_vector_has_no_angle"]
    assert verdict(NAME, gradient=[0.3, 0.4]) == "inside"


def torch_clip(gradient: list[float], max_norm: float) -> list[float]:
    parameter = torch.zeros(len(gradient), dtype=torch.float64, requires_grad=True)
    parameter.grad = torch.tensor(gradient, dtype=torch.float64)
    torch.nn.utils.clip_grad_norm_([parameter], max_norm)
    clipped: list[float] = parameter.grad.tolist()
    return clipped


def to_length_one(vector: list[float]) -> list[float]:
    """Products of the smallest numbers would vanish: divide by the largest entry first."""
    largest = max(map(abs, vector))
    scaled = [entry / largest for entry in vector]
    return [entry / math.hypot(*scaled) for entry in scaled]


@example(([3.573393157187922e-161], [0.0]), 1.0)
@settings(deadline=None)
@given(VECTORS, st.floats(0.5, 20))
def test_clips_are_those_of_torch(vectors: Any, max_norm: float) -> None:
    g, h = vectors
    found = values(NAME, gradient=g, second_gradient=h, max_norm=max_norm)
    # torch adds 1e-6 to the norm: with norms of at least 0.5 that is 2e-6 relative.
    assert found["global_clip"] == pytest.approx(torch_clip(g, max_norm), rel=3e-6, abs=1e-12)
    total = [a + b for a, b in zip(g, h, strict=True)]
    assert found["clip_of_sum"] == pytest.approx(torch_clip(total, max_norm), rel=3e-6, abs=1e-12)
    clamped = torch.tensor(g, dtype=torch.float64).clamp(-max_norm, max_norm)
    assert found["element_clip"] == clamped.tolist()
    assert math.hypot(*found["clip_of_sum"]) <= max_norm * (1 + 1e-12)
    if found["angle_degrees"] is not None:
        u, v = (to_length_one(found[key]) for key in ("global_clip", "element_clip"))
        cosine = sum(a * b for a, b in zip(u, v, strict=True))
        assert math.cos(math.radians(found["angle_degrees"])) == pytest.approx(cosine, abs=1e-9)
