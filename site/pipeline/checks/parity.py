"""Checks between languages: what one text has, the other has too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pipeline.errors import Finding, as_warnings
from pipeline.holes import (
    Binding,
    CalculatorHole,
    CiteHole,
    ExerciseHole,
    FigureHole,
    FormulaHole,
    PlotHole,
    RecordHole,
    ValueHole,
)
from pipeline.model import Document, Rendered

_TEXT = re.compile(r"\\text\{[^{}]*\}")
_SPACE = re.compile(r"\s+")


def pages(rendered: Rendered) -> Iterator[Finding]:
    """Every page has in every language what it has in the first; a missing thing is named."""
    parsed = rendered.resolved.parsed
    first, *others = [language.id for language in parsed.book.languages]
    # What is wrong with a text of itself would be told again as what the other text has more.
    wrong = {f.file for f in (*parsed.findings, *rendered.resolved.findings) if f.level == "error"}
    for (slug, language), page in rendered.resolved.pages.items():
        original = parsed.documents.get((slug, first))
        if language not in others or original is None:
            continue
        if not (original.body and page.document.body) or wrong & {
            original.file,
            page.document.file,
        }:
            continue  # a page that could not be read has nothing to compare, and says why
        found = tuple(_compare(original, page.document))
        yield from as_warnings(found) if parsed.book.options.is_draft else found


def translations(rendered: Rendered) -> Iterator[Finding]:
    """A translation follows the text as it is now; one that does not is listed."""
    parsed = rendered.resolved.parsed
    first = parsed.book.languages[0].id
    for (slug, language), page in rendered.resolved.pages.items():
        original = parsed.documents.get((slug, first))
        meta = page.document.meta
        if language != first and original is not None and meta.follows != original.digest:
            yield Finding(
                page.document.file,
                meta.lines.get("follows", 1),
                "stale translation",
                meta.follows or "no follows",
                f"{original.file} is {original.digest} now",
                "look at what changed, then run build.py --stamp",
                "warning",
            )


def _compare(original: Document, translation: Document) -> Iterator[Finding]:
    there = _things(translation)
    for kind, left in _things(original).items():
        right = there[kind]
        if left == right:
            continue
        counts, others = Counter(name for name, _ in left), Counter(name for name, _ in right)
        yield from _lacking(kind, left, counts - others, original, translation)
        yield from _lacking(kind, right, others - counts, translation, original)


def _lacking(
    kind: str,
    things: list[tuple[str, int]],
    surplus: Counter[str],
    having: Document,
    lacking: Document,
) -> Iterator[Finding]:
    for name, count in surplus.items():
        line = next(line for thing, line in things if thing == name)
        times = f" {count} times more" if count > 1 else ""
        yield Finding(
            lacking.file,
            1,
            f"{kind} missing",
            name,
            f"{having.file}:{line} has it{times}",
            "both languages hold the same: add it here or remove it there",
        )


def _things(item: Document) -> dict[str, list[tuple[str, int]]]:
    """What languages must share, by kind: names with their lines."""
    found: dict[str, list[tuple[str, int]]] = {
        "heading": [(heading.id, heading.line) for heading in item.headings],
        "label": [(label, 1) for label in item.labels],
        "check": [(f"{len(item.meta.checks)} checks", item.meta.lines.get("checks", 1))],
    }
    kinds = ("formula", "bound number", "calculator", "record", "figure", "exercise", "citation")
    found |= {kind: [] for kind in kinds}
    for hole in item.holes:
        match hole:
            case FormulaHole():
                found["formula"].append((formula(hole.formula.tex), hole.line))
            case ValueHole():
                found["bound number"].append((hole.binding.text, hole.line))
            case CalculatorHole():
                shown = f"{hole.id} {hole.name} {hole.inputs} {hole.show} {hole.hide} {hole.plot}"
                found["calculator"].append((shown.replace(" () () ", "").strip(), hole.line))
            case RecordHole():
                shown = " ".join([hole.name, *(binding.text for binding in hole.show)])
                found["record"].append((shown, hole.line))
            case PlotHole():
                shown = " ".join([hole.id, *(binding.text for binding in hole.series)])
                found["figure"].append((shown, hole.line))
            case FigureHole():
                found["figure"].append((f"{hole.id} {hole.file}", hole.line))
            case ExerciseHole():
                found["exercise"].append((f"{hole.id} {_text(hole.answer)}".strip(), hole.line))
            case CiteHole():
                found["citation"].append((hole.id, hole.line))
    found["citation"] = list(dict(found["citation"]).items())
    return found


def formula(tex: str) -> str:
    """TeX without the words in it, which each language says in its own way."""
    return _SPACE.sub(" ", _TEXT.sub(r"\\text{…}", tex)).strip()


def _text(binding: Binding | None) -> str:
    return binding.text if binding else ""
