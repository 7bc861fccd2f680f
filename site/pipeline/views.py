"""Views: what fills the holes of a page, resolved against calculators, records and other pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A source that pages cite."""

    id: str
    title: str
    authors: str
    address: str
    version: str
    accessed: str


@dataclass(frozen=True)
class Bound:
    """A resolved number: `raw` is JSON, `source` names where it comes from."""

    text: str
    raw: str
    source: str


@dataclass(frozen=True)
class CalculatorView:
    """A calculator at its first state: what the page is built from."""

    title: str
    result_html: str
    controls_html: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A line of a record's results table."""

    path: str
    value: Bound


@dataclass(frozen=True)
class Side:
    """One side of a claim: where its value stands, and the value as text."""

    path: str
    text: str


@dataclass(frozen=True)
class ClaimView:
    """A claim of a record; `bounds` is its tolerance or least difference as text."""

    name: str
    relation: str
    bounds: str
    left: Side
    right: Side
    is_held: bool
    is_observation: bool


@dataclass(frozen=True)
class RecordView:
    """A record as a card shows it; `missing` are (backend, command) without a record.

    `recompute` is JSON of what a calculator computes again of it, empty where none does.
    """

    name: str
    experiment: str
    backend: str
    what: str
    world_size: int
    dtype: str
    seed: int
    environment: tuple[tuple[str, str], ...]
    command: str
    recorded_at: str
    sha256: str
    claims: tuple[ClaimView, ...]
    rows: tuple[Row, ...]
    missing: tuple[tuple[str, str], ...]
    recompute: str = ""


@dataclass(frozen=True)
class PlotView:
    """A record's plot: drawn, in words, and as the rows of its data table."""

    svg: str
    alt: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    record: str


@dataclass(frozen=True)
class Reference:
    """A resolved link: where it goes, what it shows, what hovering it tells."""

    href: str
    text: str
    title: str = ""


@dataclass(frozen=True)
class FigureView:
    """A figure in one language: the SVG, its title and its description."""

    svg: str
    title: str
    description: str


@dataclass(frozen=True)
class CitationView:
    """A citation: its number on the page, its source, whether it is written out."""

    number: int
    source: Source
    is_full: bool
    href: str


View = Bound | CalculatorView | RecordView | PlotView | Reference | FigureView | CitationView | None
