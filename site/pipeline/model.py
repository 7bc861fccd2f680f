"""The values that pass between the steps: frozen, without behaviour, comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline.errors import Finding
from pipeline.tex import Formula

Kind = Literal["chapter", "cases", "records", "glossary", "sources", "about", "home"]
REFERENCE_SLUGS: tuple[Kind, ...] = ("records", "glossary", "sources", "about")


# -- load --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Language:
    """A language of the book: `id` is its folder in the addresses, `html` its lang attribute."""

    id: str
    name: str
    html: str
    title: str
    question: str


@dataclass(frozen=True)
class Part:
    """A part of the book: its title in each language and its chapters in order."""

    id: str
    titles: Mapping[str, str]
    chapters: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """One file of content: its path as messages name it, and what it says."""

    file: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """A folder of content: its texts by language and its figures by file name."""

    slug: str
    kind: Kind
    part: str
    texts: Mapping[str, Text]
    figures: Mapping[str, Text]


@dataclass(frozen=True)
class Term:
    """A glossary entry."""

    id: str
    names: Mapping[str, str]
    definitions: Mapping[str, str]
    aliases: tuple[str, ...]


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
class Record:
    """One experiment's record: `name` is NAME.BACKEND, `body` its JSON, `files` what is published."""

    name: str
    file: str
    body: Mapping[str, Any]
    files: Mapping[str, Path]


@dataclass(frozen=True)
class Case:
    """An entry of the case book as it is committed."""

    id: str
    topic: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a build was asked for."""

    root: Path
    out: Path
    cache: Path
    only: str = ""
    is_draft: bool = False
    is_check: bool = False


@dataclass(frozen=True)
class Book:
    """Everything the build reads."""

    options: Options
    languages: tuple[Language, ...]
    parts: tuple[Part, ...]
    chapters: Mapping[str, Chapter]
    terms: Mapping[str, Term]
    sources: Mapping[str, Source]
    records: Mapping[str, Record]
    cases: tuple[Case, ...]
    experiments: Mapping[str, Mapping[str, str]]
    strings: Mapping[str, Mapping[str, Any]]
    findings: tuple[Finding, ...] = ()


# -- parse -------------------------------------------------------------------------------------


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
    """A calculator on the page; `inputs` is JSON, `caption` HTML with holes."""

    line: int
    name: str
    id: str
    number: int
    inputs: str
    show: tuple[str, ...]
    hide: tuple[str, ...]
    plot: str
    caption: str


@dataclass(frozen=True)
class RecordHole:
    """A record card; `show` are the bindings of its results table."""

    line: int
    name: str
    id: str
    show: tuple[Binding, ...]
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
    | FigureHole
    | ExerciseHole
    | NoticeHole
)


@dataclass(frozen=True)
class Heading:
    """A heading; `html` may hold holes."""

    line: int
    id: str
    level: int
    html: str


@dataclass(frozen=True)
class Meta:
    """The front matter; HTML fields may hold holes. `lines` says where each key stands."""

    title: str
    question: str
    question_html: str
    checks: tuple[str, ...]
    mistake_html: str
    mistake_label: str
    constants: tuple[str, ...]
    follows: str
    lines: Mapping[str, int]


@dataclass(frozen=True)
class Document:
    """A parsed page: HTML with numbered holes for all that the text alone does not decide."""

    file: str
    slug: str
    language: str
    digest: str
    meta: Meta
    body: str
    holes: tuple[Hole, ...]
    headings: tuple[Heading, ...]
    labels: Mapping[str, int]
    anchors: tuple[tuple[str, int], ...]
    links: tuple[tuple[str, int], ...]
    decimals: tuple[tuple[str, int], ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Parsed:
    """All pages by (slug, language), and every formula of the book as HTML."""

    book: Book
    documents: Mapping[tuple[str, str], Document]
    formulas: Mapping[Formula, str]
    findings: tuple[Finding, ...]


# -- bind --------------------------------------------------------------------------------------


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
    """A record as a card shows it; `missing` are (backend, command) without a record."""

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


View = Bound | CalculatorView | RecordView | Reference | FigureView | CitationView | None


@dataclass(frozen=True)
class BoundPage:
    """A page whose holes are resolved, in the order of the document's holes."""

    document: Document
    views: tuple[View, ...]


@dataclass(frozen=True)
class Resolved:
    """All pages with their holes resolved; `records` and `home` feed the pages without text."""

    parsed: Parsed
    pages: Mapping[tuple[str, str], BoundPage]
    records: Mapping[tuple[str, str], RecordView]
    home: Mapping[str, CalculatorView]
    findings: tuple[Finding, ...]


# -- render, check, write ----------------------------------------------------------------------


@dataclass(frozen=True)
class Assets:
    """Bundled files: logical name to published path, and published path to content."""

    urls: Mapping[str, str]
    files: Mapping[str, bytes]
    service_worker: bytes = b""


@dataclass(frozen=True)
class Rendered:
    """The site as (path, content); pages carry a placeholder for the hash of the whole."""

    resolved: Resolved
    assets: Assets
    pages: Mapping[str, str]
    files: Mapping[str, bytes | Path]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Checked:
    """A site that was looked at: with errors among its findings it is not written."""

    rendered: Rendered
    findings: tuple[Finding, ...] = field(default=())
