"""Roles: `{name}`content`` in running text. One function each; a role leaves a hole."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from pipeline import expressions
from pipeline.errors import suggest
from pipeline.holes import ChapterHole, CiteHole, EquationHole, TermHole, ValueHole
from pipeline.page import Page

Role = Callable[[Page, str, int], str]
_TARGET = re.compile(r"\s*(.*?)\s*<\s*([^<>]+?)\s*>\s*", re.DOTALL)
_LABEL = r"[a-z][a-z0-9-]*"


def calc(page: Page, content: str, line: int) -> str:
    """A value that a calculator gives."""
    return _value(page, "calc", content, line)


def record(page: Page, content: str, line: int) -> str:
    """A value that a record holds."""
    return _value(page, "record", content, line)


def _value(page: Page, source: str, content: str, line: int) -> str:
    try:
        binding = expressions.parse("calc" if source == "calc" else "record", content)
    except expressions.ExpressionError as error:
        page.error(line, *error.parts)
        return escape(content)
    return page.hole(ValueHole(line, binding))


def term(page: Page, content: str, line: int) -> str:
    """A glossary term, or other words for it: `words <id>`."""
    text, target = _split(content)
    return page.hole(TermHole(line, target, text))


def cite(page: Page, content: str, line: int) -> str:
    """A source; written out in the section of sources."""
    return page.hole(CiteHole(line, content.strip(), page.section == "sources"))


def eq(page: Page, content: str, line: int) -> str:
    """A labelled formula, of another page as slug#label."""
    found = re.fullmatch(rf"(?:({_LABEL})#)?({_LABEL})", content.strip())
    if found is None:
        page.error(
            line,
            "not a formula's label",
            content,
            "an eq role is label or slug#label",
            "correct the role",
        )
        return escape(content)
    return page.hole(EquationHole(line, found.group(1) or "", found.group(2)))


def chapter(page: Page, content: str, line: int) -> str:
    """A page or a heading on it: slug, slug#id, or `words <slug#id>`."""
    text, target = _split(content)
    found = re.fullmatch(rf"({_LABEL})(?:#({_LABEL}))?", target)
    if found is None:
        page.error(
            line,
            "not a chapter",
            content,
            "a chapter role is slug, slug#id or words <slug#id>",
            "correct the role",
        )
        return escape(content)
    return page.hole(ChapterHole(line, found.group(1), found.group(2) or "", text))


def _split(content: str) -> tuple[str, str]:
    found = _TARGET.fullmatch(content)
    return (found.group(1), found.group(2)) if found else ("", content.strip())


ROLES: dict[str, Role] = {role.__name__: role for role in (calc, record, term, cite, eq, chapter)}


def render(page: Page, name: str, content: str, line: int) -> str:
    """The HTML of a role, mostly the mark of its hole."""
    if name not in ROLES:
        page.error(
            line,
            "unknown role",
            name,
            f"the roles are {', '.join(ROLES)}",
            suggest(name, ROLES, "roles"),
        )
        return escape(content)
    return ROLES[name](page, content, line)
