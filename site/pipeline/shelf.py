"""The shelf: pages of earlier builds, each under a key of everything that decides it.

A page whose key is there is taken as it is: not bound, not filled, not rendered, not searched for
links. So the key must hold whatever any of these steps looks at. What is cheap to look at is
looked at, and what is seen goes in: references to other pages, terms and sources as they resolve,
and all that its template gets but the page's own text. What is not goes in by the digest of what it
is made from: the text, drawings, records and calculators. Only pages with nothing wrong are put on
the shelf, and only chapters: the other pages are few and made from everything.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pipeline import code, grid, plots, references, tex
from pipeline.cache import ByteCache, TextCache, content_key, unpickled
from pipeline.errors import BuildError
from pipeline.holes import (
    Binding,
    CalculatorHole,
    ChapterHole,
    CiteHole,
    EquationHole,
    ExerciseHole,
    FigureHole,
    FormulaHole,
    Hole,
    PlotHole,
    RecordHole,
    TermHole,
    ValueHole,
)
from pipeline.model import Assets, Document, Kept, Parsed
from pipeline.shell import Filled, Shell

Place = tuple[str, str]
FILE = "pages.sqlite"
BATCH = 200


class Shelf:
    """The pages of one build that are on the shelf, and a place for those that are not."""

    def __init__(self, parsed: Parsed, publish: Callable[[Parsed], Assets]) -> None:
        self.store = ByteCache(parsed.book.options.cache / FILE)
        try:
            keys = dict(Keys(parsed, publish(parsed)).all())
        except BuildError:  # what pages load cannot be made, as rendering will say
            keys = {}
        self.keys = keys
        self.grids: dict[str, str] = {}
        self.kept = dict(self._kept(parsed.book.options.cache / grid.FILE))
        self.fresh: dict[str, bytes] = {}

    def _kept(self, grids: Path) -> Iterator[tuple[Place, Kept]]:
        """The pages that are there, each with its grids; without these a page does not hold."""
        places = list(self.keys)
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            found = self.store.get_many(self.keys[place] for place in some)
            pages = {place: unpickled(found.get(self.keys[place]), Kept) for place in some}
            held = {place: page for place, page in pages.items() if page is not None}
            named = {key for page in held.values() for key in page.grids} - self.grids.keys()
            self.grids |= TextCache(grids).get_many(named) if named else {}
            for place, page in held.items():
                if self.grids.keys() >= page.grids.keys():
                    its = {key: self.grids[key] for key in page.grids}
                    yield place, replace(page, grids=its)

    def put(self, place: Place, page: Kept) -> None:
        """Keep a page that was made anew, if it may be kept."""
        if place in self.keys:
            self.fresh[self.keys[place]] = pickle.dumps(page)
        if len(self.fresh) >= BATCH:
            self.close()

    def close(self) -> None:
        """Write what is still to be written."""
        self.store.put_many(self.fresh)
        self.fresh = {}


class Keys:
    """What decides each page of a book."""

    def __init__(self, parsed: Parsed, assets: Assets) -> None:
        self.parsed, self.book, self.assets = parsed, parsed.book, assets
        self.shell = Shell(parsed, {})
        self.digests: dict[str, str] = {}

    def all(self) -> Iterator[tuple[Place, str]]:
        """The key of every page that may be kept."""
        for place, document in self.parsed.documents.items():
            may = self.book.options.only in ("", document.slug) and not document.findings
            if may and self.book.chapters[document.slug].kind == "chapter":
                key = self.key(document)
                if key:
                    yield place, key

    def key(self, document: Document) -> str:
        """The key of a page, '' where something is wrong with it that is known already."""
        seen: list[Any] = []
        for hole in document.holes:
            try:
                found = self._seen(hole, document)
            except (references.TargetError, KeyError):
                return ""
            if found is not None:
                seen.append(found)
        chapter = self.book.chapters[document.slug]
        text = chapter.texts[document.language]
        around = self.around(document)
        return content_key(self.made_by, text.file, text.text, around, seen)

    @cached_property
    def made_by(self) -> str:
        """What makes all pages: code, templates, words, programs, and what pages load."""
        strings = {name: dict(found) for name, found in self.book.strings.items()}
        return content_key(
            code.code_digest(),
            code.digest(code.TEMPLATES.rglob("*.html")),
            code.digest([code.PROJECT / "experiments" / "record.py"]),
            tex.version(),
            plots.version(),
            strings,
            dict(self.assets.urls),
        )

    def around(self, document: Document) -> Any:
        """What the page's template gets, without its filled text."""
        language = next(item for item in self.book.languages if item.id == document.language)
        bare = Filled(document, Markup(""), Markup(""), (), Markup(""), ())
        site = self.shell.site(language, document.slug)
        return [site, self.shell.page(bare, language)]

    def _seen(self, hole: Hole, document: Document) -> Any:
        """What a hole is filled with, or a digest of all that decides it. None: the text alone.

        Raises `TargetError` or `KeyError` where it cannot be filled.
        """
        match hole:
            case FormulaHole():
                _ = self.parsed.formulas[hole.formula]  # one that cannot be set is not there
                return None
            case TermHole() | CiteHole() | EquationHole() | ChapterHole():
                return repr(self._reference(hole, document))
            case FigureHole():
                return self.book.chapters[document.slug].figures[hole.file].text
            case ValueHole(binding=binding) | ExerciseHole(answer=binding):
                return self._source(binding) if binding else None
            case CalculatorHole():
                return self._calculator(hole.name)
            case RecordHole():
                return self._card(hole.name)
            case PlotHole():
                return self.book.records[hole.name].digest
            case _:
                return None

    def _reference(self, hole: Hole, document: Document) -> Any:
        match hole:
            case TermHole():
                return references.term(self.book, document, hole)
            case CiteHole():
                return references.cite(self.book, document, hole)
            case EquationHole():
                return references.equation(self.book, self.parsed.documents, document, hole)
            case ChapterHole():
                return references.chapter(self.parsed.documents, document, hole)

    def _source(self, binding: Binding) -> str:
        if binding.source == "record":
            return self.book.records[binding.name].digest
        return self._calculator(binding.name)

    def _calculator(self, name: str) -> str:
        if name not in self.digests:
            self.digests[name] = code.calculator_digest(name)
        return self.digests[name]

    def _card(self, name: str) -> Any:
        record = self.book.records[name]
        experiment = record.body["experiment"]
        return [
            record.digest,
            dict(self.book.experiments.get(experiment, {})),
            self.book.recompute.get(experiment, ""),
            [other for other in self.book.records if other.startswith(f"{experiment}.")],
        ]
