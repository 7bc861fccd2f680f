"""Load: everything the build reads, once, into one frozen value. No other step reads content."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import record as records_of
from pipeline import case_files, record_lines, tables
from pipeline.code import PROJECT, RECORDS
from pipeline.errors import BuildError, Finding, as_warnings, nearest, suggest
from pipeline.files import Reader
from pipeline.model import (
    REFERENCE_SLUGS,
    Book,
    Chapter,
    Kind,
    Language,
    Options,
    Part,
    Record,
    Text,
)
from pipeline.table import line_of
from pipeline.toml_lines import Lines

TABLES = (
    "summary.toml", "locales.toml", "glossary.toml", "sources.toml", "experiments.toml",
    "recompute.toml",
)  # fmt: skip


def load(options: Options) -> Book:
    """The step. Raises `BuildError` only where nothing can be built at all."""
    reader = Reader(options.root)
    languages = tables.languages(reader)
    if reader.findings or not languages:  # whatever else there is is told in these languages
        raise BuildError(*reader.findings or [_no_language()])
    ids = [language.id for language in languages]
    strings = _all_strings(reader, languages)
    parts = tables.parts(reader, ids)
    if reader.findings and not parts:
        raise BuildError(*reader.findings)
    chapters = _chapters(reader, options, parts, languages)
    return Book(
        options=options,
        languages=languages,
        parts=parts,
        chapters=chapters,
        terms=tables.terms(reader, ids),
        sources=tables.sources(reader),
        records=_records(reader),
        cases=case_files.read_cases(reader, ids),
        experiments=tables.experiments(reader, ids),
        strings=strings,
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
    """All pages with text."""
    found = {}
    without = note_missing(reader, parts)
    for slug, kind, part in listed(parts):
        if slug in without:
            continue
        missing: list[Finding] = []
        chapter = read_chapter(reader, slug, kind, part, languages, missing)
        reader.findings += as_warnings(missing) if options.is_draft else missing
        if chapter.texts:
            found[slug] = chapter
    note_strangers(reader, parts)
    _note_loose(reader)
    for slug in found:
        _note_strays(reader, Path("content") / slug, languages)
    if options.only and options.only not in found:
        raise BuildError(_no_chapter(options.only, found))
    return found


def listed(parts: Sequence[Part]) -> list[tuple[str, Kind, str]]:
    """Slug, kind and part of every page: chapters in order, then the reference pages."""
    chapters: list[tuple[str, Kind, str]] = [
        (slug, "cases" if slug == "cases" else "chapter", part.id)
        for part in parts
        for slug in part.chapters
    ]
    return chapters + [(slug, slug, "") for slug in REFERENCE_SLUGS]


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


def note_missing(reader: Reader, parts: Sequence[Part]) -> set[str]:
    """Chapters of the summary that have no folder but a near one that is not listed."""
    in_parts = {slug for part in parts for slug in part.chapters}
    strangers = _folders(reader) - in_parts - set(REFERENCE_SLUGS)
    found = set()
    for number, part in enumerate(parts):
        for slug in part.chapters:
            near = nearest(slug, sorted(strangers))
            if near and not (reader.root / "content" / slug).exists():
                found.add(slug)
                lines = Lines.of(reader.root / tables.SUMMARY)
                at = lines.within(("part", number, "chapters"), slug)
                rule, action = "content/ has no folder of that name", suggest(slug, [near])
                reader.error(
                    Path(tables.SUMMARY), at, "chapter without a folder", slug, rule, action
                )
    return found


def _folders(reader: Reader) -> set[str]:
    """The folders of the content that hold anything."""
    folders = (reader.root / "content").iterdir()
    return {
        path.name
        for path in folders
        if path.is_dir() and not path.name.startswith(".") and any(path.iterdir())
    }


def note_strangers(reader: Reader, parts: Sequence[Part]) -> None:
    """Folders that no part lists: their text would silently not be there."""
    known = {slug for slug, _, _ in listed(parts)}
    meant = {item.action for item in reader.findings if item.what == "chapter without a folder"}
    for name in sorted(_folders(reader) - known):
        if f"did you mean {name!r}?" not in meant:
            reader.error(
                Path(tables.SUMMARY),
                1,
                "chapter in no part",
                name,
                "every folder with a text stands in the summary",
                "add it to a part or remove the folder",
            )


def _note_loose(reader: Reader) -> None:
    """Files beside the chapters that no build looks at: a misspelt table would not be missed."""
    for path in sorted((reader.root / "content").iterdir()):
        if path.is_file() and path.name not in TABLES and not path.name.startswith("."):
            action = suggest(path.name, TABLES, otherwise="remove it")
            rule = f"beside the chapters stand {', '.join(TABLES)}"
            file = Path("content") / path.name
            reader.error(file, 1, "file that nothing reads", path.name, rule, action)


def _note_strays(reader: Reader, folder: Path, languages: Sequence[Language]) -> None:
    """Files of a chapter's folder that no build looks at; the case book has tables of its own."""
    texts = {f"{language.id}.md" for language in languages}
    suffixes = {".svg"} if folder != case_files.CASES.parent else {".svg", ".json", ".toml"}
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
    data = reader.data(file, limit=64_000_000)
    if data is None:
        return None
    try:
        loaded = records_of.load(path)
        wrong = records_of.problems(loaded, reader.root, path.parent)
    except (ValueError, RecursionError) as error:
        text = str(error).removeprefix(f"{path}: ") or "it is nested too deeply"
        at = line_of(error)
        reader.error(file, at, "not a record", path.stem, text, "write it anew")
        return None
    for problem in wrong:
        rule, _, action = problem.removeprefix(f"{loaded.name}: ").rpartition("; ")
        at, said = record_lines.place(loaded, data.decode(), rule)
        reader.error(file, at, "record cannot be trusted", path.stem, said, action)
    files = {path.name: path}
    tensors = path.with_suffix(".safetensors")
    if tensors.exists():
        files[tensors.name] = tensors
    body = {**loaded.body(), "record_sha256": loaded.record_sha256}
    return Record(path.stem, file.as_posix(), body, files, hashlib.sha256(data).hexdigest())


