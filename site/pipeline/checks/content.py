"""Checks of the text: its sections, its typed numbers, its figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.errors import Finding, as_warnings, suggest
from pipeline.holes import ExerciseHole, FigureHole
from pipeline.model import Document, Rendered, Text

SECTIONS = ("situation", "limits", "checklist", "exercises", "sources")
MIN_EXERCISES = 3
_DRAWN = re.compile(r'<text[^>]*\blang="([\w-]+)"')


def documents(rendered: Rendered) -> list[Document]:
    """The documents that are part of this build."""
    return [page.document for page in rendered.resolved.pages.values()]


def outlines(rendered: Rendered) -> Iterator[Finding]:
    """Every chapter has the sections that every chapter has, and exercises."""
    book = rendered.resolved.parsed.book
    for item in documents(rendered):
        if book.chapters[item.slug].kind == "chapter" and item.body:
            found = (*_outline(item), *_mistake(item))
            yield from as_warnings(found) if book.options.is_draft else found


def _outline(item: Document) -> Iterator[Finding]:
    ids = {heading.id for heading in item.headings}
    for name in SECTIONS:
        if name not in ids:
            yield Finding(
                item.file,
                1,
                "section missing",
                name,
                f"every chapter has the sections {', '.join(SECTIONS)}",
                f"add {{#{name}}} and its heading",
            )
    count = sum(isinstance(hole, ExerciseHole) for hole in item.holes)
    if count < MIN_EXERCISES:
        yield Finding(
            item.file,
            1,
            "too few exercises",
            str(count),
            f"a chapter has {MIN_EXERCISES} at least",
            "add some",
        )


def _mistake(item: Document) -> Iterator[Finding]:
    """The number at the head of a chapter stands beside what it is the size of."""
    if bool(item.meta.mistake_html) != bool(item.meta.mistake_label):
        given, lacking = ("mistake", "mistake_label")[:: 1 if item.meta.mistake_html else -1]
        line = item.meta.lines.get(given, 1)
        rule, action = f"a chapter has {given} and {lacking}, or neither", f"add {lacking}: …"
        yield Finding(item.file, line, "front matter lacks a field", lacking, rule, action)


def typed_numbers(rendered: Rendered) -> Iterator[Finding]:
    """A decimal of three or more digits is bound, or declared to be an input or a constant."""
    for item in documents(rendered):
        declared = set(item.meta.constants)
        for number, line in item.decimals:
            if number not in declared:
                yield Finding(
                    item.file,
                    line,
                    "typed number",
                    number,
                    "a result is bound to a "
                    "calculator or a record; an input or a constant is declared",
                    f'bind it with a role, or add "{number}" to constants',
                )


def constants(rendered: Rendered) -> Iterator[Finding]:
    """A declared constant stands in the text."""
    for item in documents(rendered):
        source = rendered.resolved.parsed.book.chapters[item.slug].texts[item.language].text
        _, _, body = source.partition("\n---")
        for number in item.meta.constants:
            if number not in body:
                yield Finding(
                    item.file,
                    item.meta.lines.get("constants", 1),
                    "unused constant",
                    number,
                    "constants are numbers of the text",
                    "remove it",
                    "warning",
                )


def figures(rendered: Rendered) -> Iterator[Finding]:
    """Every drawing of a folder is shown by a text, and the folder holds nothing else."""
    parsed = rendered.resolved.parsed
    for slug, chapter in parsed.book.chapters.items():
        if parsed.book.options.only not in ("", slug):
            continue
        texts = [parsed.documents.get((slug, language)) for language in chapter.texts]
        used = {
            hole.file
            for item in texts
            if item is not None
            for hole in item.holes
            if isinstance(hole, FigureHole)
        }
        for name, drawing in chapter.figures.items():
            yield from _untranslated(drawing, [x.id for x in parsed.book.languages])
            if name not in used:
                found = Finding(
                    drawing.file,
                    1,
                    "unused figure",
                    name,
                    "a drawing is shown by its chapter",
                    suggest(name, used) if used else "remove it",
                )
                yield from as_warnings([found]) if parsed.book.options.is_draft else [found]


def _untranslated(drawing: Text, languages: Sequence[str]) -> Iterator[Finding]:
    """A drawing says in each language as much as in the first."""
    counts = Counter(_DRAWN.findall(drawing.text))
    for language in languages[1:]:
        if counts[language] != counts[languages[0]]:
            file, first = drawing.file, languages[0]
            rule = f"it has {counts[first]} of {first} and {counts[language]} of {language}"
            action = f'write a <text lang="{language}"> beside each of {first}, and no other'
            yield Finding(file, 1, "drawing not translated", language, rule, action)
