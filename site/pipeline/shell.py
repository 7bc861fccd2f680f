"""What surrounds a page's text: its place in the book, its neighbours, its other languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipeline.model import REFERENCE_SLUGS, Book, Document, Language, Parsed

MAX_NAVIGATION = 60
WINDOW = 20
BUILD_PLACEHOLDER = "@@wiki-build@@"
CSP = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; worker-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'self'"
)
_LINKS = re.compile(r"</?(?:a|wiki-term)\b[^>]*>")


@dataclass(frozen=True)
class Filled:
    """A page's HTML fields, filled."""

    document: Document
    body: Markup
    question: Markup
    checks: tuple[Markup, ...]
    mistake: Markup
    toc: tuple[dict[str, Any], ...]


class Shell:
    """Contexts of the templates; what all pages of a language share is made once."""

    def __init__(self, parsed: Parsed, filled: Mapping[tuple[str, str], Filled]) -> None:
        self.book: Book = parsed.book
        self.documents = parsed.documents
        self.filled = filled
        self.entries = {language.id: self._entries(language.id) for language in self.book.languages}
        self.places = {
            language: {entry["slug"]: at for at, entry in enumerate(entries)}
            for language, entries in self.entries.items()
        }

    def continued(self, parsed: Parsed, filled: Mapping[tuple[str, str], Filled]) -> Shell:
        """The same surroundings for pages whose titles and order are as they were."""
        other = copy(self)
        other.book, other.documents, other.filled = parsed.book, parsed.documents, filled
        return other

    def _entries(self, language: str) -> list[dict[str, Any]]:
        """The chapters of a language in order, each with its part's id."""
        slugs = [(part, slug) for part in self.book.parts for slug in part.chapters]
        there = [(part, s) for part, s in slugs if (s, language) in self.documents]
        return [
            {
                **self._entry(slug, language),
                "part": part.id,
                "part_title": part.titles[language],
                "number": number,
            }
            for number, (part, slug) in enumerate(there, start=1)
        ]

    def _entry(self, slug: str, language: str) -> dict[str, Any]:
        meta = self.documents[slug, language].meta
        return {"slug": slug, "title": meta.title, "question": meta.question}

    def site(self, language: Language, slug: str = "") -> dict[str, Any]:
        """The book around a page: all of it, or its neighbourhood where it is large."""
        entries = self.entries[language.id]
        at = self.places[language.id].get(slug)
        if slug and len(entries) > MAX_NAVIGATION:
            first = max(0, (at or 0) - WINDOW)
            entries = entries[first : (at or 0) + WINDOW + 1]
        if not slug:
            entries = [self._with_facts(entry, language.id) for entry in entries]
        return {
            "build": BUILD_PLACEHOLDER,
            "languages": [vars(item) for item in self.book.languages],
            "parts": _by_part(entries),
            "reference": [
                self._entry(name, language.id)
                for name in REFERENCE_SLUGS
                if (name, language.id) in self.documents
            ],
        }

    def _with_facts(self, entry: dict[str, Any], language: str) -> dict[str, Any]:
        """An entry of the home page's map: with the chapter's question and mistake."""
        filled = self.filled.get((entry["slug"], language))
        return {
            **entry,
            "question_html": without_links(filled.question) if filled else "",
            "mistake_html": without_links(filled.mistake) if filled else "",
            "mistake_label": filled.document.meta.mistake_label if filled else "",
        }

    def page(self, filled: Filled, language: Language) -> dict[str, Any]:
        """The page as its template takes it."""
        document = filled.document
        at = self.places[language.id].get(document.slug)
        entries = self.entries[language.id]
        here = entries[at] if at is not None else None
        return {
            **self.common(language, document.slug),
            "title": document.meta.title,
            "question": document.meta.question,
            "question_html": filled.question,
            "checks": list(filled.checks),
            "mistake_html": filled.mistake,
            "mistake_label": document.meta.mistake_label,
            "toc": list(filled.toc),
            "body_html": filled.body,
            "number": here["number"] if here else None,
            "part": {"id": here["part"], "title": here["part_title"]} if here else None,
            "previous": entries[at - 1] if at else None,
            "next": entries[at + 1] if at is not None and at + 1 < len(entries) else None,
        }

    def common(self, language: Language, slug: str) -> dict[str, Any]:
        """What every page has, the home page (no slug) too."""
        kind = self.book.chapters[slug].kind if slug else "home"
        up = "../../" if slug else "../"
        tail = f"{slug}/" if slug else ""
        return {
            "language": language.id,
            "html_lang": language.html,
            "slug": slug,
            "kind": kind,
            "csp": CSP,
            "alternates": [
                {
                    "language": other.id,
                    "html": other.html,
                    "name": other.name,
                    "href": f"{up}{other.id}/{tail}",
                }
                for other in self.book.languages
                if not slug or (slug, other.id) in self.documents
            ],
        }


def _by_part(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for entry in entries:
        if not parts or parts[-1]["id"] != entry["part"]:
            parts.append({"id": entry["part"], "title": entry["part_title"], "chapters": []})
        parts[-1]["chapters"].append(entry)
    return parts


def without_links(html: str) -> Markup:
    """HTML that can stand inside a link."""
    return Markup(_LINKS.sub("", html))
