"""The book in memory: what was read, parsed and computed, and how a changed file changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from calculators import contract
from pipeline import case_files, load, parse, tables, tex
from pipeline.code import RECORDS
from pipeline.errors import Finding, as_warnings
from pipeline.files import Reader
from pipeline.holes import FormulaHole
from pipeline.model import Book, BoundPage, Chapter, Document, Options, Text
from pipeline.node import NodeProgram
from pipeline.serving import calculating
from pipeline.serving.changes import ORDER, TABLES, Changes
from pipeline.serving.troubles import Troubles
from pipeline.shell import Filled
from pipeline.tex import Formula, TexError
from pipeline.views import RecordView

Place = tuple[str, str]
FILES = {part: file for file, part in TABLES.items()} | {"cases": "content/cases/c"}


@dataclass
class Made:
    """What was made for pages, and holds until something it depends on changes."""

    bound: dict[Place, BoundPage] = field(default_factory=dict)
    filled: dict[Place, Filled] = field(default_factory=dict)
    cards: dict[Place, RecordView] = field(default_factory=dict)

    def forget(self, places: Iterable[Place]) -> None:
        """Forget these pages only."""
        for place in places:
            self.bound.pop(place, None)
            self.filled.pop(place, None)


class Holdings:
    """One book. `made` is replaced when a change may show anywhere."""

    def __init__(self, options: Options, troubles: Troubles) -> None:
        self.options, self.troubles = options, troubles
        self.book: Book | None = None
        self.documents: dict[Place, Document] = {}
        self.formulas: dict[Formula, str] = {}
        self.made = Made()
        self.calculations = calculating.LiveCalculations(options.cache)
        self.tex = NodeProgram(tex.PROGRAM, timeout=tex.TIMEOUT)

    def read(self) -> None:
        """Everything, from what earlier builds have kept where that is so. Raises `BuildError`."""
        book = load.load(self.options)
        parsed = parse.parse(book, partial(tex.render_all, cache=self.options.cache))
        self.troubles.read("", book.findings)
        self.book, self.made = book, Made()
        self.documents, self.formulas = dict(parsed.documents), dict(parsed.formulas)
        by_file: dict[str, list[Any]] = {item.file: [] for item in self.documents.values()}
        for finding in parsed.findings:
            by_file[finding.file].append(finding)
        for file, found in by_file.items():
            self.troubles.put(f"text {file}", found)

    def change(self, changes: Changes) -> None:
        """Read what changed again; what cannot be read stays as it was."""
        if self.book is None or "whole" in changes.parts:
            self.troubles.attempt("book", self.read)
        else:
            new = [slug for slug in changes.chapters if slug not in self.book.chapters]
            if "order" in changes.parts or new:
                self._order(self.book)
            for slug in sorted(changes.chapters - set(new)):
                self._chapter(self.book, slug)
        for name in sorted(changes.tables):
            self._table(name)
        for name in sorted(changes.records):
            self._record(name)
        for name in sorted(changes.calculators):
            self.troubles.attempt(f"calculators/{name}.py", partial(self._calculator, name))

    def _order(self, book: Book) -> None:
        """The summary: which chapters there are, in which order. Only new ones are read."""
        reader = Reader(self.options.root)
        parts = tables.parts(reader, [language.id for language in book.languages])
        is_broken = not parts and bool(reader.findings)
        if not is_broken:
            load.note_strangers(reader, parts)
        self.troubles.read(ORDER, reader.findings)
        if is_broken:
            return
        chapters = {}
        for slug, kind, part in load.listed(parts):
            known = book.chapters.get(slug) or Chapter(slug, kind, part, {}, {})
            chapters[slug] = replace(known, kind=kind, part=part)
        self.book, self.made = replace(book, parts=parts, chapters=chapters), Made()
        for slug in chapters:
            if slug not in book.chapters:
                self._chapter(self.book, slug)
        self.troubles.keep_folders(chapters)
        for slug, old in book.chapters.items():
            if slug not in chapters:
                self._drop(slug, old.texts)

    def _chapter(self, book: Book, slug: str) -> None:
        """The texts and figures of one chapter."""
        if slug not in book.chapters:
            return
        old = book.chapters[slug]
        reader = Reader(self.options.root)
        missing: list[Finding] = []
        new = load.read_chapter(reader, slug, old.kind, old.part, book.languages, missing)
        lacking = as_warnings(missing) if self.options.is_draft else missing
        self.troubles.read(f"content/{slug}/", [*reader.findings, *lacking])
        unread = {k: v for k, v in old.texts.items() if (self.options.root / v.file).exists()}
        chapter = replace(new, texts={**unread, **new.texts})
        self._keep(chapter)
        self._drop(slug, {k: v for k, v in old.texts.items() if k not in chapter.texts})
        for language, text in chapter.texts.items():
            if language not in old.texts or old.texts[language].text != text.text:
                self._document(slug, language, text)
        if chapter.figures != old.figures:
            self.made.forget((slug, language) for language in chapter.texts)

    def _keep(self, chapter: Chapter) -> None:
        """A chapter as it is now; without a text there is none."""
        assert self.book is not None
        chapters = {**self.book.chapters, chapter.slug: chapter}
        if not chapter.texts:
            del chapters[chapter.slug]
        self.book = replace(self.book, chapters=chapters)

    def _drop(self, slug: str, texts: Mapping[str, Text]) -> None:
        """Pages whose text is gone."""
        for language, text in texts.items():
            self.documents.pop((slug, language), None)
            self.troubles.forget(text.file)
            self.made = Made()

    def _document(self, slug: str, language: str, text: Text) -> None:
        """One page parsed; when it cannot be read at all, the last one stays."""
        document = parse.document(text, slug, language)
        wanted = [hole.formula for hole in document.holes if isinstance(hole, FormulaHole)]
        new = [formula for formula in dict.fromkeys(wanted) if formula not in self.formulas]
        fresh, failed = parse.set_formulas(new, self._set)
        self.formulas |= fresh
        found = (*document.findings, *parse.located(document, failed))
        self.troubles.put(f"text {document.file}", found)
        before = self.documents.get((slug, language))
        if before is not None and not document.meta.lines:
            return
        self.documents[slug, language] = document
        if before is not None and outside(before) == outside(document):
            self.made.forget([(slug, language)])
        else:
            self.made = Made()

    def _set(self, formulas: Iterable[Formula]) -> Mapping[Formula, str]:
        wanted = list(formulas)
        done, failures = tex.set_with(self.tex, wanted) if wanted else ({}, ())
        if failures:
            raise TexError(failures)
        return done

    def _table(self, name: str) -> None:
        assert self.book is not None
        reader, ids = Reader(self.options.root), [item.id for item in self.book.languages]
        readers: dict[str, Callable[[], Any]] = {
            "terms": lambda: tables.terms(reader, ids),
            "sources": lambda: tables.sources(reader),
            "experiments": lambda: tables.experiments(reader, ids),
            "cases": lambda: case_files.read_cases(reader, ids),
            "recompute": lambda: tables.recompute(reader),
        }
        read = readers[name]()
        self.troubles.read(FILES[name], reader.findings)
        if read or not reader.findings:
            changes: dict[str, Any] = {name: read}
            self.book, self.made = replace(self.book, **changes), Made()

    def _record(self, name: str) -> None:
        assert self.book is not None
        reader = Reader(self.options.root)
        path = self.options.root / RECORDS / f"{name}.json"
        record = load.read_record(reader, path) if path.exists() else None
        self.troubles.read(f"experiments/records/{name}.", reader.findings)
        kept = {key: value for key, value in self.book.records.items() if key != name}
        if record is not None:
            kept[name] = record
        elif path.exists():
            return
        self.book, self.made = replace(self.book, records=dict(sorted(kept.items()))), Made()

    def _calculator(self, name: str) -> None:
        self.calculations.forget(calculating.run_again(name))
        self.made = Made()

    def sentences(self) -> None:
        """The sentences of all calculators, read again. Raises what is wrong with them."""
        calculating.read_sentences()
        self.calculations.forget(contract.names())
        self.made = Made()

    def strings(self) -> bool:
        """The interface's words, read again: whether the scripts' own are among the changed."""
        assert self.book is not None
        before, after = self.book.strings, load.read_strings(self.book.languages)
        self.book = replace(self.book, strings=after)
        self.made.filled.clear()
        return any(after[name].get("script") != before[name].get("script") for name in after)


def outside(document: Document) -> tuple[Any, ...]:
    """What other pages know of a page: while it stays the same, they do."""
    meta = document.meta
    headings = [(heading.id, heading.html) for heading in document.headings]
    anchors = [name for name, _ in document.anchors]
    return (meta.title, meta.question, headings, anchors, dict(document.labels))
