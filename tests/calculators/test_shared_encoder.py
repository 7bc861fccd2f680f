"""shared_encoder: numbers of the contract, torch autograd for every scheme."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import values, verdict

NAME = "shared_encoder"
PAIRS = st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=2, max_size=5)


def test_default_numbers() -> None:
    found = values(NAME)
    assert found["local_losses"] == pytest.approx([0.12692801, 4.01814993], abs=5e-9)
    assert found["before_ddp_w_q"] == pytest.approx([-0.23840584, 3.92805516], abs=5e-9)
    assert found["before_ddp_w_d"] == pytest.approx([1.84482466, 1.84482466], abs=5e-9)
    assert found["after_ddp_w_q"] == pytest.approx(1.8448246580536993, rel=1e-14)
    assert found["after_ddp_w_d"] == pytest.approx(1.8448246580536993, rel=1e-14)
    assert found["w_q_next"] == pytest.approx(1 - 0.18448246580536993, rel=1e-14)
    assert verdict(NAME) == "same"


def test_the_detached_gather_halves_the_document_tower_here() -> None:
    found = values(NAME, scheme="detached_remote")
    assert found["after_ddp_w_d"] == pytest.approx(0.9224123290268496, rel=1e-14)
    assert found["after_ddp_w_q"] == found["reference_w_q"]
    assert verdict(NAME, scheme="detached_remote") == "document_tower_differs"


def test_a_lone_pair_learns_nothing() -> None:
    found = values(NAME, scheme="local_pairs_only")
    assert found["local_losses"] == [0, 0]
    assert (found["after_ddp_w_q"], found["after_ddp_w_d"]) == (0, 0)


def autograd(a: Any, b: Any, w_q: float, w_d: float, scheme: str) -> tuple[Any, Any]:
    """Per-rank gradients of both weights by torch: the gather's backward sums over all losses."""
    n = len(a)
    a, b = (torch.tensor(side, dtype=torch.float64) for side in (a, b))
    weight_q = torch.full((n,), w_q, dtype=torch.float64, requires_grad=True)
    weight_d = torch.full((n,), w_d, dtype=torch.float64, requires_grad=True)
    q, d = weight_q * a, weight_d * b
    total = torch.zeros((), dtype=torch.float64)
    for i in range(n):
        others = d
        if scheme == "detached_remote":
            others = torch.stack([d[j] if j == i else d[j].detach() for j in range(n)])
        if scheme == "local_pairs_only":
            total = total - torch.log_softmax(q[i] * d[i : i + 1], 0)[0]
        else:
            total = total - torch.log_softmax(q[i] * others, 0)[i]
    grads = torch.autograd.grad(total, [weight_q, weight_d])
    return grads[0].tolist(), grads[1].tolist()


@settings(deadline=None, max_examples=30)
@given(
    PAIRS,
    st.floats(-2, 2),
    st.floats(-2, 2),
    st.sampled_from(("differentiable_gather", "detached_remote", "local_pairs_only")),
)
def test_rank_gradients_are_those_of_autograd(
    pairs: Any, w_q: float, w_d: float, scheme: str
) -> None:
    a, b = zip(*pairs, strict=True)
    found = values(NAME, a=a, b=b, w_q=w_q, w_d=w_d, scheme=scheme)
    grad_q, grad_d = autograd(a, b, w_q, w_d, scheme)
    assert found["before_ddp_w_q"] == pytest.approx(grad_q, abs=1e-12)
    assert found["before_ddp_w_d"] == pytest.approx(grad_d, abs=1e-12)
