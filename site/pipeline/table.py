"""One TOML file of the content: its entries held against the keys that they may have."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.errors import Finding, nearest, suggest
from pipeline.faults import line_text
from pipeline.files import Reader
from pipeline.toml_lines import Lines

TEXT, TEXTS, DATA = "a text", "a list of texts", "a value"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
EMPTY = "file without an entry"
UNKNOWN = "unknown table"
NO_ID = "without a usable id"
_BEGINS = re.compile(r"\s*(?:\[\[?[A-Za-z]|[\w.-]+\s*=)")

Fields = Mapping[str, "str | Fields"]


@dataclass(frozen=True)
class Entry:
    """One entry: its place among those of its file, its id, what it says."""

    at: int
    name: str
    body: Mapping[str, Any]


class Table:
    """One TOML file: its entries under `key`, the `fields` of each, and where they stand.

    `fields` is nested as the entries are. What an entry has beyond them is noted.
    """

    def __init__(self, reader: Reader, name: str, key: str, fields: Fields) -> None:
        self.reader, self.name, self.key, self.fields = reader, name, key, fields
        text = reader.text(Path(name))
        self.text = text or ""
        self.is_read = text is not None
        self.entries = self._entries()

    @cached_property
    def lines(self) -> Lines:
        """Where things stand in the file."""
        return Lines(self.text)

    def _entries(self) -> list[Entry]:
        before = len(self.reader.findings)
        body = parsed(self.reader, Path(self.name), self.text, self.name)
        self.is_read = self.is_read and len(self.reader.findings) == before
        self.is_given = self.key in body
        holds = f"the file holds [[{self.key}]] tables"
        for key in body:
            if key != self.key:
                action = suggest(key, [self.key], otherwise="correct or remove it")
                self.error(self.lines.line(key), UNKNOWN, key, holds, action)
        entries = body.get(self.key, [])
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            rule = f"entries are [[{self.key}]] tables"
            line = self.lines.line(self.key)
            self.error(line, "not a list of tables", self.key, rule, "write [[…]] before each")
            return []
        return [Entry(at, str(e.get("id", "")), e) for at, e in enumerate(entries)]

    def required(self) -> Table:
        """The same; a file that is there and holds nothing is noted: much would follow from it."""
        if self.is_read and not self.is_given and not self._has_said():
            rule = f"it holds the [[{self.key}]] tables of the book"
            self.error(1, EMPTY, "", rule, f"restore them, or write {self.key} = []")
        return self

    def _has_said(self) -> bool:
        return any(item.file == self.name for item in self.reader.findings)

    def error(self, line: int, what: str, value: str, rule: str, action: str) -> None:
        """Note one thing that is wrong with this file."""
        self.reader.findings.append(Finding(self.name, line, what, value, rule, action))

    def line(self, entry: Entry, *path: str) -> int:
        """The line of something in an entry; that of its id where it has no such thing."""
        if (self.key, entry.at, *path[:1]) not in self.lines.spans:
            path = ("id",)
        return self.lines.line(self.key, entry.at, *path)

    def unique(self) -> dict[str, Entry]:
        """Entries by id; a missing, bad or second id is noted, and what no entry may have."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            name = entry.body.get("id")
            if not isinstance(name, str) or NAME.fullmatch(name) is None:
                self.error(
                    self.line(entry, "id"),
                    f"{self.key} {NO_ID}",
                    "" if name is None else str(name),
                    "an id is lower-case letters, digits and hyphens",
                    'give it one: id = "…"',
                )
            elif name in found:
                self.error(
                    self.line(entry, "id"),
                    f"{self.key} given twice",
                    name,
                    f"line {self.line(found[name], 'id')} has this id already",
                    "rename or remove one of the two",
                )
            else:
                found[name] = entry
            self.note_unknown(entry)
        return found

    def note_unknown(self, entry: Entry) -> None:
        """Note what an entry has beyond its fields."""

        def line(*path: str | int) -> int:
            return self.lines.line(self.key, entry.at, *path)

        owner = f"{self.key} {entry.name!r}"
        note_unknown(self.reader, self.name, entry.body, self.fields, line, owner)

    def text_of(self, entry: Entry, *path: str) -> str:
        """A text of an entry, '' (noted) when it lacks it."""
        value = self._value(entry, path)
        if isinstance(value, str) and value.strip():
            return value
        name = ".".join(path)
        if value is not None:
            self._mistyped(entry, path, value, f'{name} = "…"')
        elif not self.is_misspelt(entry, path):
            self.error(
                self.line(entry, *path),
                f"{self.key} {entry.name!r} lacks a text",
                name,
                "every entry has it, in every language",
                f'add {name} = "…"',
            )
        return ""

    def texts_of(self, entry: Entry, name: str, is_needed: bool = False) -> tuple[str, ...]:
        """A list of texts of an entry, () (noted where it is needed) when it has none."""
        value = entry.body.get(name)
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return tuple(value)
        if value is not None:
            self._mistyped(entry, (name,), value, f'{name} = ["…", "…"]')
        elif is_needed and not self.is_misspelt(entry, (name,)):
            self.error(
                self.line(entry, "id"),
                f"{self.key} {entry.name!r} lacks a list",
                name,
                "every entry has it",
                f'add {name} = ["…"]',
            )
        return ()

    def _value(self, entry: Entry, path: Iterable[str]) -> Any:
        value: Any = entry.body
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def _mistyped(self, entry: Entry, path: tuple[str, ...], value: Any, form: str) -> None:
        wanted = TEXTS if "[" in form else TEXT
        shown = "empty" if value == "" else str(value)
        what = f"{self.key} {entry.name!r}: {'.'.join(path)} is not {wanted}"
        self.error(self.line(entry, *path), what, shown, f"it is {wanted}", f"write {form}")

    def is_misspelt(self, entry: Entry, path: tuple[str, ...]) -> bool:
        """Whether an unknown key of the entry, which is told, is near to what it lacks."""
        fields: Any = self.fields
        body: Any = entry.body
        for step in path:
            if not isinstance(body, Mapping):
                return True  # told as a value of the wrong kind
            strangers = [key for key in body if key not in fields]
            if any(nearest(key, fields) == step for key in strangers):
                return True
            fields, body = fields[step], body.get(step, {})
        return False


