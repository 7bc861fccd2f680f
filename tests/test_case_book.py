"""The case book: computed values, links that reproduce a case's inputs, findings by name."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from calculators import contract
from pipeline import expressions
from pipeline.case_files import read_cases
from pipeline.cases import CaseBook
from pipeline.files import Reader
from pipeline.holes import CalculatorHole
from pipeline.load import load
from pipeline.model import Case, Document, Options
from pipeline.parse import parse
from tests.wikis import formulas

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> CaseBook:
    """The real case book on the real chapters."""
    folder = tmp_path_factory.mktemp("case-book")
    loaded = load(Options(root=ROOT, out=folder / "dist", cache=folder / "cache", is_draft=True))
    return CaseBook(loaded, parse(loaded, formulas).documents)


def read(text: str, example: Any) -> Any:
    """A state's value as the page reads it, by the kind of an example value."""
    if isinstance(example, list) and example and isinstance(example[0], dict):
        return json.loads(unquote(text))
    if isinstance(example, list) and example and isinstance(example[0], list):
        return [[entry(item) for item in row.split(",")] for row in text.split(";")]
    if isinstance(example, list):
        return [entry(item) for item in text.split(",")] if text else []
    return entry(text)


def entry(text: str) -> Any:
    try:
        return json.loads(unquote(text))
    except ValueError:
        return unquote(text)


def test_every_case_has_values_or_says_why_not(book: CaseBook) -> None:
    entries = book.entries("en")
    assert len(entries) == 42
    assert [e["id"] for e in entries if not e["right"]] == [
        "EMP-04", "NCE-04", "MET-02", "MET-04", "DRP-01"
    ]  # fmt: skip
    shown = {e["id"]: ([v.shown for v in e["right"]], [v.shown for v in e["wrong"]])
             for e in entries}  # fmt: skip
    assert shown["ACC-01"] == (["1.75"], ["2.5"])
    assert shown["EMP-01"] == (["2"], ["—"])
    assert shown["CLIP-02"] == (["[0.3, 0.4]"], ["[0.000585937, 0.00078125]"])
    assert book.findings == []


