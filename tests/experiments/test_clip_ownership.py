"""Norms and steps of the record, by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.experiments.helpers import record

RESULTS = record("clip_ownership").results


def stepped(applied: list[list[float]]) -> list[list[float]]:
    """One SGD step of 0.1 from 1."""
    return [[1 - 0.1 * value for value in row] for row in applied]


@pytest.mark.parametrize(
    ("case", "scheme", "norms"),
    [
        ("sharded", "owned_once", [5.0, 5.0]),
        ("sharded", "local_shard_norm", [3.0, 4.0]),
        ("replicated", "owned_once", [13.0, 13.0]),
        ("replicated", "local_shard_norm", [math.sqrt(153), math.sqrt(160)]),
        ("replicated", "every_replica_counted", [math.sqrt(313)] * 2),
    ],
)
def test_a_scheme_uses_the_norm_it_says(case: str, scheme: str, norms: list[float]) -> None:
    found: dict[str, Any] = RESULTS[case][scheme]
    assert found["used_norms"] == pytest.approx(norms, abs=1e-14)
    applied = [
        [value / norm for value in row]
        for row, norm in zip(RESULTS[case]["unscaled"], norms, strict=True)
    ]
    for mine, theirs in zip(applied, found["applied"], strict=True):
        assert theirs == pytest.approx(mine, abs=1e-14)
    for mine, theirs in zip(stepped(applied), found["parameters_next"], strict=True):
        assert theirs == pytest.approx(mine, abs=1e-14)


def test_only_owned_once_ends_at_the_maximal_norm() -> None:
    assert RESULTS["replicated"]["owned_once"]["clipped_norm"] == pytest.approx(1, abs=1e-14)
    assert RESULTS["sharded"]["local_shard_norm"]["clipped_norm"] == pytest.approx(math.sqrt(2))
    over = RESULTS["replicated"]["every_replica_counted"]["clipped_norm"]
    assert over == pytest.approx(13 / math.sqrt(313), abs=1e-14)


def test_a_zero_norm_changes_nothing() -> None:
    assert RESULTS["zero"]["owned_once"]["coefficients"] == [1.0, 1.0]
    assert RESULTS["zero"]["owned_once"]["parameters_next"] == [[1.0], [1.0]]


def test_one_infinite_gradient_is_skipped_or_spreads() -> None:
    found = RESULTS["non_finite"]
    assert (found["has_non_finite"], found["decision"]) == (True, "skip")
    assert found["agreed"]["parameters_next"] == [[1.0], [1.0]]
    assert found["without_flag"]["parameters_next"] == [[1.0], ["nan"]]


def test_fsdp2_clips_by_the_norm_of_all_shards_with_torchs_epsilon() -> None:
    found = RESULTS["fsdp2"]
    assert found["local_norms"] == [3.0, 4.0]
    assert found["norm"] == pytest.approx(5, abs=1e-14)
    assert found["applied"][0] == pytest.approx([3 / (5 + 1e-6)], abs=1e-14)
    assert found["applied"][1] == pytest.approx([4 / (5 + 1e-6)], abs=1e-14)
    assert RESULTS["fsdp2_mixed"]["norm"] == pytest.approx(13, abs=1e-14)