def note_unknown(
    reader: Reader,
    file: str,
    body: Mapping[str, Any],
    fields: Fields,
    line: Callable[..., int],
    owner: str,
) -> None:
    """Note the keys of `body` that `fields` lacks, and tables that are none, at `line(*path)`."""
    for key, value in body.items():
        if key not in fields:
            rule, what = f"the keys are {', '.join(fields)}", f"{owner} has an unknown key"
            action = suggest(key, fields, otherwise="correct or remove it")
            reader.error(Path(file), line(key), what, key, rule, action)
            continue
        inner = fields[key]
        if isinstance(inner, str):
            continue
        if isinstance(value, Mapping):

            def below(*path: str | int, key: str = key) -> int:
                return line(key, *path)

            note_unknown(reader, file, value, inner, below, f"{owner}: {key}")
        else:
            form = ", ".join(f"{key}.{name}" for name in inner)
            what = f"{owner}: {key} is not a table"
            reader.error(Path(file), line(key), what, str(value), f"it is {form}", f"write {form}")


def parsed(reader: Reader, file: Path, text: str, name: str) -> Mapping[str, Any]:
    """What a TOML file says; nothing (noted, as `name`) when it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = line_of(error, text)
        said = str(error) or "it is nested too deeply"
        is_double = said.startswith("Cannot")
        action = (
            "correct that line"
            if not is_double
            else ("begin each entry with a [[…]] line, and give a key once in it")
        )
        shown = line_text(text, line) or name
        reader.error(file, line, "not TOML", shown, said, action)
        return {}


def line_of(error: Exception, text: str = "") -> int:
    """The line that a TOML error names, 1 where it names none.

    A statement of the `text` that is open at its end, or where another begins, is told where it
    begins itself.
    """
    found = re.search(r"line (\d+)", str(error))
    if found:
        line = int(found.group(1))
        lines = text.split("\n")[:line]
        is_open = len(lines) == line and _BEGINS.match(lines[-1])
        return Lines("\n".join(lines)).last_line() if is_open else line
    return Lines(text).last_line() if "end of document" in str(error) else 1
