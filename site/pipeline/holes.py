"""Holes: what a page's text alone does not decide, left open by parsing and filled later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.tex import Formula


@dataclass(frozen=True)
class Binding:
    """A number by name: a calculator with arguments (JSON) or a record, a path, a format."""

    source: Literal["calc", "record"]
    name: str
    arguments: str
    path: tuple[str | int, ...]
    spec: str
    text: str


@dataclass(frozen=True)
class FormulaHole:
    """A formula in running text, or one on its own line with its number and label."""

    line: int
    formula: Formula
    anchor: str = ""
    number: int = 0


@dataclass(frozen=True)
class ValueHole:
    """A bound number."""

    line: int
    binding: Binding


@dataclass(frozen=True)
class TermHole:
    """A glossary term; `text` is what the page shows, empty for the term itself."""

    line: int
    id: str
    text: str


@dataclass(frozen=True)
class CiteHole:
    """A citation; `is_full` in the list of sources, where it is written out."""

    line: int
    id: str
    is_full: bool


@dataclass(frozen=True)
class EquationHole:
    """A reference to a labelled formula, of this page when `slug` is empty."""

    line: int
    slug: str
    label: str


@dataclass(frozen=True)
class ChapterHole:
    """A reference to a page or a heading on it."""

    line: int
    slug: str
    anchor: str
    text: str


@dataclass(frozen=True)
class CalculatorHole:
    """A calculator on the page; `inputs` is JSON, `caption` HTML with holes.

    `grid`: whether states beside its first are computed with the page (see `pipeline/grid.py`).
    """

    line: int
    name: str
    id: str
    number: int
    inputs: str
    show: tuple[str, ...]
    hide: tuple[str, ...]
    plot: str
    caption: str
    grid: bool = True


@dataclass(frozen=True)
class RecordHole:
    """A record card; `show` are the bindings of its results table."""

    line: int
    name: str
    id: str
    show: tuple[Binding, ...]
    caption: str


@dataclass(frozen=True)
class PlotHole:
    """A plot of a record's lists; `step` is the x between the values of a plain list."""

    line: int
    name: str
    id: str
    number: int
    series: tuple[Binding, ...]
    labels: tuple[str, ...]
    roles: tuple[str, ...]
    kind: str
    scale: str
    step: float
    x: str
    y: str
    alt: str
    caption: str


@dataclass(frozen=True)
class FigureHole:
    """A figure of the chapter's folder."""

    line: int
    file: str
    id: str
    number: int
    caption: str


@dataclass(frozen=True)
class ExerciseHole:
    """An exercise; `answer` is the number that checks the reader's, None for an open question."""

    line: int
    id: str
    number: int
    answer: Binding | None
    tolerance: str
    question: str
    explanation: str


@dataclass(frozen=True)
class NoticeHole:
    """A note, a pitfall or a list of checks; `html` may hold holes."""

    line: int
    kind: str
    html: str


Hole = (
    FormulaHole
    | ValueHole
    | TermHole
    | CiteHole
    | EquationHole
    | ChapterHole
    | CalculatorHole
    | RecordHole
    | PlotHole
    | FigureHole
    | ExerciseHole
    | NoticeHole
)
