"""Stamp: a translation that a person has looked at names the text that it follows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pipeline.load import load
from pipeline.model import Options
from pipeline.parse import text_digest

_FOLLOWS = re.compile(r"^follows:.*$", re.MULTILINE)


def stamp(options: Options, confirm: Callable[[str], str]) -> list[str]:
    """Ask about each stale translation and write the hash where the answer is y. Returns those."""
    book = load(options)
    first = book.languages[0].id
    stamped = []
    for slug, chapter in book.chapters.items():
        original = chapter.texts.get(first)
        if original is None or options.only not in ("", slug):
            continue
        digest = text_digest(original.text)
        for language, text in chapter.texts.items():
            if language == first or f"\nfollows: {digest}\n" in text.text:
                continue
            question = f"{text.file} says what {original.file} says now ({digest})? [y/N] "
            if _is_confirmed(confirm, question):
                write_follows(options.root / text.file, digest)
                stamped.append(text.file)
    return stamped


def _is_confirmed(confirm: Callable[[str], str], question: str) -> bool:
    try:
        return confirm(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def write_follows(path: Path, digest: str) -> None:
    """Put `follows: digest` into the front matter of a page, whole or not at all."""
    text = path.read_text("utf-8")
    head, mark, body = text[4:].partition("\n---")
    line = f"follows: {digest}"
    head = _FOLLOWS.sub(line, head, count=1) if _FOLLOWS.search(head) else f"{head}\n{line}"
    fresh = path.with_name(f".{path.name}.part")
    fresh.write_text(f"---\n{head}{mark}{body}", "utf-8")
    fresh.replace(path)
