"""The search index, made by Pagefind from the finished pages: one for each language."""

from __future__ import annotations

from pathlib import Path


def index(folder: Path) -> None:
    """Index the pages of the site in `folder`."""
