"""A record is trusted only while its hash, its sources and its tensors match."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.errors import RunFailed
from experiments.record import (
    ROOT,
    Record,
    RecordError,
    canonical,
    load,
    lookup,
    plain,
    pretty,
    problems,
    seal,
    sha256,
    write,
)
from tests.experiments.helpers import names_in

BODY: dict[str, Any] = {
    "schema": 1,
    "experiment": "works",
    "backend": "gloo",
    "world_size": 2,
    "dtype": "float64",
    "seed": 0,
    "command": "python -m experiments run works",
    "environment": {"torch": "2.13.0"},
    "sources": {},
    "tolerances": {"results": {"rtol": 0.0, "atol": 0.0}},
    "config": {},
    "results": {"sum": {"value": 1.5, "per_rank": [0.5, 1.0]}},
    "ranks": [],
    "claims": [],
    "tensors": None,
    "recorded_at": "2026-01-01T00:00:00Z",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def sealed(**changes: Any) -> Record:
    return seal({**BODY, **changes})


def test_canonical_json_is_rfc_8785() -> None:
    # Sorted keys, shortest numbers, no spaces: the examples of the RFC's appendix B and section 3.
    given_value = {"€": 1e21, "a": [333333333.33333329, 1e30, 4.50, 2e-3, -0.0], "A": "\n"}
    expected = '{"A":"\\n","a":[333333333.3333333,1e+30,4.5,0.002,0],"€":1e+21}'
    assert canonical(given_value).decode() == expected
    assert sha256(given_value) == hashlib.sha256(expected.encode()).hexdigest()


@given(JSON)
def test_pretty_json_reads_back_as_the_same_value(value: Any) -> None:
    again = json.loads(pretty(value))
    assert again == value
    assert sha256(again) == sha256(value)


def test_numbers_that_json_lacks_are_strings() -> None:
    assert plain({"a": (math.nan, math.inf), "b": [-math.inf, 0.5]}) == {
        "a": ["nan", "inf"],
        "b": ["-inf", 0.5],
    }
    with pytest.raises(TypeError, match=r"^<object .*> \(object\) cannot be kept in a record$"):
        plain([object()])


def test_a_fresh_record_has_no_problem(tmp_path: Path) -> None:
    source = tmp_path / "rule.py"
    source.write_text("rule = 1\n")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    path = write(sealed(sources={"rule.py": digest}), tmp_path)
    assert path == tmp_path / "works.gloo.json"
    assert problems(load(path), root=tmp_path) == []


def test_one_changed_digit_is_seen(tmp_path: Path) -> None:
    path = write(sealed(), tmp_path)
    path.write_text(path.read_text().replace("1.5", "1.6"))
    record = load(path)
    assert problems(record, root=tmp_path) == [
        f"works.gloo: the body hashes to {sha256(record.body())[:12]}…, record_sha256 is "
        f"{record.record_sha256[:12]}…: the file was changed after the run; restore it or run "
        "`python -m experiments run works --backend gloo`"
    ]


@given(st.sampled_from(sorted(BODY)))
def test_the_hash_covers_every_field(name: str) -> None:
    old = sealed()
    value: dict[str, Any] = {
        "int": 7,
        "str": "other",
        "dict": {"other": 1},
        "list": [1],
        "NoneType": {"file": "x"},
    }
    changed = replace(old, **{name: value[type(BODY[name]).__name__]})
    assert sha256(changed.body()) != old.record_sha256


def test_a_changed_source_is_stale_and_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "rule.py").write_text("rule = 2\n")
    now = hashlib.sha256(b"rule = 2\n").hexdigest()
    record = sealed(sources={"rule.py": "0" * 64, "gone.py": "1" * 64})
    assert problems(record, root=tmp_path) == [
        f"works.gloo: stale: rule.py is {now[:12]}, the run used 000000000000; run "
        "`python -m experiments run works --backend gloo`",
        "works.gloo: stale: gone.py is no such file, the run used 111111111111; run "
        "`python -m experiments run works --backend gloo`",
    ]


def test_another_tensors_file_is_seen(tmp_path: Path) -> None:
    entry = {"file": "works.gloo.safetensors", "sha256": hashlib.sha256(b"bytes").hexdigest()}
    record = sealed(tensors=entry)
    write(record, tmp_path, b"bytes")
    assert problems(record, root=ROOT, folder=tmp_path) == []
    (tmp_path / entry["file"]).write_bytes(b"bytez")
    now = hashlib.sha256(b"bytez").hexdigest()
    assert problems(record, root=ROOT, folder=tmp_path) == [
        f"works.gloo: tensors: works.gloo.safetensors is {now[:12]}, the run wrote "
        f"{entry['sha256'][:12]}; restore it or run "
        "`python -m experiments run works --backend gloo`"
    ]


def broken(tmp_path: Path, text: str) -> str:
    """What `load` says of a file, without its path."""
    path = tmp_path / "works.gloo.json"
    path.write_text(text)
    with pytest.raises(RecordError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_every_unusable_file_says_what_is_wrong(tmp_path: Path) -> None:
    whole = asdict(sealed())
    without = {key: value for key, value in whole.items() if key != "claims"}
    assert broken(tmp_path, "[]") == "holds a list, a record is an object"
    assert broken(tmp_path, "{").startswith("not a JSON file: ")
    assert broken(tmp_path, '{"schema": NaN}') == (
        "not a JSON file: NaN is not JSON; a record spells it as a string"
    )
    assert broken(tmp_path, json.dumps(without)) == (
        "field claims is missing; write the record anew"
    )
    assert broken(tmp_path, json.dumps({**whole, "note": ""})) == (
        "field note is unknown; write the record anew"
    )
    assert broken(tmp_path, json.dumps({**whole, "seed": "0"})) == (
        "field seed is '0', expected int"
    )
    assert broken(tmp_path, json.dumps({**whole, "seed": True})) == (
        "field seed is True, expected int"
    )
    assert broken(tmp_path, json.dumps({**whole, "tensors": []})) == (
        "field tensors is [], expected dict[str, Any] | None"
    )
    assert broken(tmp_path, json.dumps({**whole, "schema": 2})) == (
        "schema is 2, this code reads 1"
    )
    with pytest.raises(RecordError, match=r"none\.json: cannot be read: No such file"):
        load(tmp_path / "none.json")


def test_a_path_is_looked_up_or_named_where_it_ends() -> None:
    record = sealed()
    assert record.lookup("results.sum.value") == 1.5
    assert record.lookup("results.sum.per_rank[1]") == 1.0
    assert record.lookup("world_size") == 2
    with pytest.raises(KeyError) as caught:
        record.lookup("results.sum.mean")
    assert caught.value.args[0] == (
        "results.sum.mean: no mean under results.sum (it holds: value, per_rank)"
    )
    with pytest.raises(KeyError) as caught:
        lookup({"a": [1]}, "a[3]")
    assert caught.value.args[0] == "a[3]: no 3 under a (it holds: [1])"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    old = write(sealed(), tmp_path).read_text()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse) if call == "fsync" else monkeypatch.setattr(
        Path, "replace", refuse
    )
    with pytest.raises(RunFailed) as caught:
        write(sealed(seed=1), tmp_path, b"tensors")
    assert str(caught.value) == (
        f"{tmp_path}/works.gloo.json: cannot be written (No space left on device); nothing was "
        "written, an old record stays; make room or choose another --out"
    )
    assert names_in(tmp_path) == ["works.gloo.json"]
    assert (tmp_path / "works.gloo.json").read_text() == old


def test_records_are_read_and_checked_without_torch() -> None:
    call = (
        "import sys; sys.modules['torch'] = None; from experiments import record; "
        "r = record.load(record.FOLDER / 'ddp_sync.gloo.json'); print(record.problems(r))"
    )
    done = subprocess.run(
        [sys.executable, "-c", call], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
