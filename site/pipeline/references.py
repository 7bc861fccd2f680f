"""Links between pages: terms, sources, formulas, chapters. A missing target is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from pipeline.errors import FindingError, suggest
from pipeline.holes import ChapterHole, CiteHole, EquationHole, TermHole
from pipeline.model import Book, Document
from pipeline.views import CitationView, Reference
from pipeline.words import Words

Documents = Mapping[tuple[str, str], Document]


class TargetError(FindingError):
    """A reference without a target: what, value, rule, what to do."""


def term(book: Book, here: Document, hole: TermHole) -> Reference:
    """A link to the glossary that carries the definition."""
    found = book.terms.get(hole.id)
    if found is None:
        raise TargetError(
            "unknown term",
            hole.id,
            "terms are in content/glossary.toml",
            suggest(hole.id, book.terms, "terms"),
        )
    href = f"#{hole.id}" if here.slug == "glossary" else f"../glossary/#{hole.id}"
    text = escape(hole.text or found.names[here.language])
    return Reference(href, text, found.definitions[here.language])


def cite(book: Book, here: Document, hole: CiteHole) -> CitationView:
    """A citation; its number is the source's place in content/sources.toml, on every page."""
    found = book.sources.get(hole.id)
    if found is None:
        raise TargetError(
            "unknown source",
            hole.id,
            "sources are in content/sources.toml",
            suggest(hole.id, book.sources, "sources"),
        )
    number = list(book.sources).index(hole.id) + 1
    href = f"#{hole.id}" if here.slug == "sources" else f"../sources/#{hole.id}"
    return CitationView(number, found, hole.is_full, href)


def equation(book: Book, documents: Documents, here: Document, hole: EquationHole) -> Reference:
    """A link to a labelled formula, with its number; on another page with that page's title."""
    target = documents.get((hole.slug or here.slug, here.language))
    if target is None:
        raise _no_chapter(documents, here, hole.slug)
    number = target.labels.get(hole.label)
    if number is None:
        raise TargetError(
            "unknown formula",
            hole.label,
            f"labels of {target.file} are {', '.join(target.labels) or 'none'}",
            suggest(hole.label, target.labels, "labels"),
        )
    if target is here or not hole.slug:
        return Reference(f"#eq-{hole.label}", f"({number})")
    words = Words(here.language, book.strings[here.language])
    text = words("equation.elsewhere").format(title=target.meta.title, number=number)
    return Reference(f"../{hole.slug}/#eq-{hole.label}", escape(text))


def chapter(documents: Documents, here: Document, hole: ChapterHole) -> Reference:
    """A link to a page or a heading on it."""
    target = documents.get((hole.slug, here.language))
    if target is None:
        raise _no_chapter(documents, here, hole.slug)
    if hole.anchor and hole.anchor not in dict(target.anchors):
        names = [name for name, _ in target.anchors]
        raise TargetError(
            "unknown heading",
            f"{hole.slug}#{hole.anchor}",
            f"{target.file} has no such id",
            suggest(hole.anchor, names, "ids"),
        )
    heading = next((h for h in target.headings if hole.anchor and h.id == hole.anchor), None)
    default = re.sub("<[^>]+>|\x00\\d+\x00", "", heading.html) if heading else ""
    text = escape(hole.text) or default or escape(target.meta.title)
    fragment = f"#{hole.anchor}" if hole.anchor else ""
    return Reference(f"../{hole.slug}/{fragment}", text)


def _no_chapter(documents: Documents, here: Document, slug: str) -> TargetError:
    slugs = [name for name, language in documents if language == here.language]
    return TargetError(
        "unknown chapter",
        slug,
        f"no page of that name in {here.language}",
        suggest(slug, slugs, "chapters"),
    )