ZH = "content/cases/cases.zh-cn.toml"
COMPUTED = "content/cases/computed.toml"
CASES = "content/cases/cases.json"
WRONG_FILES = {
    "no translation": (ZH, "", "", f"{ZH}:1: file cannot be read"),
    "no cases": ("content/cases/cases.json", "", "", "content/cases/cases.json:1: file cannot"),
    "no bindings": ("content/cases/computed.toml", "", "", "content/cases/computed.toml:1: file"),
    "a case untold": (
        ZH, 'topic = "梯度累积"\n', "\n", f"{ZH}:3: case without a translation 'ACC-01: topic'",
    ),
    "a case misspelt": (
        ZH, "[ACC-01]\n", "[AC-01]\n", f"{ZH}:3: unknown case 'AC-01': cases.json holds no case of "
        "this name; did you mean 'ACC-01'?",
    ),
    "a key misspelt": (
        ZH, "symptom =", "symptm =", f"{ZH}:5: case 'ACC-01' has an unknown key 'symptm': the keys "
        "are topic, symptom, rule, formula, note; did you mean 'symptom'?",
    ),
    "a text for a list": (
        COMPUTED, 'right = ["', 'right = "x" #', f"{COMPUTED}:9: case 'ACC-01': right is not a "
        "list of texts 'x': it is a list of texts; correct it",
    ),
    "another mark": (
        COMPUTED, '\ninputs = "other"', '\ninputs = "othr"', "inputs is not \"other\" 'othr'",
    ),
    "no JSON": (CASES, '"topic": ', '"topic" ', f"{CASES}:6: not JSON 'cases.json': it is JSON: "),
    "an id twice": (
        CASES, '"id": "ACC-02"', '"id": "ACC-01"', "case given twice 'ACC-01': an id is used ",
    ),
    "an unknown key": (
        CASES, '"rule": ', '"ruel": ', f"{CASES}:5: case 'ACC-01' has an unknown key 'ruel': ",
    ),
    "no rule": (
        CASES, '"rule": "', '"rule": "", "note": "', f"{CASES}:5: case 'ACC-01': rule: every case ",
    ),
    "an address": (
        CASES, "https://github.com/huggingface/transformers/pull/34191", "https://github.com",
        f"{CASES}:5: case 'ACC-01': sources \"['https://github.com', ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FILES)
def test_what_a_language_would_not_be_told_is_a_finding(name: str, tmp_path: Path) -> None:
    file, old, new, expected = WRONG_FILES[name]
    shutil.copytree(ROOT / "content/cases", tmp_path / "content/cases")
    path = tmp_path / file
    if new:
        path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    else:
        path.unlink()
    reader = Reader(tmp_path)
    read_cases(reader, ["en", "zh-cn"])
    told = [str(item) for item in reader.findings]
    assert [expected in text for text in told][:1] == [True], told
    assert len(told) == 1 or name == "an id twice", told


def test_the_case_book_s_own_files_are_whole() -> None:
    reader = Reader(ROOT)
    assert len(read_cases(reader, ["en", "zh-cn"])) == 42
    assert reader.findings == []


def test_a_link_reproduces_the_inputs_of_its_case(book: CaseBook) -> None:
    holes = {
        (slug, hole.id): hole
        for (slug, language), document in book.documents.items()
        for hole in document.holes
        if language == "en" and isinstance(hole, CalculatorHole)
    }
    for item in book.entries("en"):
        if not item["open"]:
            assert not item["wrong"]
            continue
        slug, _, fragment = item["open"].removeprefix("../").partition("/#")
        anchor, _, state = fragment.partition("?")
        hole = holes[slug, anchor]
        case = next(case for case in book.book.cases if case.id == item["id"])
        text = case.computed.get("open", case.computed["wrong"][0])
        binding = expressions.parse("calc", text if ")." in text else f"{text}.value")
        expected, _ = contract.evaluate(hole.name, json.loads(binding.arguments))
        placed, _ = contract.evaluate(hole.name, json.loads(hole.inputs))
        for pair in filter(None, state.split("&")):
            key, _, text = pair.partition("=")
            placed[key] = read(text, expected[key])
        assert placed == expected, item["id"]


def test_a_language_may_say_a_formula_in_its_own_words(book: CaseBook) -> None:
    body = {"id": "X-1", "topic": "t", "formula": "a vs b"}
    case = Case("X-1", "t", body, {}, {"en": {}, "zh-cn": {"formula": "a；错误：b"}})
    said = CaseBook(replace(book.book, cases=(case,)), {})
    assert said.entries("en")[0]["formula"] == "a vs b"
    assert said.entries("zh-cn")[0]["formula"] == "a；错误：b"


def test_no_chinese_formula_speaks_english(book: CaseBook) -> None:
    spoken = re.compile(r"\b(vs|wrong|right|fix|with|mode|over|inside|instead|expected|all|none)\b")
    assert any(spoken.search(entry["formula"]) for entry in book.entries("en"))
    assert [e["id"] for e in book.entries("zh-cn") if spoken.search(e["formula"])] == []


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("update_ledger(counts=[[1]).correct_gradient", "argument is not JSON"),
        ("update_ledger.gradient", "no such key"),
    ],
)
def test_a_binding_that_does_not_resolve_is_a_finding(
    book: CaseBook, expression: str, what: str
) -> None:
    case = Case("X-1", "t", {"id": "X-1", "topic": "t"}, {"right": [expression]}, {"en": {}})
    documents: dict[tuple[str, str], Document] = {}
    broken = CaseBook(replace(book.book, cases=(case,)), documents)
    broken.entries("en")
    assert [finding.what for finding in broken.findings] == [f"X-1: {what}"]


@pytest.mark.parametrize("error", [RuntimeError("boo"), SystemExit(3)])
def test_a_calculator_that_fails_is_a_finding(
    book: CaseBook, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def broken(*_: object) -> object:
        raise error

    monkeypatch.setattr(contract, "evaluate", broken)
    expression = "two_replica_ledger(counts=[31, 17]).correct_gradient"
    case = Case("X-1", "t", {"id": "X-1", "topic": "t"}, {"wrong": [expression]}, {"en": {}})
    broken_book = CaseBook(replace(book.book, cases=(case,)), book.documents)
    (entry,) = broken_book.entries("en")
    assert (entry["wrong"], entry["open"]) == ([], "")
    (found,) = broken_book.findings
    assert found.what == "X-1: two_replica_ledger fails"
    assert str(error) in found.rule


def test_a_calculator_that_is_gone_is_a_finding(book: CaseBook) -> None:
    case = Case("X-1", "t", {"id": "X-1", "topic": "t"}, {"right": ["gone.value"]}, {"en": {}})
    broken = CaseBook(replace(book.book, cases=(case,)), book.documents)
    assert broken.entries("en")[0]["right"] == []
    assert [finding.what for finding in broken.findings] == ["X-1: unknown calculator"]
