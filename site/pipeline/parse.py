"""Parse: every page to HTML with holes, then all formulas of the book in one batch."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline import frontmatter
from pipeline.cache import ByteCache, content_key, unpickled
from pipeline.code import code_digest
from pipeline.errors import Finding
from pipeline.holes import FormulaHole
from pipeline.markdown import markdown
from pipeline.model import Book, Document, Meta, Parsed, Text
from pipeline.page import Page
from pipeline.tex import Formula, TexError

FormulaRenderer = Callable[[Iterable[Formula]], Mapping[Formula, str]]
MAX_FORMULAS = 2_000
_LINE_END = re.compile(r"\r\n?|\n")  # as the parser of Markdown counts lines
_EMPTY = Meta("", "", "", (), "", "", (), "", {})


def parse(book: Book, formulas: FormulaRenderer) -> Parsed:
    """The step. `formulas` sets TeX; it is handed in, so that parsing needs no Node."""
    texts = {
        (slug, language): text
        for slug, chapter in book.chapters.items()
        for language, text in chapter.texts.items()
    }
    documents = _documents(texts, book.options.cache)
    wanted = dict.fromkeys(
        hole.formula
        for item in documents.values()
        for hole in item.holes
        if isinstance(hole, FormulaHole)
    )
    rendered, failed = set_formulas(wanted, formulas)
    findings = [finding for item in documents.values() for finding in item.findings]
    findings += [finding for item in documents.values() for finding in located(item, failed)]
    return Parsed(book, documents, rendered, tuple(findings))


def _documents(
    texts: Mapping[tuple[str, str], Text], cache: Path
) -> dict[tuple[str, str], Document]:
    """Parsed pages; those whose text was parsed before come from the cache."""
    code = code_digest()
    keys = {place: content_key(code, place, text.file, text.text) for place, text in texts.items()}
    store = ByteCache(cache / "documents.sqlite")
    kept = store.get_many(keys.values())
    documents = {}
    fresh: dict[str, bytes] = {}
    for place, text in texts.items():
        known = unpickled(kept.get(keys[place]), Document)
        documents[place] = known or document(text, *place)
        if known is None:
            fresh[keys[place]] = pickle.dumps(documents[place])
    store.put_many(fresh)
    return documents


def document(text: Text, slug: str, language: str) -> Document:
    """One page parsed; nothing but its text decides the result."""
    page = Page(text.file, slug, language, _LINE_END.split(text.text))
    try:
        head = frontmatter.split(text.text)
    except frontmatter.HeadError as error:
        page.error(*error.parts)
        return _headless(page, text)
    meta = _meta(page, head)
    env: dict[str, Any] = {"page": page}
    body = markdown().render(head.body, env)
    _note_footnotes(page, env)
    if _has_too_many_formulas(page):
        meta, body = _bare(page, meta), ""
    return _frozen(page, text, meta, body)


def _note_footnotes(page: Page, env: Mapping[str, Any]) -> None:
    """Footnotes that nothing refers to: their text would not be there."""
    for name, number in env.get("footnotes", {}).get("refs", {}).items():
        if number < 0:
            mark = f"[^{name.removeprefix(':')}]:"
            lines = [n for n, text in enumerate(page.source_lines, 1) if text.startswith(mark)]
            rule = "a footnote is shown where its mark stands"
            action = f"write {mark.removesuffix(':')} in the text, or remove it"
            page.error(lines[0] if lines else 1, "footnote without a mark", mark, rule, action)


def _headless(page: Page, text: Text) -> Document:
    """A page whose head cannot be read, which is said; it is not built, but referred to."""
    markdown().render(frontmatter.body_of(text.text), {"page": page})
    return _frozen(page, text, _bare(page, _EMPTY), "")


def _meta(page: Page, head: frontmatter.Head) -> Meta:
    for problem in head.wrong:
        page.error(*problem)
    misspelt = " ".join(action for _, _, _, _, action in head.wrong)
    for name in ("title", "question"):
        if not head.values.get(name) and f"{name!r}" not in misspelt:
            page.error(
                head.lines.get(name, 1),
                "front matter lacks a field",
                name,
                "every page has title and question",
                f"add {name}: …",
            )
    return Meta(
        title=head.values.get("title", ""),
        question=head.values.get("question", ""),
        question_html=_inline(page, head.values.get("question", ""), head.lines.get("question", 1)),
        checks=tuple(
            _inline(page, item, head.lines["checks"] + 1 + number)
            for number, item in enumerate(head.lists.get("checks", ()))
        ),
        mistake_html=_inline(page, head.values.get("mistake", ""), head.lines.get("mistake", 1)),
        mistake_label=head.values.get("mistake_label", ""),
        constants=head.lists.get("constants", ()),
        follows=head.values.get("follows", ""),
        lines=head.lines,
    )


def _inline(page: Page, text: str, line: int) -> str:
    """A text of the front matter as HTML without a paragraph around it."""
    if not text:
        return ""
    md = markdown()
    env = {"page": page}
    tokens = md.parseInline(text, env)
    tokens[0].map = [line - 1, line]
    for child in tokens[0].children or []:
        child.meta["line"] = line
    return str(md.renderer.render(tokens, md.options, env))


def _has_too_many_formulas(page: Page) -> bool:
    formulas = [hole for hole in page.holes if isinstance(hole, FormulaHole)]
    if len(formulas) <= MAX_FORMULAS:
        return False
    line = formulas[MAX_FORMULAS].line
    rule = f"a page has at most {MAX_FORMULAS}"
    page.error(line, "too many formulas", str(len(formulas)), rule, "split the chapter")
    return True


def _bare(page: Page, meta: Meta) -> Meta:
    """Of a page that is not built, leave what other pages refer to: names, not holes."""
    page.holes.clear()
    page.headings[:] = [replace(heading, html="") for heading in page.headings]
    return replace(meta, question_html="", checks=(), mistake_html="")


def _frozen(page: Page, text: Text, meta: Meta, body: str) -> Document:
    return Document(
        file=page.file,
        slug=page.slug,
        language=page.language,
        digest=text_digest(text.text),
        meta=meta,
        body=body,
        holes=tuple(page.holes),
        headings=tuple(page.headings),
        labels=dict(page.labels),
        anchors=tuple(page.anchors.items()),
        links=tuple(page.links),
        decimals=tuple(page.decimals),
        findings=tuple(page.findings),
    )


def text_digest(text: str) -> str:
    """What a translation's `follows` holds: the first 12 hex digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def set_formulas(
    wanted: Iterable[Formula], formulas: FormulaRenderer
) -> tuple[Mapping[Formula, str], dict[Formula, str]]:
    """The HTML of all formulas that can be set, and what is wrong with each of the others."""
    remaining = list(wanted)
    failed: dict[Formula, str] = {}
    while True:
        try:
            return formulas(remaining), failed
        except TexError as error:
            failed |= {item.formula: item.message for item in error.failures}
            rest = [formula for formula in remaining if formula not in failed]
            if len(rest) == len(remaining):
                raise
            remaining = rest


def located(item: Document, failed: Mapping[Formula, str]) -> list[Finding]:
    """What is wrong with a page's formulas, where they stand."""
    return [
        Finding(
            item.file,
            hole.line,
            "formula cannot be set",
            hole.formula.tex,
            failed[hole.formula],
            "correct the TeX",
        )
        for hole in item.holes
        if isinstance(hole, FormulaHole) and hole.formula in failed
    ]
