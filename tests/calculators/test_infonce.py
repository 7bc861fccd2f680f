"""infonce: numbers of the contract, and finite differences of the loss in every document."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "infonce"
PAIRS = st.lists(
    st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.integers(0, 2)), min_size=2, max_size=6
)


def loss_of(queries: Any, documents: Any, temperature: float, groups: Any = None) -> float:
    """Mean of -log softmax by the definition; candidates limited to equal `groups`."""
    total = 0.0
    for i, query in enumerate(queries):
        scores = [
            query * d / temperature
            for j, d in enumerate(documents)
            if groups is None or groups[i] == groups[j]
        ]
        own = query * documents[i] / temperature
        top = max(scores)
        total += top + math.log(math.fsum(math.exp(s - top) for s in scores)) - own
    return total / len(queries)


def slopes(queries: Any, documents: Any, temperature: float, groups: Any = None) -> list[float]:
    """Central differences of `loss_of` in each document."""
    found, step = [], 1e-5
    for j in range(len(documents)):
        up, down = list(documents), list(documents)
        up[j] += step
        down[j] -= step
        high = loss_of(queries, up, temperature, groups)
        found.append((high - loss_of(queries, down, temperature, groups)) / (2 * step))
    return found


def test_the_detached_gather_keeps_the_loss_and_loses_the_gradient() -> None:
    found = values(NAME, scheme="detached_remote")
    assert found["loss"] == found["reference_loss"]
    assert found["loss"] == pytest.approx(2.0725389694803913, rel=1e-15)
    assert found["full_gradient"] == pytest.approx([0.92241233, -0.92241233], abs=5e-9)
    assert found["kept_gradient"] == pytest.approx([-0.05960146, -0.98201379], abs=5e-9)
    assert found["max_abs_difference"] == pytest.approx(0.98201379, abs=5e-9)
    assert verdict(NAME, scheme="detached_remote") == "same_loss_other_gradient"


def test_one_pair_per_rank_without_a_gather_learns_nothing() -> None:
    found = values(NAME, scheme="local_pairs_only")
    assert found["loss"] == 0
    assert found["kept_gradient"] == [0, 0]
    assert verdict(NAME, scheme="local_pairs_only") == "no_negatives"


def test_one_rank_has_nothing_remote() -> None:
    assert notices(NAME, owners=[0, 0]) == ["single_rank"]
    for scheme in ("detached_remote", "local_pairs_only"):
        assert values(NAME, owners=[3, 3], scheme=scheme)["max_abs_difference"] == 0


@given(PAIRS, st.floats(0.2, 3))
def test_gradients_are_the_slopes_of_the_loss(pairs: Any, temperature: float) -> None:
    queries, documents, owners = zip(*pairs, strict=True)
    inputs = {"queries": queries, "documents": documents, "owners": owners}
    found = values(NAME, **inputs, temperature=temperature)
    whole = slopes(queries, documents, temperature)
    assert found["reference_loss"] == pytest.approx(loss_of(queries, documents, temperature))
    assert found["kept_gradient"] == pytest.approx(whole, abs=2e-8)
    local = values(NAME, **inputs, temperature=temperature, scheme="local_pairs_only")
    assert local["kept_gradient"] == pytest.approx(
        slopes(queries, documents, temperature, owners), abs=2e-8
    )
    assert local["full_gradient"] == pytest.approx(whole, abs=2e-8)


@given(PAIRS)
def test_kept_and_lost_contributions_add_up(pairs: Any) -> None:
    queries, documents, owners = zip(*pairs, strict=True)
    inputs = {"queries": queries, "documents": documents, "owners": owners}
    kept = values(NAME, **inputs, scheme="detached_remote")["contributions"]
    whole = values(NAME, **inputs)["contributions"]
    for i, row in enumerate(whole):
        for j, value in enumerate(row):
            assert kept[i][j] == (value if owners[i] == owners[j] else 0)
