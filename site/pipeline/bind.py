"""Bind: every hole of every page is resolved against calculators, records and the other pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Any

from calculators import contract
from pipeline import calculations, cards, charts, drawings, expressions, plots, references
from pipeline.calculations import CalculationError, Calculations, Question
from pipeline.errors import Finding, FindingError, as_warnings, suggest
from pipeline.holes import (
    Binding,
    CalculatorHole,
    ChapterHole,
    CiteHole,
    EquationHole,
    ExerciseHole,
    FigureHole,
    Hole,
    PlotHole,
    RecordHole,
    TermHole,
    ValueHole,
)
from pipeline.model import BoundPage, Document, Kept, Parsed, Record, Resolved
from pipeline.views import Bound, CalculatorView, PlotView, View

PlotRenderer = Callable[[Sequence[Mapping[str, Any]]], Sequence[str]]
# An answer is compared by its raw value; shown, it has the digits a reader would type.
ANSWER_SPEC = ".6g"
HOME_CALCULATOR = "two_replica_ledger"
HOME_FILE = f"calculators/{HOME_CALCULATOR}.py"
HOME_ID = "ledger"


def bind(
    parsed: Parsed, plots: PlotRenderer, kept: Mapping[tuple[str, str], Kept] | None = None
) -> Resolved:
    """The step. `plots` draws specs; it is handed in, so that binding needs no Node.

    Pages that are `kept` from an earlier build need no binding.
    """
    binder = Binder(parsed, plots)
    kept = kept or {}
    only = parsed.book.options.only
    chosen = {place: d for place, d in parsed.documents.items() if only in ("", d.slug)}
    binder.prepare(item for place, item in chosen.items() if place not in kept)
    pages = {
        place: _unbound(item) if place in kept else binder.page(item)
        for place, item in chosen.items()
    }
    records = {
        (record.name, language.id): cards.card(parsed.book, record, language.id)
        for record in parsed.book.records.values()
        for language in parsed.book.languages
    }
    home = binder.home()
    found = tuple(binder.findings)
    if parsed.book.options.is_draft:
        found = as_warnings(found)
    return Resolved(parsed, pages, records, home, found, kept)


def _unbound(document: Document) -> BoundPage:
    return BoundPage(document, (None,) * len(document.holes))


class Binder:
    """Resolves holes; holds what was computed for all pages at once."""

    def __init__(self, parsed: Parsed, plots: PlotRenderer) -> None:
        self.parsed, self.plots = parsed, plots
        self.book = parsed.book
        self.calculations = Calculations(self.book.options.cache)
        self.drawn: dict[str, str] = {}
        self.findings: list[Finding] = []

    def prepare(self, documents: Iterable[Document]) -> None:
        """Ask all questions and draw all plots of the pages, each in one batch."""
        documents = list(documents)
        asked = [question for document in documents for question in _questions(document)]
        asked += [self._home_question(language.id) for language in self.book.languages]
        self.calculations.ask(asked)
        specs: dict[str, Mapping[str, Any]] = {}
        owners: dict[str, tuple[str, int]] = {}
        for question in asked:
            answer = self.calculations.answers.get(question)
            for spec in answer["plots"].values() if answer and question.language else ():
                key = json.dumps(spec, sort_keys=True)
                if key not in self.drawn:
                    specs[key], owners[key] = spec, plots.declared(question.name, spec["key"])
        for hole, file in _plots(documents):
            try:
                spec = charts.spec(self._record(hole.name), hole)
            except expressions.ExpressionError:
                continue  # said where the page is bound
            key = json.dumps(spec, sort_keys=True)
            if key not in self.drawn:
                specs[key], owners[key] = spec, (file, hole.line)
        self._draw(specs, owners)

    def _draw(
        self, specs: dict[str, Mapping[str, Any]], owners: Mapping[str, tuple[str, int]]
    ) -> None:
        """Draw all plots; one that cannot be drawn is noted, the others are drawn."""
        while True:
            try:
                self.drawn |= zip(specs, self.plots(list(specs.values())), strict=True)
                return
            except plots.PlotError as error:
                key = list(specs)[error.index]
                del specs[key]
                self.findings.append(
                    Finding(
                        *owners[key],
                        "plot cannot be drawn",
                        str(error.spec["key"]),
                        error.message,
                        "mend what it is made from",
                    )
                )

    def page(self, document: Document) -> BoundPage:
        """The page with a view for every hole, None where there is none or it went wrong."""
        views: list[View] = []
        for hole in document.holes:
            try:
                views.append(self.view(hole, document))
            except FindingError as error:
                file, line = error.place or (document.file, hole.line)
                self.findings.append(Finding(file, line, *error.parts, cause=error.cause))
                views.append(None)
        return BoundPage(document, tuple(views))

    def home(self) -> dict[str, CalculatorView]:
        """The calculator of the home page in each language, but where it fails, which is noted."""
        found = {}
        for language in self.book.languages if HOME_CALCULATOR in contract.names() else ():
            try:
                found[language.id] = self._calculator(self._home_question(language.id))
            except CalculationError as error:
                file, line = error.origin
                told = Finding(file or HOME_FILE, line, *error.parts, cause=error.cause)
                self.findings.append(told)
        return found

    def _home_question(self, language: str) -> Question:
        return Question(HOME_CALCULATOR, "{}", language, HOME_ID)

    @singledispatchmethod
    def view(self, _hole: Hole, _document: Document) -> View:
        """What fills a hole. Formulas and notices need nothing from outside."""
        return None

    @view.register
    def _(self, hole: ValueHole, _: Document) -> View:
        return self._value(hole.binding)

    @view.register
    def _(self, hole: ExerciseHole, _: Document) -> View:
        if hole.answer is None:
            return None
        answer = self._value(hole.answer)
        if not isinstance(json.loads(answer.raw), int | float) or answer.raw in ("true", "false"):
            raise expressions.ExpressionError(
                "answer is not a number",
                hole.answer.text,
                "a reader types a number",
                "bind one, or leave the answer out",
            )
        if "." in answer.raw and not hole.answer.spec:
            answer = self._value(replace(hole.answer, spec=ANSWER_SPEC))
        return answer

    @view.register
    def _(self, hole: CalculatorHole, document: Document) -> View:
        self._known_calculator(hole.name)
        return self._calculator(_place(hole, document.language))

    @view.register
    def _(self, hole: RecordHole, document: Document) -> View:
        return cards.card(self.book, self._record(hole.name), document.language, hole.show)

    @view.register
    def _(self, hole: PlotHole, _: Document) -> View:
        record = self._record(hole.name)
        svg = self._svg(charts.spec(record, hole))
        rows = tuple(map(tuple, charts.rows(record, hole)))
        return PlotView(svg, hole.alt, (hole.x, *hole.labels), rows, hole.name)

    @view.register
    def _(self, hole: FigureHole, document: Document) -> View:
        figures = self.book.chapters[document.slug].figures
        if hole.file not in figures:
            raise drawings.DrawingError(
                "no such figure",
                hole.file,
                "figures lie beside the text",
                suggest(hole.file, figures, "files"),
            )
        languages = tuple(language.id for language in self.book.languages)
        return drawings.of(figures[hole.file], languages, document.language, hole.id)

    @view.register
    def _(self, hole: TermHole, document: Document) -> View:
        return references.term(self.book, document, hole)

    @view.register
    def _(self, hole: CiteHole, document: Document) -> View:
        return references.cite(self.book, document, hole)

    @view.register
    def _(self, hole: EquationHole, document: Document) -> View:
        return references.equation(self.book, self.parsed.documents, document, hole)

    @view.register
    def _(self, hole: ChapterHole, document: Document) -> View:
        return references.chapter(self.parsed.documents, document, hole)

    def _value(self, binding: Binding) -> Bound:
        if binding.source == "record":
            return cards.value(self._record(binding.name), binding)
        self._known_calculator(binding.name)
        values = self.calculations.answer(Question(binding.name, binding.arguments))
        found = expressions.resolve(values, binding.path, binding.text)
        shown = expressions.present(found, binding.spec, binding.text)
        source = binding.text.removesuffix(f" {binding.spec}") if binding.spec else binding.text
        return Bound(shown, json.dumps(found), f"calc:{source}")

    def _known_calculator(self, name: str) -> None:
        if name not in contract.names():
            raise calculations.unknown(name)

    def _record(self, name: str) -> Record:
        found = self.book.records.get(name)
        if found is None:
            experiment, _, backend = name.partition(".")
            command = f"python -m experiments run {experiment} --backend {backend}"
            near = suggest(name, self.book.records, cutoff=0.85)
            action = near if near.startswith("did") else f"make it with `{command}`"
            raise expressions.ExpressionError(
                "unknown record", name, "a record is a file in experiments/records/", action
            )
        return found

    def _calculator(self, question: Question) -> CalculatorView:
        answer = self.calculations.answer(question)
        html = answer["html"]
        for key, spec in answer["plots"].items():
            html = plots.placed(html, key, self._svg(spec))
        return CalculatorView(answer["title"], html, answer["controls"], answer["spec"])

    def _svg(self, spec: Mapping[str, Any]) -> str:
        """A plot's drawing; nothing where it cannot be drawn, which is said elsewhere."""
        return self.drawn.get(json.dumps(spec, sort_keys=True), "")


def _plots(documents: Iterable[Document]) -> Iterator[tuple[PlotHole, str]]:
    """The plots of records on these pages, and the files that ask for them."""
    for document in documents:
        for hole in document.holes:
            if isinstance(hole, PlotHole):
                yield hole, document.file


def _questions(document: Document) -> Iterator[Question]:
    """All that a page asks of the calculators."""
    for hole in document.holes:
        if isinstance(hole, CalculatorHole):
            yield _place(hole, document.language)
        binding = hole.binding if isinstance(hole, ValueHole) else None
        if isinstance(hole, ExerciseHole):
            binding = hole.answer
        if binding is not None and binding.source == "calc":
            yield calculations.values(binding.name, binding.arguments)


def _place(hole: CalculatorHole, language: str) -> Question:
    return Question(hole.name, hole.inputs, language, hole.id, hole.show, hole.hide, hole.plot)
