"""The TOML files of the content, read into frozen values; what is wrong is noted with its line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.code import RECORDS
from pipeline.days import FORM, impossible, is_day
from pipeline.files import Reader
from pipeline.model import Language, Part, Term
from pipeline.table import DATA, NAME, TEXT, TEXTS, Entry, Fields, Table
from pipeline.views import Source

SUMMARY = "content/summary.toml"
EXPERIMENTS = "content/experiments.toml"
RECOMPUTE = "content/recompute.toml"


def _fields(*texts: str, **others: str | Fields) -> Fields:
    return {**dict.fromkeys(("id", *texts), TEXT), **others}


def languages(reader: Reader) -> tuple[Language, ...]:
    """content/locales.toml; the first language is the one that translations follow."""
    names = ("name", "html", "title", "question")
    table = Table(reader, "content/locales.toml", "language", _fields(*names))
    return tuple(
        Language(name, *(table.text_of(entry, field) for field in names))
        for name, entry in table.unique().items()
    )


def parts(reader: Reader, languages: Sequence[str]) -> tuple[Part, ...]:
    """content/summary.toml: the parts in order; a chapter stands in one of them."""
    titles = dict.fromkeys(languages, TEXT)
    fields = _fields(title=titles, chapters=TEXTS)
    table = Table(reader, SUMMARY, "part", fields).required()
    seen: dict[str, int] = {}
    found = []
    for name, entry in table.unique().items():
        said = {language: table.text_of(entry, "title", language) for language in languages}
        found.append(Part(name, said, tuple(_slugs(table, entry, seen))))
    return tuple(found)


def _slugs(table: Table, entry: Entry, seen: dict[str, int]) -> list[str]:
    kept = []
    for slug in table.texts_of(entry, "chapters", is_needed=True):
        if NAME.fullmatch(slug) is None:
            table.error(
                table.lines.within((table.key, entry.at, "chapters"), slug),
                "not a chapter's name",
                slug,
                "a slug is lower-case letters, digits and hyphens",
                "rename it",
            )
        elif slug in seen:
            part = table.entries[seen[slug]].name
            table.error(
                table.lines.within((table.key, entry.at, "chapters"), slug),
                "chapter given twice",
                slug,
                f"a chapter stands once in the summary, and part {part!r} has it already",
                "remove one of the two",
            )
        else:
            kept.append(slug)
        seen.setdefault(slug, entry.at)
    return kept


def terms(reader: Reader, languages: Sequence[str]) -> dict[str, Term]:
    """content/glossary.toml."""
    fields = _fields(*languages, definition=dict.fromkeys(languages, TEXT), aliases=TEXTS)
    table = Table(reader, "content/glossary.toml", "term", fields).required()
    return {
        name: Term(
            name,
            {language: table.text_of(entry, language) for language in languages},
            {language: table.text_of(entry, "definition", language) for language in languages},
            table.texts_of(entry, "aliases"),
        )
        for name, entry in table.unique().items()
    }


def sources(reader: Reader) -> dict[str, Source]:
    """content/sources.toml."""
    names = ("title", "authors", "address", "version", "accessed")
    table = Table(reader, "content/sources.toml", "source", _fields(*names)).required()
    found = {}
    for name, entry in table.unique().items():
        source = Source(name, *(table.text_of(entry, field) for field in names))
        if source.address and not source.address.startswith("https://"):
            table.error(
                table.line(entry, "address"),
                "source's address",
                source.address,
                "it begins with https://",
                "correct it",
            )
        if source.accessed and not is_day(source.accessed):
            rule = f"accessed is the day the source was looked at, as in {FORM}"
            at = table.line(entry, "accessed")
            table.error(at, "not a day of the calendar", source.accessed, rule, "correct it")
        for day in impossible(source.version):
            rule, at = f"a day is written as in {FORM}", table.line(entry, "version")
            table.error(at, "not a day of the calendar", day, rule, "correct it")
        found[name] = source
    return found


def experiments(reader: Reader, languages: Sequence[str]) -> dict[str, dict[str, str]]:
    """content/experiments.toml: what each experiment runs, in one sentence a language."""
    if _is_not_needed(reader, EXPERIMENTS):
        return {}
    table = Table(reader, EXPERIMENTS, "experiment", _fields(*languages))
    return {
        name: {language: table.text_of(entry, language) for language in languages}
        for name, entry in table.unique().items()
    }


def _is_not_needed(reader: Reader, file: str) -> bool:
    """A book without records has nothing to say of them; with one, its tables are not left out."""
    has_records = any((reader.root / RECORDS).glob("*.json"))
    return not has_records and not (reader.root / file).exists()


def recompute(reader: Reader) -> dict[str, str]:
    """content/recompute.toml: experiment -> JSON of what a calculator computes again of it."""
    if _is_not_needed(reader, RECOMPUTE):
        return {}
    fields = {"experiment": TEXT, "calculator": TEXT, "inputs": DATA, "pairs": DATA}
    table = Table(reader, RECOMPUTE, "recompute", fields).required()
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in table.entries:
        table.note_unknown(entry)
        experiment, calculator = (
            table.text_of(entry, "experiment"),
            table.text_of(entry, "calculator"),
        )
        if experiment and calculator and _is_task(table, entry):
            body = entry.body
            kept = {"calculator": calculator, "inputs": body["inputs"], "pairs": body["pairs"]}
            found.setdefault(experiment, []).append(kept)
    return {name: json.dumps(tasks, default=str) for name, tasks in found.items()}


def _is_task(table: Table, entry: Entry) -> bool:
    """Whether an entry says which inputs, and which values are the same."""
    pairs = entry.body.get("pairs")
    wrong = {
        "inputs": not isinstance(entry.body.get("inputs"), Mapping),
        "pairs": not isinstance(pairs, list) or not pairs or not all(map(_is_pair, pairs)),
    }
    forms = {"inputs": "inputs = { field = value }", "pairs": 'pairs = [["results.x", "y"]]'}
    for name in (name for name, is_wrong in wrong.items() if is_wrong):
        if table.is_misspelt(entry, (name,)):
            continue
        value = entry.body.get(name, "")
        rule = "each entry says inputs of a calculator, and pairs of a record's path and its value"
        what = f"recompute of {entry.body.get('experiment', '')!r} without usable {name}"
        table.error(table.line(entry, name), what, str(value), rule, f"write {forms[name]}")
    return not any(wrong.values())


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) and x for x in pair)
