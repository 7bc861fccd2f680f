"""The case book: computed values, links that reproduce a case's inputs, findings by name."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from calculators import contract
from pipeline import expressions
from pipeline.cases import CaseBook
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
