"""The files of the case book: the cases, what is computed for each, and each language's words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import Finding, nearest, suggest
from pipeline.files import Reader
from pipeline.model import Case
from pipeline.table import DATA, TEXT, TEXTS, note_unknown, parsed
from pipeline.toml_lines import Lines

CASES = Path("content/cases/cases.json")
COMPUTED = CASES.with_name("computed.toml")
# What cases.json says in the first language, and every other says in a file of its own.
TRANSLATED = ("topic", "symptom", "rule")
WORDS = dict.fromkeys((*TRANSLATED, "formula", "note"), TEXT)
BINDINGS = {
    **dict.fromkeys(("chapter", "open", "inputs"), TEXT),
    **dict.fromkeys(("right", "wrong"), TEXTS),
    "times": DATA,
}
NEEDED = ("id", "topic", "symptom", "rule", "formula", "sources")
OPTIONAL = (
    "inputs", "expected", "wrong_value", "confirmed_in_torch", "beyond_two_replica", "note",
)  # fmt: skip
OTHER = "other"  # computed.toml's `inputs` where the case's own do not fit the calculator
ADDRESS = re.compile(r"https://[^/\s]+/[^/\s]+/[^/\s]+/\S+")

Tables = Mapping[str, Mapping[str, Any]]


def read_cases(reader: Reader, languages: Sequence[str]) -> tuple[Case, ...]:
    """The case book, in order; nothing (noted) when it cannot be read."""
    if not (reader.root / CASES.parent).exists():
        return ()
    text = reader.text(CASES)
    if text is None:
        return ()
    computed = _by_case(reader, COMPUTED, BINDINGS)
    texts = {name: _by_case(reader, file_of(name), WORDS) for name in languages}
    found = _entries(reader, text)
    if found is None:
        return ()
    entries, known = found
    cases = tuple(
        Case(
            id=entry["id"],
            topic=entry["topic"],
            body=entry,
            computed=computed.get(entry["id"], {}),
            texts={name: found.get(entry["id"], {}) for name, found in texts.items()},
        )
        for entry in entries
    )
    files = {COMPUTED: computed, **{file_of(name): texts[name] for name in texts}}
    is_whole = not any(item.what == "case without an id" for item in reader.findings)
    strangers = _note_strangers(reader, known, files) if is_whole else set()
    for language in languages[1:]:
        _note_untranslated(reader, cases, language, strangers)
    return cases


def file_of(language: str) -> Path:
    """Where a language says its words on the cases."""
    return CASES.with_name(f"cases.{language}.toml")


def _entries(reader: Reader, text: str) -> tuple[list[Mapping[str, Any]], set[Any]] | None:
    """The usable entries of cases.json and the ids of all; None (noted) when it is no case book."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "lineno", 1)
        rule = f"it is JSON: {error}" if str(error) else "it is nested too deeply"
        reader.error(CASES, at, "not JSON", CASES.name, rule, "correct that line")
        return None
    entries = found.get("cases") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not entries:
        rule = 'it is {"cases": [{"id", "topic", …}]}'
        reader.error(CASES, 1, "not a case book", CASES.name, rule, "correct it")
        return None
    seen: dict[str, int] = {}
    usable = [
        entry
        for number, entry in enumerate(entries, start=1)
        if _is_case(reader, text, entry, number, seen)
    ]
    return usable, {entry.get("id") for entry in entries if isinstance(entry, dict)}


def _is_case(reader: Reader, text: str, entry: Any, number: int, seen: dict[str, int]) -> bool:
    """Whether an entry can be shown as a case; what is wrong with it is noted."""
    name = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name:
        rule = f"case {number} of the file has no id"
        reader.error(CASES, 1, "case without an id", str(entry), rule, "give it one")
        return False
    at = _json_line(text, name, seen.get(name, 0))
    seen[name] = seen.get(name, 0) + 1
    if seen[name] > 1:
        rule = "an id is used once"
        reader.error(CASES, at, "case given twice", name, rule, "rename or remove one of the two")
        return False
    keys = (*NEEDED, *OPTIONAL)
    strangers = [key for key in entry if key not in keys]
    for key in strangers:
        rule = f"the keys are {', '.join(keys)}"
        action = suggest(key, keys, "keys")
        reader.error(CASES, at, f"case {name!r} has an unknown key", key, rule, action)
    meant = " ".join(suggest(key, keys) for key in strangers)
    wrong = [key for key in NEEDED if not _is_said(entry, key)]
    for key in wrong:
        if f"{key!r}" not in meant:
            form = "a list of https addresses of reports" if key == "sources" else "a text"
            what = f"case {name!r} lacks {key}" if key not in entry else f"case {name!r}: {key}"
            shown = str(entry.get(key, ""))
            reader.error(CASES, at, what, shown, f"every case has it, {form}", "write it")
    return not wrong


