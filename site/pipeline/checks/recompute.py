"""Checks of content/recompute.toml: what a card offers to compute again is there on both sides."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from calculators import contract
from pipeline import expressions, tables
from pipeline.calculations import CalculationError, Calculations, values
from pipeline.errors import Finding, suggest
from pipeline.model import Book, Rendered
from pipeline.toml_lines import Lines


def tasks(rendered: Rendered) -> Iterator[Finding]:
    """Every task names an experiment with a record, a calculator, and values of both.

    A test compares the values. Calculators are asked only where all is looked at.
    """
    book = rendered.resolved.parsed.book
    calculations = Calculations(book.options.cache)
    found = [(name, json.loads(text)) for name, text in book.recompute.items()]
    known = contract.names()
    if book.options.is_check:
        calculations.ask(
            values(task["calculator"], _inputs(task))
            for _, listed in found
            for task in listed
            if task["calculator"] in known
        )
    for name, listed in found:
        for number, task in enumerate(listed):
            for key, problem, cause in _problems(book, calculations, name, task):
                line = _line(book, name, number, key)
                yield Finding(tables.RECOMPUTE, line, *problem, cause=cause)


def _inputs(task: Mapping[str, Any]) -> str:
    return json.dumps(task["inputs"], sort_keys=True)


Problem = tuple[str, tuple[str, str, str, str], str]


def _problems(
    book: Book, calculations: Calculations, name: str, task: Mapping[str, Any]
) -> Iterator[Problem]:
    records = [record for record in book.records.values() if record.body["experiment"] == name]
    if not records:
        names = sorted({record.body["experiment"] for record in book.records.values()})
        rule = "experiments/records/ has no record of it"
        action = suggest(name, names, "experiments")
        yield "experiment", ("recompute of an unknown experiment", name, rule, action), ""
    calculator, known = task["calculator"], contract.names()
    if calculator not in known:
        rule = "a calculator is a file in calculators/"
        action = suggest(calculator, known, "calculators")
        yield "calculator", ("unknown calculator", calculator, rule, action), ""
    elif book.options.is_check:
        yield from _unanswered(calculations, task)
    for record in records[:1]:
        for there, _ in task["pairs"]:
            yield from _unresolved(record.body, there)


def _unanswered(calculations: Calculations, task: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        answer = calculations.answer(values(task["calculator"], _inputs(task)))
    except CalculationError as error:
        yield "inputs", error.parts, error.cause
        return
    for _, here in task["pairs"]:
        yield from _unresolved(answer, here)


def _unresolved(body: Mapping[str, Any], path: str) -> Iterator[Problem]:
    try:
        expressions.resolve(body, expressions.parse_path(f".{path}", path), path)
    except expressions.ExpressionError as error:
        yield f"pairs {path}", error.parts, ""


def _line(book: Book, name: str, number: int, key: str) -> int:
    """The line of a key of an experiment's task, or of a path in its pairs."""
    text = (book.options.root / tables.RECOMPUTE).read_text("utf-8")
    lines = Lines(text)
    body = tomllib.loads(text)["recompute"]
    places = [at for at, entry in enumerate(body) if entry.get("experiment") == name]
    at = places[min(number, len(places) - 1)]
    key, _, path = key.partition(" ")
    return lines.within(("recompute", at, key), path)
