"""Every experiment has a docstring with its keys, a test, and a fresh record whose claims hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from experiments import registry
from experiments.record import FOLDER, ROOT, load, problems

TESTS = ROOT / "tests" / "experiments"
NAMES = list(registry.entries())


def lacks(name: str, tests: Path = TESTS, records: Path = FOLDER) -> list[str]:
    """What an experiment lacks, of its test and its Gloo record."""
    wanted = [tests / f"test_{name}.py", records / f"{name}.gloo.json"]
    return [path.name for path in wanted if not path.is_file()]


def undeclared(source: str, declared: set[str]) -> set[str]:
    """Calculators that a module asks for without naming them in SETTINGS.calculators."""
    asked = set(re.findall(r'\b(?:values|contract\.get|evaluate)\(\s*"(\w+)"', source))
    return asked - declared


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_has_a_test_and_a_record(name: str) -> None:
    assert lacks(name) == []


def test_an_experiment_without_test_or_record_is_red(tmp_path: Path) -> None:
    assert lacks("works", tmp_path, tmp_path) == ["test_works.py", "works.gloo.json"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_committed_record_is_fresh_and_its_claims_hold(path: Path) -> None:
    record = load(path)
    assert path.name == f"{record.name}.json"
    assert record.experiment in NAMES
    assert problems(record) == []
    assert [c["name"] for c in record.claims if not c["held"] and not c["observation"]] == []
    assert [rank["rank"] for rank in record.ranks] == list(range(record.world_size))
    assert all(re.fullmatch("[0-9a-f]{64}", rank["output_sha256"]) for rank in record.ranks)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_record_claims_what_is_right_and_what_differs(path: Path) -> None:
    relations = {claim["relation"] for claim in load(path).claims}
    assert relations <= {"bitwise_equal", "allclose", "differs_by_at_least"}
    assert "differs_by_at_least" in relations, "the wrong path has a claim too"


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_claims_and_lists_the_result_keys(name: str) -> None:
    doc = registry.entries()[name].doc
    assert re.search(r"^(Claim|Observed): ", doc, re.M)
    assert "Result keys" in doc
    results = load(FOLDER / f"{name}.gloo.json").results
    assert [key for key in results if f"`{key}" not in doc and f".{key}" not in doc] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_calculator_that_is_asked_is_a_source(name: str) -> None:
    record = load(FOLDER / f"{name}.gloo.json")
    declared = {Path(source).stem for source in record.sources if source.startswith("calc")}
    assert undeclared(registry.entries()[name].path.read_text(), declared) == set()


def test_an_undeclared_calculator_is_red() -> None:
    assert undeclared('values(\n "lr_schedule", a=1)', {"adamw_step"}) == {"lr_schedule"}


def test_an_experiment_is_what_has_a_run_of_one_context() -> None:
    for name in ("harness", "record", "launch", "run", "worker"):
        assert name not in NAMES
    for entry in registry.entries().values():
        functions = {
            node.name
            for node in ast.parse(entry.path.read_text()).body
            if isinstance(node, ast.FunctionDef)
        }
        assert {"run", "report"} <= functions