def _is_said(entry: Mapping[str, Any], key: str) -> bool:
    value = entry.get(key)
    if key != "sources":
        return isinstance(value, str) and bool(value.strip())
    return isinstance(value, list) and all(
        isinstance(item, str) and ADDRESS.fullmatch(item) for item in value
    )


def _json_line(text: str, name: str, nth: int) -> int:
    """The line of the nth `"id": NAME`."""
    found = list(re.finditer(rf'"id"\s*:\s*{re.escape(json.dumps(name))}', text))
    return text.count("\n", 0, found[nth].start()) + 1 if nth < len(found) else 1


def _by_case(reader: Reader, file: Path, fields: Mapping[str, str]) -> Tables:
    """A TOML file of the case book: one table for each case, with only what can be used."""
    text = reader.text(file) or ""
    found = parsed(reader, file, text, file.name)
    kept: dict[str, Mapping[str, Any]] = {}
    for name, body in found.items():
        if not isinstance(body, Mapping):
            rule = "the file holds one table for each case"
            reader.error(file, Lines(text).line(name), "not a table", name, rule, "write [ID]")
            continue

        def place(*path: str | int, name: str = name) -> int:
            return Lines(text).line(name, *path)

        note_unknown(reader, file.as_posix(), body, fields, place, f"case {name!r}")
        kept[name] = {key: value for key, value in body.items() if _is_kind(key, value, fields)}
        for key in body.keys() & fields.keys() - kept[name].keys():
            form = _form(key, fields)
            what = f"case {name!r}: {key} is not {form}"
            reader.error(file, place(key), what, str(body[key]), f"it is {form}", "correct it")
    return kept


def _is_kind(key: str, value: Any, fields: Mapping[str, str]) -> bool:
    kind = fields.get(key)
    if key == "inputs":
        return bool(value == OTHER)
    if kind == TEXT:
        return isinstance(value, str) and bool(value.strip())
    items = value if isinstance(value, list) else []
    kinds = str if kind == TEXTS else (int, float)
    return bool(items) and all(isinstance(item, kinds) for item in items)


def _form(key: str, fields: Mapping[str, str]) -> str:
    if key == "inputs":
        return f'"{OTHER}"'
    return "a list of numbers" if fields[key] == DATA else fields[key]


def _note_strangers(reader: Reader, known: set[Any], files: Mapping[Path, Tables]) -> set[str]:
    """Words and bindings of cases that are not there: nobody would see them. Who may be meant."""
    meant = set()
    for file, found in files.items():
        for name in sorted(found.keys() - known):
            rule = "cases.json holds no case of this name"
            free = known - found.keys()
            near = nearest(name, sorted(map(str, free)))
            action = suggest(name, [near], otherwise="correct the name or remove it")
            line = Lines.of(reader.root / file).line(name)
            reader.error(file, line, "unknown case", name, rule, action)
            meant.add(f"{file} {near}")
    return meant


def _note_untranslated(
    reader: Reader, cases: Sequence[Case], language: str, misspelt: set[str]
) -> None:
    """A reader of one language would be shown another's words."""
    file = file_of(language)
    lines = Lines.of(reader.root / file)
    own = [item for item in reader.findings if item.file == file.as_posix()]
    if any(item.what in ("file cannot be read", "not TOML", "not UTF-8") for item in own):
        return  # told once, as a file that cannot be read
    for case in cases:
        said = case.texts[language]
        missing = [k for k in TRANSLATED if not said.get(k) and not _is_told(own, case.id, k)]
        if missing and f"{file} {case.id}" not in misspelt:
            reader.error(
                file,
                lines.line(case.id),
                "case without a translation",
                f"{case.id}: {', '.join(missing)}",
                "every case is told in every language",
                "write it",
            )


def _is_told(found: Sequence[Finding], name: str, key: str) -> bool:
    """Whether a case's key is known to be misspelt, or not to be a text."""
    own = [item for item in found if item.what.startswith(f"case {name!r}")]
    return any(repr(key) in item.action or f": {key} is" in item.what for item in own)
