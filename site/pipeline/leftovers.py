"""Markup that was not understood: it would stand in the page as text."""

from __future__ import annotations

import re

from markdown_it.token import Token

from pipeline import directives
from pipeline.days import FORM, impossible
from pipeline.page import Page
from pipeline.roles import ROLES

_ROLE = "|".join(ROLES)
# `{record}` alone may be the role, too, which is told as one.
_DIRECTIVE = "|".join(name for name in directives.registered() if name not in ROLES)
_LEFTOVERS = (
    (
        re.compile(r"<(?:/?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?|!--[^>]*--)>"),
        "raw HTML",
        "HTML in Markdown is off",
        "use a directive, or `code` to show a tag",
    ),
    (
        re.compile(r".{0,20}\$.{0,20}"),
        "dollar sign alone",
        "a formula stands between two, without spaces inside",
        r"close it, or write \$ for a dollar sign",
    ),
    (
        re.compile(rf"\{{(?:{_ROLE})\}}.{{0,20}}"),
        "role without its content",
        "a role is {name}`content`",
        "close its backticks",
    ),
    (
        re.compile(rf"(?m)^:{{0,2}}\{{(?:{_DIRECTIVE})\}}.{{0,20}}"),
        "directive without its colons",
        "a directive begins with :::{name}",
        "begin the line with three colons",
    ),
    (
        re.compile(r"\[\^[^\]]{1,20}\]"),
        "footnote that is not there",
        "a footnote is told as [^name]: and its text",
        "correct its name, or write it",
    ),
    (
        re.compile(r"\]\(\s*[a-z]+:[^)]*\)?"),
        "link not allowed",
        "a link is https:, mailto: or a place in the book",
        "correct its address",
    ),
)
_HALF_ROLE = re.compile(rf"(?:^|[\s(（，。、])(\{{?({_ROLE})\}}?)$")


def refuse(page: Page, text: str, line: int) -> None:
    """Markup that was not understood would stand in the page as text."""
    for pattern, what, rule, action in _LEFTOVERS:
        found = pattern.search(text)
        if found:
            page.error(line, what, found.group(), rule, action)
    for day in impossible(text):
        rule = f"a day is written as in {FORM}"
        page.error(line, "not a day of the calendar", day, rule, "correct it")


def refuse_half_role(page: Page, before: Token, code: Token, line: int) -> None:
    """A role that lacks a brace would stand in the page as its name and some code."""
    found = _HALF_ROLE.search(before.content) if before.type == "text" else None
    if found:
        shown = f"{found.group(1)}`{code.content}`"
        rule, action = "a role is {name}`content`", f"write {{{found.group(2)}}}`{code.content}`"
        page.error(line, "role without its braces", shown, rule, action)
