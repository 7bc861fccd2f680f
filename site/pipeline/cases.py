"""The case book: each case of content/cases/cases.json as a page shows it."""

from __future__ import annotations

from typing import Any

from pipeline.model import Book


def entries(book: Book, language: str) -> list[dict[str, Any]]:
    """The cases in order, with what the page shows of each."""
    return [dict(case.body) for case in book.cases]
