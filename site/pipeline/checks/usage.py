"""Checks that nothing lies idle: calculators, records and experiments are shown by a chapter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from calculators import contract
from pipeline import tables
from pipeline.errors import Finding, Level, nearest
from pipeline.holes import Binding, CalculatorHole, ExerciseHole, RecordHole, ValueHole
from pipeline.model import Document, Rendered
from pipeline.toml_lines import Lines


def _level(rendered: Rendered) -> Level:
    """While a book is being written this is no error; where it is checked it is one."""
    options = rendered.resolved.parsed.book.options
    return "error" if options.is_check and not options.is_draft else "warning"


def calculators(rendered: Rendered) -> Iterator[Finding]:
    """Every calculator stands in a chapter of the book that it lies beside."""
    used = {
        hole.name
        for item in _chapters(rendered)
        for hole in item.holes
        if isinstance(hole, CalculatorHole)
    }
    options = rendered.resolved.parsed.book.options
    if options.only or not (options.root / "calculators").is_dir():
        return
    for name in contract.names():
        if name not in used:
            yield Finding(
                f"calculators/{name}.py",
                1,
                "calculator without a chapter",
                name,
                "every calculator stands in a chapter",
                f"add :::{{calculator}} {name} to one",
                _level(rendered),
            )


def records(rendered: Rendered) -> Iterator[Finding]:
    """Every record is shown or quoted by a chapter."""
    book = rendered.resolved.parsed.book
    used: set[str] = set()
    for item in _chapters(rendered):
        for hole in item.holes:
            if isinstance(hole, RecordHole):
                used.add(hole.name)
            binding: Binding | None = hole.binding if isinstance(hole, ValueHole) else None
            if isinstance(hole, ExerciseHole):
                binding = hole.answer
            if binding is not None and binding.source == "record":
                used.add(binding.name)
    for name, record in () if book.options.only else book.records.items():
        if name not in used:
            yield Finding(
                record.file,
                1,
                "record without a chapter",
                name,
                "every record is shown by a chapter",
                f"add :::{{record}} {name} to one",
                _level(rendered),
            )


def experiments(rendered: Rendered) -> Iterator[Finding]:
    """Every record's experiment has its sentence in every language, and no other has one."""
    book = rendered.resolved.parsed.book
    records = {record.body["experiment"]: record for record in book.records.values()}
    strangers = [
        name
        for name in book.experiments
        if name not in records and not (book.options.root / f"experiments/{name}.py").exists()
    ]
    lacking = [name for name in records if name not in book.experiments]
    meant = {near: name for name in lacking if (near := nearest(name, strangers))}
    for name in lacking:
        if name not in meant.values():
            yield Finding(
                tables.EXPERIMENTS,
                1,
                "experiment without a sentence",
                name,
                f"{records[name].file} is shown with one in every language",
                "add an [[experiment]] with its id",
            )
    for name in strangers:
        at = list(book.experiments).index(name)
        file = Path(tables.EXPERIMENTS)
        line = Lines.of(book.options.root / file).within(("experiment", at, "id"), name)
        action = f"did you mean {meant[name]!r}?" if name in meant else "remove it"
        rule = "there is no record and no experiment of this name"
        yield Finding(file.as_posix(), line, "sentence without its experiment", name, rule, action)


def _chapters(rendered: Rendered) -> list[Document]:
    parsed = rendered.resolved.parsed
    kinds = ("chapter", "cases")
    return [d for d in parsed.documents.values() if parsed.book.chapters[d.slug].kind in kinds]
