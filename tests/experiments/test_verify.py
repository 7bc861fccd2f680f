"""`verify` names the first value that differs, and tells bit equality from tolerance."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from experiments import compare
from experiments.compare import Comparison, differs, leaves, tolerance_for
from experiments.errors import BadRequest, RunFailed
from experiments.record import FOLDER, Record, load, problems, seal, write
from experiments.run import Finished, Request
from tests.experiments.helpers import FAILING, record

RUN = Request("clip_ownership")


def changed(old: Record, edit: Callable[[dict[str, Any]], None]) -> Record:
    """The record of a run that found something else."""
    body = copy.deepcopy(old.body())
    edit(body["results"])
    return seal(body)


def verified(monkeypatch: pytest.MonkeyPatch, edit: Callable[[dict[str, Any]], None]) -> Comparison:
    """`verify` against a run whose results were edited."""
    again = changed(record("clip_ownership"), edit)
    monkeypatch.setattr(compare, "execute", lambda _request: Finished(again, None))
    return compare.verify(RUN)


def test_the_same_bits_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verified(monkeypatch, lambda _results: None)
    assert found.is_bit_equal
    assert found.sentence() == f"clip_ownership.gloo: bit-equal ({found.num_values} values)"


def test_a_last_bit_is_within_tolerance_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def edit(results: dict[str, Any]) -> None:
        results["fsdp2"]["norm"] += 1e-15

    found = verified(monkeypatch, edit)
    assert not found.is_bit_equal
    assert found.sentence() == (
        f"clip_ownership.gloo: within tolerance ({found.num_values} values; largest difference "
        f"{found.largest:.3g} at results.fsdp2.norm)"
    )


def test_the_first_value_that_differs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def edit(results: dict[str, Any]) -> None:
        results["sharded"]["owned_once"]["used_norms"][1] = 5.5
        results["zero"]["owned_elements"] = 3

    with pytest.raises(RunFailed) as caught:
        verified(monkeypatch, edit)
    assert str(caught.value) == (
        "clip_ownership.gloo: results.sharded.owned_once.used_norms[1] differs: recorded 5.0, "
        "now 5.5, tolerance {'rtol': 1e-12, 'atol': 1e-14}"
    )
    assert caught.value.exit_code == 1


def test_a_missing_or_new_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunFailed) as caught:
        verified(monkeypatch, lambda results: results.pop("one_process"))
    assert str(caught.value) == (
        "clip_ownership.gloo: results.one_process.norm is only in the record; record it anew"
    )
    with pytest.raises(RunFailed) as caught:
        verified(monkeypatch, lambda results: results.update(more=1))
    assert str(caught.value) == (
        "clip_ownership.gloo: results.more is only in the new run; record it anew"
    )


def test_booleans_text_and_null_have_no_tolerance() -> None:
    wide = {"rtol": 1.0, "atol": 1e9}
    assert differs(True, False, wide)
    assert differs("update", "skip", wide)
    assert differs(None, 1.0, wide)
    assert differs("nan", 1.0, wide)
    assert not differs("nan", "nan", wide)
    assert not differs(1.0, 2.0, wide)
    assert not differs("a1", "b2", {"bits_of_this_machine": True})


def test_the_longest_prefix_gives_the_tolerance() -> None:
    tolerances = {"results": {"atol": 1}, "results.a": {"atol": 2}, "results.a.b": {"atol": 3}}
    assert tolerance_for("results.a.b[0]", tolerances) == {"atol": 3}
    assert tolerance_for("results.a.bc", tolerances) == {"atol": 2}
    assert tolerance_for("results.z", tolerances) == {"atol": 1}
    assert tolerance_for("tensors.w", tolerances) == {"rtol": 0.0, "atol": 0.0}


def test_leaves_have_paths_and_empty_lists_are_leaves() -> None:
    assert list(leaves({"a": [1, {"b": []}], "c": None}, "r")) == [
        ("r.a[0]", 1),
        ("r.a[1].b", []),
        ("r.c", None),
    ]


def test_a_changed_or_missing_record_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "execute", lambda _request: pytest.fail("it must not run"))
    path = tmp_path / "clip_ownership.gloo.json"
    data = json.loads((FOLDER / path.name).read_text())
    data["results"]["fsdp2"]["norm"] = 5.5
    path.write_text(json.dumps(data))
    with pytest.raises(RunFailed, match=r"^clip_ownership\.gloo: the body hashes to "):
        compare.verify(RUN, tmp_path)
    path.write_text("{")
    with pytest.raises(BadRequest, match="not a JSON file"):
        compare.verify(RUN, tmp_path)
    with pytest.raises(BadRequest, match=r"ddp_sync\.gloo\.json: no such record; "):
        compare.verify(Request("ddp_sync"), tmp_path)


def with_tensors(values: list[float]) -> Finished:
    """A run that kept one tensor, beside fixed results."""
    old = record("lr_schedule")
    blob = safetensors.torch.save({"w": torch.tensor(values, dtype=torch.float64)})
    entry = {"file": "lr_schedule.gloo.safetensors", "sha256": str(hash(blob)), "names": ["w"]}
    return Finished(seal({**old.body(), "tensors": entry}), blob)


def test_tensors_are_compared_within_tolerance(tmp_path: Path) -> None:
    first = with_tensors([1.0, 2.0])
    write(first.record, tmp_path, first.tensors)
    assert compare.compare(first.record, first, tmp_path).is_bit_equal
    near = with_tensors([1.0, 2.0 + 1e-13])
    assert not compare.compare(first.record, near, tmp_path).is_bit_equal
    with pytest.raises(RunFailed, match=r"^lr_schedule\.gloo: tensors\.w differs: largest 0\.5"):
        compare.compare(first.record, with_tensors([1.0, 2.5]), tmp_path)
    with pytest.raises(RunFailed, match="another shape"):
        compare.compare(first.record, with_tensors([1.0]), tmp_path)
    bare = Finished(replace(first.record, tensors=None), None)
    with pytest.raises(RunFailed, match="tensors are kept by one of both runs"):
        compare.compare(first.record, bare, tmp_path)


def test_a_real_run_verifies_against_its_own_record(tmp_path: Path) -> None:
    from experiments.run import run

    request = Request("works", package=FAILING)
    path = run(request, tmp_path)
    found = compare.verify(request, tmp_path)
    assert found.is_bit_equal
    assert problems(load(path), folder=tmp_path) == []


def test_a_name_or_a_choice_is_needed() -> None:
    assert compare.chosen(["works"], False, False, FAILING) == ["works"]
    assert compare.chosen([], False, True, FAILING) == ["works"]
    assert len(compare.chosen([], True, False, FAILING)) > 5
    with pytest.raises(BadRequest):
        compare.chosen([], False, False, FAILING)