def _all_strings(reader: Reader, languages: Sequence[Language]) -> dict[str, Mapping[str, Any]]:
    """The interface's words. Nothing can be built without them, nor without the calculators'."""
    wrong: list[Finding] = []
    found = {}
    for folder, what in (("calculators", "calculators' strings"), ("site", "interface strings")):
        try:
            found = _strings(folder, what, languages)
        except BuildError as error:
            wrong += error.findings
    if wrong:
        raise BuildError(*sorted([*reader.findings, *wrong]))
    return found


def read_strings(languages: Sequence[Language]) -> dict[str, Mapping[str, Any]]:
    """The interface's words: part of the site's own code, not of the content."""
    return _strings("site", "interface strings", languages)


def _strings(folder: str, what: str, languages: Sequence[Language]) -> dict[str, Mapping[str, Any]]:
    """The words of all languages below `folder`; `BuildError` with every file that has none."""
    found: dict[str, Mapping[str, Any]] = {}
    wrong = []
    for language in languages:
        file = f"{folder}/strings/{language.id}.toml"
        try:
            found[language.id] = tomllib.loads((PROJECT / file).read_text("utf-8"))
        except (OSError, ValueError) as error:
            text = getattr(error, "strerror", None) or str(error)
            at = line_of(error)
            there = sorted(path.stem for path in (PROJECT / folder / "strings").glob("*.toml"))
            near = nearest(language.id, there) if isinstance(error, FileNotFoundError) else ""
            action = f"add it, or did you mean the language {near!r}?" if near else "mend the file"
            wrong.append(Finding(file, at, what, language.id, text, action))
    if wrong:
        raise BuildError(*wrong)
    return found
