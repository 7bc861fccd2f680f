"""Load: everything the build reads, once, into one frozen value. No other step reads content."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import record as records_of
from pipeline import tables
from pipeline.code import PROJECT
from pipeline.errors import BuildError, Finding, as_warnings, suggest
from pipeline.files import Reader
from pipeline.model import (
    REFERENCE_SLUGS,
    Book,
    Case,
    Chapter,
    Kind,
    Language,
    Options,
    Part,
    Record,
    Text,
)

CASES = Path("content/cases/cases.json")
RECORDS = Path("experiments/records")


def load(options: Options) -> Book:
    """The step. Raises `BuildError` only where nothing can be built at all."""
    reader = Reader(options.root)
    languages = tables.languages(reader)
    if not languages:
        raise BuildError(*reader.findings or [_no_language()])
    ids = [language.id for language in languages]
    parts = tables.parts(reader, ids)
    chapters = _chapters(reader, options, parts, languages)
    return Book(
        options=options,
        languages=languages,
        parts=parts,
        chapters=chapters,
        terms=tables.terms(reader, ids),
        sources=tables.sources(reader),
        records=_records(reader),
        cases=read_cases(reader, ids),
        experiments=tables.experiments(reader, ids),
        strings=read_strings(languages),
        recompute=tables.recompute(reader),
        findings=tuple(reader.findings),
    )


def _no_language() -> Finding:
    return Finding(
        "content/locales.toml",
        1,
        "no language",
        "",
        "a book has one at least",
        "add a [[language]] table",
    )


def _no_chapter(slug: str, known: Mapping[str, Chapter]) -> Finding:
    return Finding(
        "content/summary.toml",
        1,
        "no such chapter",
        slug,
        "--only takes the slug of a page",
        suggest(slug, known, "pages"),
    )


def _chapters(
    reader: Reader, options: Options, parts: Sequence[Part], languages: Sequence[Language]
) -> dict[str, Chapter]:
    """All pages with text: chapters in order, then the reference pages."""
    found = {}
    listed: list[tuple[str, Kind, str]] = [
        (slug, "cases" if slug == "cases" else "chapter", part.id)
        for part in parts
        for slug in part.chapters
    ]
    listed += [(slug, slug, "") for slug in REFERENCE_SLUGS]
    for slug, kind, part in listed:
        missing: list[Finding] = []
        chapter = read_chapter(reader, slug, kind, part, languages, missing)
        reader.findings += as_warnings(missing) if options.is_draft else missing
        if chapter.texts:
            found[slug] = chapter
    _note_strangers(reader, {slug for slug, _, _ in listed})
    for slug in found:
        _note_strays(reader, Path("content") / slug, languages)
    if options.only and options.only not in found:
        raise BuildError(_no_chapter(options.only, found))
    return found


def read_chapter(
    reader: Reader,
    slug: str,
    kind: Kind,
    part: str,
    languages: Sequence[Language],
    missing: list[Finding],
) -> Chapter:
    """One page's texts and figures; the languages it lacks are noted in `missing`."""
    folder = Path("content") / slug
    texts = {}
    for language in languages:
        file = folder / f"{language.id}.md"
        if not (reader.root / file).exists():
            missing.append(
                Finding(
                    file.as_posix(),
                    1,
                    "chapter without a text",
                    f"{slug} in {language.id}",
                    "every page exists in every language",
                    "write it",
                )
            )
            continue
        text = reader.text(file)
        if text is not None:
            texts[language.id] = Text(file.as_posix(), text)
    figures = {}
    for path in sorted((reader.root / folder).glob("*.svg")):
        drawing = reader.text(folder / path.name)
        if drawing is not None:
            figures[path.name] = Text((folder / path.name).as_posix(), drawing)
    return Chapter(slug, kind, part, texts, figures)


def _note_strangers(reader: Reader, known: set[str]) -> None:
    """Folders that no part lists: their text would silently not be there."""
    for path in sorted((reader.root / "content").iterdir()):
        if path.is_dir() and path.name not in known and any(path.glob("*.md")):
            reader.error(
                Path("content/summary.toml"),
                1,
                "chapter in no part",
                path.name,
                "every folder with a text stands in the summary",
                "add it to a part or remove the folder",
            )


