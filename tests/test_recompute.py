"""content/recompute.toml: each pair names a value of a record that numpy computes again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calculators import contract

ROOT = Path(__file__).resolve().parents[1]
TASKS = tomllib.loads((ROOT / "content" / "recompute.toml").read_text("utf-8"))["recompute"]


def at(body: Any, path: str) -> Any:
    for step in path.replace("[", ".").replace("]", "").split("."):
        body = body[int(step)] if isinstance(body, list) else body[step]
    return body


@pytest.mark.parametrize(
    "task", TASKS, ids=lambda task: f"{task['experiment']}-{task['pairs'][0][1]}"
)
def test_calculator_and_record_agree(task: dict[str, Any]) -> None:
    path = ROOT / "experiments" / "records" / f"{task['experiment']}.gloo.json"
    record = json.loads(path.read_text("utf-8"))
    values = contract.evaluate(task["calculator"], task["inputs"])[1].values
    for there, here in task["pairs"]:
        np.testing.assert_allclose(at(values, here), at(record, there), rtol=1e-12, atol=1e-15)
