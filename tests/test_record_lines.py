"""A record that was changed after its run: the line is found by its hashes, or not told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import record as records_of
from pipeline import record_lines
from pipeline.record_lines import Place
from tests import wikis

OUTPUT = {"loss": 0.9471, "names": ["a1", "b"], "count": 12, "small": 9.5e-07}


@pytest.fixture
def text() -> str:
    """A record with the outputs of two ranks, as it is written."""
    tiny = records_of.load(wikis.WIKI / "experiments/records/tiny.gloo.json")
    rank = {"output": OUTPUT, "output_sha256": records_of.sha256(OUTPUT)}
    sealed = records_of.seal({**tiny.body(), "ranks": [{"rank": 0, **rank}, {"rank": 1, **rank}]})
    return json.dumps(vars(sealed), indent=1)


def changed(text: str, folder: Path) -> Place:
    path = folder / "tiny.gloo.json"
    path.write_text(text, "utf-8")
    return record_lines.changed(records_of.load(path), text)


@pytest.mark.parametrize(
    ("old", "new", "nth", "said"),
    [
        (
            '"total": 3.0',
            '"total": 3.5',
            0,
            "results.sum.total is 3.5, and the hash was made of 3.0",
        ),
        ("0.9471", "1.9471", 1, "ranks[1].output.loss is 1.9471, and the hash was made of 0.9471"),
        (
            "9.5e-07",
            "0.5e-07",
            0,
            "ranks[0].output.small is 5e-08, and the hash was made of 9.5e-07",
        ),
        ('"a1"', '"a2"', 1, 'ranks[1].output.names[0] is "a2", and the hash was made of "a1"'),
        (
            '"count": 12',
            '"count": 42',
            0,
            "ranks[0].output.count is 42, and the hash was made of 12",
        ),
        ("0.9471", "0.9", 1, "the output of rank 1 is not what its own hash was made of"),
    ],
)
def test_the_digit_that_was_changed_is_found(
    text: str, tmp_path: Path, old: str, new: str, nth: int, said: str
) -> None:
    pieces = text.split(old)
    broken = old.join(pieces[: nth + 1]) + new + old.join(pieces[nth + 1 :])
    line = next(
        at for at, (a, b) in enumerate(zip(text.split("\n"), broken.split("\n"), strict=True), 1)
        if a != b
    )  # fmt: skip
    found = changed(broken, tmp_path)
    assert found.said == said
    if said.startswith("the output"):
        assert '"output"' in broken.split("\n")[found.line - 1]
    else:
        assert found.line == line


def test_a_changed_hash_is_found(text: str, tmp_path: Path) -> None:
    recorded = json.loads(text)["record_sha256"]
    other = ("0" if recorded[0] != "0" else "1") + recorded[1:]
    found = changed(text.replace(recorded, other), tmp_path)
    assert found == Place(text.count("\n"), "one digit of record_sha256 was changed")


def test_what_cannot_be_known_is_not_told(text: str, tmp_path: Path) -> None:
    assert changed(text.replace('"total": 3.0', '"total": 44.0'), tmp_path) == Place(1)


def test_the_work_is_bounded(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_lines, "MAX_HASHED", 0)
    assert changed(text.replace('"seed": 0', '"seed": 7'), tmp_path) == Place(1)