def _note_strays(reader: Reader, folder: Path, languages: Sequence[Language]) -> None:
    """Files of a chapter's folder that no build looks at; the case book has tables of its own."""
    texts = {f"{language.id}.md" for language in languages}
    suffixes = {".svg"} if folder != CASES.parent else {".svg", ".json", ".toml"}
    for path in sorted((reader.root / folder).iterdir()):
        if path.name not in texts and path.suffix not in suffixes and not path.name.startswith("."):
            reader.error(
                folder / path.name,
                1,
                "file that nothing reads",
                path.name,
                "a chapter's folder holds its texts and its drawings",
                "remove it",
            )


def _records(reader: Reader) -> dict[str, Record]:
    """All records, each checked against its own hash and the sources that decide it."""
    paths = sorted((reader.root / RECORDS).glob("*.json"))
    found = (read_record(reader, path) for path in paths)
    return {record.name: record for record in found if record is not None}


def read_record(reader: Reader, path: Path) -> Record | None:
    """One record; None (noted) when it is not one."""
    file = RECORDS / path.name
    if reader.data(file, limit=64_000_000) is None:
        return None
    try:
        loaded = records_of.load(path)
        wrong = records_of.problems(loaded, reader.root, path.parent)
    except (ValueError, RecursionError) as error:
        text = str(error).removeprefix(f"{path}: ") or "it is nested too deeply"
        reader.error(file, 1, "not a record", path.stem, text, "write it anew")
        return None
    for problem in wrong:
        rule, _, action = problem.removeprefix(f"{loaded.name}: ").rpartition("; ")
        reader.error(file, 1, "record cannot be trusted", path.stem, rule, action)
    files = {path.name: path}
    tensors = path.with_suffix(".safetensors")
    if tensors.exists():
        files[tensors.name] = tensors
    body = {**loaded.body(), "record_sha256": loaded.record_sha256}
    return Record(path.stem, file.as_posix(), body, files)


def read_cases(reader: Reader, languages: Sequence[str]) -> tuple[Case, ...]:
    """The case book, in order; nothing (noted) when it cannot be read."""
    if not (reader.root / CASES).exists():
        return ()
    text = reader.text(CASES)
    computed = _by_case(reader, CASES.with_name("computed.toml"))
    texts = {name: _by_case(reader, CASES.with_name(f"cases.{name}.toml")) for name in languages}
    try:
        entries = json.loads(text or "{}")["cases"]
        return tuple(
            Case(
                id=entry["id"],
                topic=entry["topic"],
                body=entry,
                computed=computed.get(entry["id"], {}),
                texts={name: found.get(entry["id"], {}) for name, found in texts.items()},
            )
            for entry in entries
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reader.error(
            CASES,
            1,
            "not a case book",
            str(error),
            'it is {"cases": [{"id", "topic", …}]}',
            "correct it",
        )
        return ()


def _by_case(reader: Reader, file: Path) -> Mapping[str, Mapping[str, Any]]:
    """A TOML file of the case book: one table for each case; absent files hold nothing."""
    if not (reader.root / file).exists():
        return {}
    try:
        return tomllib.loads(reader.text(file) or "")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = tables.line_of(error)
        reader.error(file, at, "not TOML", file.name, str(error), "correct that line")
        return {}


def read_strings(languages: Sequence[Language]) -> dict[str, Mapping[str, Any]]:
    """The interface's words: part of the site's own code, not of the content."""
    found: dict[str, Mapping[str, Any]] = {}
    for language in languages:
        path = PROJECT / "site" / "strings" / f"{language.id}.toml"
        try:
            found[language.id] = tomllib.loads(path.read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            file = f"site/strings/{language.id}.toml"
            at = tables.line_of(error)
            raise BuildError(
                Finding(file, at, "interface strings", language.id, str(error), "mend the file")
            ) from error
    return found
