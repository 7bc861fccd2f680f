"""The terminal: one JSON object, or exit 2 and one line that says what, the rule, what to do."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from calculators import contract
from calculators.__main__ import main

ROOT = Path(__file__).parents[2]
MILLION, MILLIARD = "1\u202f000\u202f000", "1\u202f000\u202f000\u202f000"
RANGE = f"from −{MILLION} to {MILLION}"
SCHEMES = (
    "mean_of_local_means, global_tokens, missing_world_size, sum_collective, "
    "divided_again_by_accumulation"
)
INPUTS = "counts, targets, theta, learning_rate, scheme, accumulation_steps"
HOSTILE = [
    ('{"theta": NaN}', f"theta is nan; it must be a finite number {RANGE}; give a finite number"),
    (
        '{"theta": Infinity}',
        f"theta is inf; it must be a finite number {RANGE}; give a finite number",
    ),
    (
        '{"theta": 1e308}',
        f"theta is 1e+308; allowed: −{MILLION} to {MILLION}; give a value in that range",
    ),
    ('{"theta": "1"}', f"theta is '1'; it must be a number {RANGE}; give a number"),
    ('{"theta": true}', f"theta is True; it must be a number {RANGE}; give a number"),
    ('{"counts": []}', "counts has 0 entries; allowed: 1 to 16; add or remove entries"),
    (
        '{"counts": [1.5, 2]}',
        f"counts[0] is 1.5; it must be a whole number from 0 to {MILLIARD}; give a whole number",
    ),
    (
        '{"counts": [-1, 2]}',
        f"counts[0] is -1; allowed: 0 to {MILLIARD}; give a value in that range",
    ),
    ('{"counts": 3}', "counts is 3; it must be a list of 1 to 16 entries; give a list"),
    (
        '{"counts": [1, 2], "targets": [1, 2, 3]}',
        "targets has 3 entries; counts has 2, and both must have as many; add or remove entries",
    ),
    ('{"scheme": "bad"}', f"scheme is 'bad'; it must be one of {SCHEMES}; choose one of these"),
    ('{"count": [1]}', f"count is not an input; the inputs are {INPUTS}; use one of these names"),
    (
        "[1]",
        "inputs is of type list; it must be an object of named inputs; give an object such as {}",
    ),
    (
        "{",
        "inputs are not JSON (Expecting property name enclosed in double quotes: line 1 column 2 "
        "(char 1)); give an object such as '{}'",
    ),
    ("[" * 100000, None),
    ("9" * 5000, None),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_bad_input_is_exit_2_and_one_line(
    text: str, message: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["run", "two_replica_ledger", text])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert len(err) < 400
    if message is not None:
        assert err == f"calculators: {message}\n"


def test_ten_megabytes_are_refused_unread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"counts": [' + "1, " * 3_500_000 + "1]}"))
    assert main(["run", "two_replica_ledger", "-"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == ("calculators: inputs are at least 1000001 characters; at most 1000000 allowed\n")


def test_run_prints_one_json_object_with_all_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "two_replica_ledger", '{"counts":[0,6]}']) == 0
    body = json.loads(capsys.readouterr().out)
    assert set(body) == {"calculator", "inputs", "values", "notices"}
    assert body["calculator"] == "two_replica_ledger"
    assert body["inputs"]["counts"] == [0, 6]
    assert body["inputs"]["learning_rate"] == 0.1
    assert [notice["code"] for notice in body["notices"]] == ["empty_replica_has_no_mean"]


def test_list_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(contract.names())
    assert main(["schema", "infonce"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["properties"]["temperature"]["title"] == "Temperature τ"
    assert main(["run", "nothing"]) == 2
    assert capsys.readouterr().err.startswith("calculators: no calculator 'nothing'; there are: ")


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "calculators", "run", "clip_vector"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["values"]["norm"] == 5
