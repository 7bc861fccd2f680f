"""The values that pass between the steps: frozen, without behaviour, comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline.errors import Finding
from pipeline.facts import Facts
from pipeline.holes import Hole
from pipeline.tex import Formula
from pipeline.views import CalculatorView, RecordView, Source, View

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
class Record:
    """A record: `name` is NAME.BACKEND, `body` its JSON, `files` what is published of it.

    `digest` is the SHA-256 of its file, whatever that says of itself.
    """

    name: str
    file: str
    body: Mapping[str, Any]
    files: Mapping[str, Path]
    digest: str = ""


@dataclass(frozen=True)
class Case:
    """An entry of the case book: as it is committed, how it is computed, its texts by language."""

    id: str
    topic: str
    body: Mapping[str, Any]
    computed: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str]]


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
    recompute: Mapping[str, str] = field(default_factory=dict)


# -- parse -------------------------------------------------------------------------------------


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
class BoundPage:
    """A page whose holes are resolved, in the order of the document's holes."""

    document: Document
    views: tuple[View, ...]


@dataclass(frozen=True)
class Kept:
    """A page of an earlier build that nothing has changed since; see `pipeline/shelf.py`.

    `html` is the page, `text` what is searched in; the next two are for the map of the home page;
    `grids` are those of its calculators as their cache has them, by their keys there.
    """

    html: bytes
    text: str
    question: str
    mistake: str
    facts: Facts
    grids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Resolved:
    """All pages with their holes resolved; `records` and `home` feed the pages without text.

    Pages that are `kept` are made already: their holes are left as they are.
    """

    parsed: Parsed
    pages: Mapping[tuple[str, str], BoundPage]
    records: Mapping[tuple[str, str], RecordView]
    home: Mapping[str, CalculatorView]
    findings: tuple[Finding, ...]
    kept: Mapping[tuple[str, str], Kept] = field(default_factory=dict)


# -- render, check, write ----------------------------------------------------------------------


@dataclass(frozen=True)
class Assets:
    """Bundled files: logical name to published path, and published path to content."""

    urls: Mapping[str, str]
    files: Mapping[str, bytes]
    service_worker: bytes = b""


@dataclass(frozen=True)
class Rendered:
    """The site as (path, content); pages, in UTF-8, carry a placeholder for the hash of the whole.

    `facts` of a page are what the checks would else have to find in its HTML.
    """

    resolved: Resolved
    assets: Assets
    pages: Mapping[str, bytes]
    files: Mapping[str, bytes | Path]
    findings: tuple[Finding, ...]
    facts: Mapping[str, Facts] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """A site that was looked at: with errors among its findings it is not written."""

    rendered: Rendered
    findings: tuple[Finding, ...] = field(default=())
