"""Pyodide computes what CPython computes, at 200 random inputs of each calculator, and fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from calculators import contract
from tests.browser.examples import examples
from tests.browser.test_runtime import served

COUNT = 200
# Its distances are rounding where a split is right, so they have no digits to compare; the page's
# own test compares it with the recorded run.
NAMES = [name for name in contract.names() if name != "transformer_ledger"]
LIMIT_MS = 5.0
CHECK = """
import json
import math
import time
from calculators import contract

TOLERANCE = 1e-12

def leaves(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]

def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)

def differs(here, there, scale):
    if not (is_number(here) and is_number(there)):
        return here != there
    # A difference of large numbers keeps the rounding of the large ones.
    return not math.isclose(here, there, rel_tol=TOLERANCE, abs_tol=1e-15 * scale)

wrong, times, compared = [], {}, 0
for name, cases in json.load(open("/home/pyodide/cases.json")).items():
    for inputs, expected in cases:
        _, result = contract.evaluate(name, inputs)
        found = json.loads(json.dumps(result.values, allow_nan=False))
        here, there = leaves(found), leaves(expected)
        numbers = [abs(leaf) for leaf in (*leaves(inputs), *there) if is_number(leaf)]
        scale = max([1.0, *numbers])
        compared += len(there)
        if len(here) != len(there) or any(differs(a, b, scale) for a, b in zip(here, there)):
            wrong.append([name, inputs, found, expected])
    durations = []
    for _ in range(15):
        started = time.perf_counter()
        contract.evaluate(name)
        durations.append(1000 * (time.perf_counter() - started))
    times[name] = min(durations)
json.dumps({"wrong": wrong[:3], "count": len(wrong), "compared": compared, "times": times})
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The runtime with CPython's answers beside it."""
    cases = {
        name: [
            [inputs, contract.evaluate(name, inputs)[1].values] for inputs in examples(name, COUNT)
        ]
        for name in NAMES
    }
    yield from served(tmp_path, CHECK, {"cases.json": json.dumps(cases)})


def test_values_agree_and_an_evaluation_is_fast(address: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(address)
    page.wait_for_function("document.title.startsWith('{')", timeout=300_000)
    answer = json.loads(page.title())
    page.close()
    assert answer.get("error") is None, answer
    assert answer["count"] == 0, answer["wrong"]
    assert answer["compared"] > 10_000
    slow = {n: t for n, t in answer["times"].items() if t > LIMIT_MS}
    print({name: round(took, 2) for name, took in answer["times"].items()})
    assert slow == {}
