"""The public cases: right and wrong values that the calculators give at each case's own inputs."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from calculators import contract
from pipeline import expressions

FOLDER = Path(__file__).parents[2] / "content" / "cases"
CASES = {case["id"]: case for case in json.loads((FOLDER / "cases.json").read_text())["cases"]}
COMPUTED = tomllib.loads((FOLDER / "computed.toml").read_text())
COMPARED = sorted(key for key, entry in COMPUTED.items() if entry.get("inputs") != "other")
# What no calculator covers: collectives per rank, two-dimensional keys, an exponential, pairs over
# all samples, a variance of masks.
IN_WORDS = {"EMP-04", "NCE-04", "MET-02", "MET-04", "DRP-01"}


def evaluated(expression: str) -> Any:
    binding = expressions.parse("calc", expression)
    _, result = contract.evaluate(binding.name, json.loads(binding.arguments))
    return expressions.resolve(result.values, binding.path, binding.text)


def leaves(value: Any) -> list[Any]:
    """The numbers of an expected value; a NaN of the case is an undefined value here."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [None if value == "NaN" else value]


def numbers(entry: dict[str, Any], key: str) -> list[Any]:
    found = leaves([evaluated(expression) for expression in entry[key]])
    times = entry.get("times")
    return [value * factor for value in found for factor in times] if times else found


def close(expected: list[Any]) -> list[Any]:
    return [None if v is None else pytest.approx(v, rel=2e-7, abs=1e-12) for v in expected]


def test_every_case_is_computed_or_told_in_words() -> None:
    assert set(CASES) == set(COMPUTED) | IN_WORDS
    assert not set(COMPUTED) & IN_WORDS


@pytest.mark.parametrize("case_id", COMPARED)
def test_right_and_wrong_values(case_id: str) -> None:
    case, entry = CASES[case_id], COMPUTED[case_id]
    expected, wrong = leaves(case["expected"]), leaves(case["wrong_value"])
    if case_id == "SYNC-01":  # the numbers of reductions are the record's, not a calculator's
        expected, wrong = expected[:1], wrong[:1]
    if case_id == "ADAM-06":  # the SGD half of the case has no optimizer state to compute
        expected, wrong = expected[:1], wrong[:1]
    assert numbers(entry, "right") == close(expected)
    assert numbers(entry, "wrong") == close(wrong)


def test_a_case_that_tells_a_difference_has_one() -> None:
    for case_id in set(COMPUTED) - {"SYNC-01", "ADAM-06"}:
        entry = COMPUTED[case_id]
        assert numbers(entry, "right") != numbers(entry, "wrong"), case_id
