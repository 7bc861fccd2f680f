"""The workshop: it takes changed files and gives pages as they are now.

A page is bound and rendered when somebody looks at it, from what is in memory; a change makes
anew what it decides and nothing else. That is why an edit costs the same in a book of any size.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pipeline import cards, faults, plots, render
from pipeline.bind import Binder
from pipeline.code import PROJECT
from pipeline.errors import Finding
from pipeline.lazy import Lazy
from pipeline.model import BoundPage, Options, Parsed, Resolved
from pipeline.node import NodeProgram
from pipeline.serving.bundles import PARTS, Bundler
from pipeline.serving.changes import Changes
from pipeline.serving.holdings import Holdings, Made, Place
from pipeline.serving.troubles import MEND, Troubles
from pipeline.shell import BUILD_PLACEHOLDER
from pipeline.views import CalculatorView, RecordView

THROWN, HOME = "thrown", "bound home"
_FRAME = re.compile(r"/assets(?:-\d+)?/([\w-]+\.js):(\d+):(\d+)")


class Workshop:
    """One book, being edited. Nothing here may run at the same time as anything else here."""

    def __init__(self, options: Options) -> None:
        self.troubles = Troubles()
        self.holdings = Holdings(options, self.troubles)
        self.plotter = NodeProgram(plots.PROGRAM, timeout=plots.TIMEOUT)
        self.bundler = Bundler([])
        self.templates = render.environment(None)
        self.renderer: render.Renderer | None = None
        self.arranged: Made | None = None
        self.drawn: dict[str, str] = {}
        self.pages: dict[str, str] = {}

    def open(self) -> None:
        """Read the whole book and bundle what its pages load."""
        self.troubles.attempt("book", self.holdings.read)
        book = self.holdings.book
        self.bundler.languages = [language.id for language in book.languages] if book else []
        self._bundle()
        self._arrange()

    def _bundle(self) -> None:
        for part in PARTS:
            self.troubles.attempt(part, getattr(self.bundler, part))

    def close(self) -> None:
        """End the programs."""
        for program in (self.holdings.tex, self.plotter, self.bundler):
            program.close()

    def page(self, path: str) -> str | None:
        """A page as it is now, or as it last was if it cannot be made; None if there is none."""
        if self.renderer is None:
            return self.pages.get(path)
        try:
            html = self.renderer.page(path)
        except KeyError as error:
            if path not in self.renderer.paths():
                return None
            self.troubles.fail("templates", error)
            return self.pages.get(path)
        except Exception as error:  # a template is code: its fault is a finding
            self.troubles.fail("templates", error)
            return self.pages.get(path)
        self.troubles.put("templates", ())
        build = hashlib.sha256(html.encode()).hexdigest()[:16]
        self.pages[path] = html.replace(BUILD_PLACEHOLDER, build)
        return self.pages[path]

    def has(self, path: str) -> bool:
        """Whether the book has a page at `path`."""
        return self.renderer is not None and path in self.renderer.paths()

    def thrown(self, message: str, stack: str) -> None:
        """What the scripts have thrown in a page, by the line of theirs where they did."""
        for file, line, column in _FRAME.findall(stack):
            found = self.bundler.source(file, int(line), int(column))
            if found:
                name, at = found
                source = faults.source_line(PROJECT / name, at)
                finding = Finding(name, at, "script fails", source, message, MEND)
                self.troubles.put(THROWN, [*self.troubles.by_owner.get(THROWN, ()), finding])
                return

    def findings(self) -> list[Finding]:
        """Everything that is known to be wrong."""
        return self.troubles.all()

    def change(self, changes: Changes) -> None:
        """Make anew what these changes decide; what cannot be made stays as it was."""
        had_book = self.holdings.book is not None
        self.holdings.change(changes)
        if self.holdings.book is None:
            return
        if not had_book or "whole" in changes.parts:
            self.bundler.languages = [language.id for language in self.holdings.book.languages]
            self._bundle()
        for part in sorted(changes.parts):
            self._part(part, changes.names)
        self._arrange()

    def _part(self, part: str, names: Sequence[str]) -> None:
        """A part of the site's own code."""
        match part:
            case "scripts":
                self.troubles.put(THROWN, ())
                self.troubles.attempt(part, partial(self.bundler.scripts, names))
            case "styles" | "icons":
                self.troubles.attempt(part, getattr(self.bundler, part))
            case "strings":
                self.troubles.attempt(part, self._strings)
            case "sentences":
                self.troubles.attempt(part, self.holdings.sentences)
            case "plots":
                self.plotter.close()
                self.drawn.clear()
                self.holdings.made = Made()
            case "templates":
                self.holdings.made.filled.clear()

    def _strings(self) -> None:
        if self.holdings.strings():
            self.bundler.scripts(())

    def look(self, slugs: Iterable[str]) -> None:
        """Bind the pages of these chapters, so that what is wrong with them is known.

        So are pages that something was wrong with: they may owe their mending to another file.
        """
        if self.renderer is None:
            return
        wanted = set(slugs)
        for place, document in self.holdings.documents.items():
            if place[0] in wanted or self.troubles.by_owner.get(f"bound {document.file}"):
                _ = self.renderer.resolved.pages[place]
        if self.troubles.by_owner.get(HOME):
            for language in self.renderer.languages:
                self.renderer.resolved.home.get(language)

    # The book as the steps of a build see it, with everything that was made and still holds.

    def _arrange(self) -> None:
        book, made = self.holdings.book, self.holdings.made
        if book is None:
            return
        languages = [language.id for language in book.languages]
        parsed = Parsed(book, self.holdings.documents, self.holdings.formulas, ())
        binder = Binder(parsed, self._draw)
        binder.calculations, binder.drawn = self.holdings.calculations, self.drawn
        names = [(record, language) for record in book.records for language in languages]
        resolved = Resolved(
            parsed,
            Lazy(self.holdings.documents.keys(), partial(self._bind, binder), made.bound),
            Lazy(names, self._card, made.cards),
            Lazy(languages, partial(self._home, binder)),
            (),
        )
        before = self.renderer
        self.renderer = render.Renderer(resolved, self.bundler.assets(), self.templates)
        self.renderer.filled.kept = made.filled
        if before is not None and made is self.arranged and before.book.parts == book.parts:
            self.renderer.shell = before.shell.continued(parsed, self.renderer.filled)
        self.arranged = made

    def _bind(self, binder: Binder, place: Place) -> BoundPage:
        """A page's views; what is wrong with its bindings is noted."""
        document = self.holdings.documents[place]
        before = len(binder.findings)
        binder.prepare([document])
        page = binder.page(document)
        self.troubles.put(f"bound {document.file}", binder.findings[before:])
        return page

    def _home(self, binder: Binder, language: str) -> CalculatorView:
        """The home page's calculator. Raises KeyError where it fails, which is noted."""
        before = len(binder.findings)
        binder.prepare([])
        found = binder.home()
        self.troubles.put(HOME, binder.findings[before:])
        return found[language]

    def _card(self, place: Place) -> RecordView:
        book, (name, language) = self.holdings.book, place
        assert book is not None
        return cards.card(book, book.records[name], language)

    def _draw(self, specs: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        return plots.draw_with(self.plotter, specs, range(len(specs))) if specs else []
