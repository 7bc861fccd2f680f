"""The TOML files of the content, read into frozen values; what is wrong is noted with its line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import Finding
from pipeline.files import Reader
from pipeline.model import Language, Part, Term
from pipeline.views import Source

EXPERIMENTS = "content/experiments.toml"
RECOMPUTE = "content/recompute.toml"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class Table:
    """One TOML file: its entries under `key`, and where each of them stands."""

    def __init__(self, reader: Reader, name: str, key: str) -> None:
        self.reader, self.name, self.key = reader, name, key
        self.text = reader.text(Path(name)) or ""
        self.entries = self._entries()

    def _entries(self) -> list[Mapping[str, Any]]:
        try:
            found = tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            self.error(
                line_of(error),
                "not TOML",
                self.name,
                str(error),
                "correct that line",
            )
            return []
        entries = found.get(self.key, [])
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            self.error(
                1,
                "not a list of tables",
                self.key,
                f"entries are [[{self.key}]] tables",
                "correct the file",
            )
            return []
        return entries

    def error(self, line: int, what: str, value: str, rule: str, action: str) -> None:
        """Note one thing that is wrong with this file."""
        self.reader.findings.append(Finding(self.name, line, what, value, rule, action))

    def line(self, value: str) -> int:
        """The first line that holds the string `value`."""
        position = self.text.find(f'"{value}"')
        return self.text.count("\n", 0, position) + 1 if position >= 0 else 1

    def unique(self, field: str = "id") -> dict[str, Mapping[str, Any]]:
        """Entries by id; a missing, bad or second id is noted."""
        found: dict[str, Mapping[str, Any]] = {}
        for entry in self.entries:
            name = entry.get(field)
            if not isinstance(name, str) or _NAME.fullmatch(name) is None:
                self.error(
                    self.line(str(name)),
                    f"{self.key} without a usable id",
                    str(name),
                    "an id is lower-case letters, digits and hyphens",
                    "give it one",
                )
            elif name in found:
                self.error(
                    self.line(name),
                    f"{self.key} given twice",
                    name,
                    "an id is used once",
                    "rename or remove one of the two",
                )
            else:
                found[name] = entry
        return found

    def text_of(self, entry: Mapping[str, Any], name: str, *path: str) -> str:
        """A text of an entry, '' (noted) when it lacks it."""
        value: Any = entry
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if not isinstance(value, str) or not value:
            self.error(
                self.line(name),
                f"{self.key} {name!r} lacks a text",
                ".".join(path),
                "every entry has it, in every language",
                f'add {".".join(path)} = "…"',
            )
            return ""
        return value


def line_of(error: Exception) -> int:
    """The line that a TOML error names, 1 where it names none."""
    found = re.search(r"line (\d+)", str(error))
    return int(found.group(1)) if found else 1


def languages(reader: Reader) -> tuple[Language, ...]:
    """content/locales.toml; the first language is the one that translations follow."""
    table = Table(reader, "content/locales.toml", "language")
    fields = ("name", "html", "title", "question")
    return tuple(
        Language(name, *(table.text_of(entry, name, field) for field in fields))
        for name, entry in table.unique().items()
    )


def parts(reader: Reader, languages: Sequence[str]) -> tuple[Part, ...]:
    """content/summary.toml: the parts in order; a chapter stands in one of them."""
    table = Table(reader, "content/summary.toml", "part")
    seen: set[str] = set()
    found = []
    for name, entry in table.unique().items():
        titles = {language: table.text_of(entry, name, "title", language) for language in languages}
        slugs = [str(slug) for slug in entry.get("chapters", [])]
        found.append(Part(name, titles, tuple(_slugs(table, slugs, seen))))
    return tuple(found)


def _slugs(table: Table, slugs: Sequence[str], seen: set[str]) -> list[str]:
    kept = []
    for slug in slugs:
        if _NAME.fullmatch(slug) is None:
            table.error(
                table.line(slug),
                "not a chapter's name",
                slug,
                "a slug is lower-case letters, digits and hyphens",
                "rename it",
            )
        elif slug in seen:
            table.error(
                table.line(slug),
                "chapter given twice",
                slug,
                "a chapter stands once in the summary",
                "remove one of the two",
            )
        else:
            kept.append(slug)
        seen.add(slug)
    return kept


def terms(reader: Reader, languages: Sequence[str]) -> dict[str, Term]:
    """content/glossary.toml."""
    table = Table(reader, "content/glossary.toml", "term")
    return {
        name: Term(
            name,
            {language: table.text_of(entry, name, language) for language in languages},
            {
                language: table.text_of(entry, name, "definition", language)
                for language in languages
            },
            tuple(str(alias) for alias in entry.get("aliases", [])),
        )
        for name, entry in table.unique().items()
    }


def sources(reader: Reader) -> dict[str, Source]:
    """content/sources.toml."""
    table = Table(reader, "content/sources.toml", "source")
    fields = ("title", "authors", "address", "version", "accessed")
    found = {
        name: Source(name, *(table.text_of(entry, name, field) for field in fields))
        for name, entry in table.unique().items()
    }
    for name, source in found.items():
        if source.address and not source.address.startswith("https://"):
            table.error(
                table.line(name),
                "source's address",
                source.address,
                "it begins with https://",
                "correct it",
            )
    return found


def experiments(reader: Reader, languages: Sequence[str]) -> dict[str, dict[str, str]]:
    """content/experiments.toml: what each experiment runs, in one sentence a language."""
    if not (reader.root / EXPERIMENTS).exists():
        return {}
    table = Table(reader, EXPERIMENTS, "experiment")
    return {
        name: {language: table.text_of(entry, name, language) for language in languages}
        for name, entry in table.unique().items()
    }


def recompute(reader: Reader) -> dict[str, str]:
    """content/recompute.toml: experiment -> JSON of what a calculator computes again of it."""
    if not (reader.root / RECOMPUTE).exists():
        return {}
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in Table(reader, RECOMPUTE, "recompute").entries:
        kept = {key: entry[key] for key in ("calculator", "inputs", "pairs")}
        found.setdefault(str(entry["experiment"]), []).append(kept)
    return {name: json.dumps(tasks) for name, tasks in found.items()}
