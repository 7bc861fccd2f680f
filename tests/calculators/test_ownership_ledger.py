"""ownership_ledger: numbers of the contract, and layouts built from explicit elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculators.specs import InputError
from tests.calculators.helpers import notices, values, verdict

NAME = "ownership_ledger"
ELEMENTS = st.lists(st.lists(st.floats(-5, 5), min_size=0, max_size=3), min_size=2, max_size=2)


def tensor(name: str, kind: str, squares: Sequence[float | None], of: str | None = None) -> Any:
    return {"name": name, "kind": kind, "square_norms": squares, "of": of}


def test_shards_and_a_replica() -> None:
    found = values(NAME)
    assert found["correct_norm"] == 13
    assert found["used_norm"] == [17.69180601295413] * 2
    assert found["correct_coefficient"] == 1 / 13
    assert found["counted"] == [[True, True], [True, True]]
    assert verdict(NAME) == "too_small"
    assert values(NAME, count="owned_once")["used_norm"] == [13, 13]
    assert verdict(NAME, count="owned_once") == "same"


def test_local_norms_make_the_ranks_disagree() -> None:
    found = values(NAME, count="local_only")
    assert found["used_norm"] == [pytest.approx(math.sqrt(153)), pytest.approx(math.sqrt(160))]
    assert found["ranks_agree"] is False
    assert verdict(NAME, count="local_only") == "ranks_disagree"


def test_a_tied_copy_is_counted_with_what_it_copies() -> None:
    tensors = [tensor("table", "replica", [4, 4]), tensor("head", "tied_copy", [4, 4], "table")]
    assert values(NAME, tensors=tensors, count="owned_once")["correct_norm"] == 2
    assert values(NAME, tensors=tensors)["used_norm"] == [4, 4]
    with pytest.raises(InputError, match=r"tensors\[0\]\.of: no_such_tensor"):
        values(NAME, tensors=[tensor("head", "tied_copy", [4, 4], "table")])


def test_experts_live_on_the_ranks_that_hold_them() -> None:
    tensors = [tensor("expert", "expert", [9, None]), tensor("other", "expert", [None, 16])]
    found = values(NAME, tensors=tensors, count="owned_once")
    assert found["correct_norm"] == 5
    assert found["counted"] == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("order", "norm", "coefficient"),
    [
        (["sync", "unscale", "norm", "clip"], 13, 1 / 13),
        (["sync", "norm", "unscale", "clip"], 13 * 8, 1 / 104),
        (["sync", "unscale", "clip", "norm"], 13, 1),
    ],
)
def test_the_order_decides_the_norm(order: list[str], norm: float, coefficient: float) -> None:
    tensors = [tensor("w", "shard", [9 * 64, 16 * 64]), tensor("n", "replica", [144 * 64] * 2)]
    inputs = {"tensors": tensors, "loss_scale": 8, "order": order, "count": "owned_once"}
    found = values(NAME, **inputs)
    assert found["correct_norm"] == 13
    assert found["used_norm"] == [norm, norm]
    assert found["used_coefficient"] == [pytest.approx(coefficient)] * 2
    assert ("clip_before_norm" in notices(NAME, **inputs)) == (coefficient == 1)


def test_a_norm_before_the_synchronisation_is_local() -> None:
    order = ["unscale", "norm", "sync", "clip"]
    assert values(NAME, order=order, count="owned_once")["ranks_agree"] is False


def test_replicas_that_differ_were_not_synchronised() -> None:
    assert notices(NAME, tensors=[tensor("n", "replica", [4, 5])]) == ["replicas_differ"]


@given(ELEMENTS, st.lists(st.floats(-5, 5), max_size=3))
def test_the_norm_is_that_of_the_concatenated_elements(shards: Any, replica: Any) -> None:
    squares = [math.fsum(x * x for x in shard) for shard in shards]
    copy = math.fsum(x * x for x in replica)
    tensors = [tensor("w", "shard", squares), tensor("n", "replica", [copy, copy])]
    whole = [*shards[0], *shards[1], *replica]
    found = values(NAME, tensors=tensors, count="owned_once")
    assert found["correct_norm"] == pytest.approx(math.hypot(*whole), abs=1e-12)
