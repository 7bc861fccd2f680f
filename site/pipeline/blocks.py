"""Directives in the token stream: colon fences become an opening token, their body, a closing one.

A body is parsed with the page's own environment, so that footnotes, ids and line numbers are
those of the page.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from pipeline import directives as registry
from pipeline.directives.base import Call, Directive
from pipeline.errors import nearest, suggest
from pipeline.page import Page

Env = MutableMapping[str, Any]
MAX_DEPTH = 6
NO_OPTIONS = "it takes no options"
_INFO = re.compile(r"\{([A-Za-z0-9_-]+)\}[ \t]*(.*)", re.DOTALL)
_OPTION = re.compile(r":([a-z_]+):(?:[ \t]+(.*))?[ \t]*")
_HALF = re.compile(r"[ \t]*(:?)[ \t]*([A-Za-z_-]+)[ \t]*(:?)[ \t]*(.*)")
_OPENING = re.compile(r"\s*:{3,}[ \t]*\{")
_CLOSING = re.compile(r":{3,}[ \t]*$")


@cache
def known() -> dict[str, Directive]:
    """The registered directives."""
    return registry.registered()


def directives(state: StateCore) -> None:
    """The core rule: replace every colon fence of the page, outer ones first."""
    state.tokens = _expand(state.md, state.env["page"], state.env, state.tokens, ())


def _expand(
    md: MarkdownIt, page: Page, env: Env, tokens: list[Token], around: tuple[str, ...]
) -> list[Token]:
    out: list[Token] = []
    for token in tokens:
        if token.type != "colon_fence":
            out.append(token)
            continue
        call = None if _is_too_deep(page, token, around) else _call(page, token, around)
        if call is None:
            continue
        inner = [] if known()[call.name].is_raw else _inner(md, page, env, token, call, around)
        opening = Token("directive_open", "", 1, map=token.map)
        opening.meta = {"call": call, "size": len(inner) + 1}
        out += [opening, *inner, Token("directive_close", "", -1)]
    return out


def _is_too_deep(page: Page, token: Token, around: tuple[str, ...]) -> bool:
    """Whether fences stand too deep in an outermost one: noted once, and all of it left out."""
    if around:
        return False
    depth = 0
    for number, line in enumerate(token.content.split("\n"), start=2):
        depth += bool(_OPENING.match(line)) - bool(_CLOSING.fullmatch(line.strip()))
        if depth >= MAX_DEPTH:
            at = (token.map or [0])[0] + number
            rule = f"at most {MAX_DEPTH} levels"
            page.error(at, "directives nested too deeply", line, rule, "take some apart")
            return True
    return False


def _inner(
    md: MarkdownIt,
    page: Page,
    env: Env,
    token: Token,
    call: Call,
    around: tuple[str, ...],
) -> list[Token]:
    nested: list[Token] = []
    md.block.parse(call.body, md, env, nested)
    assert token.map is not None
    first = token.map[0] + 1 + len(call.options)
    for item in nested:
        if item.map is not None:
            item.map = [item.map[0] + first, item.map[1] + first]
    return _expand(md, page, env, nested, (*around, call.name))


def _call(page: Page, token: Token, around: tuple[str, ...]) -> Call | None:
    """The call that a fence spells, or None when it is wrong beyond use."""
    assert token.map is not None
    line = token.map[0] + 1
    found = _INFO.fullmatch(token.info.strip())
    if found is None:
        page.error(
            line,
            "colon fence without a directive",
            token.markup + token.info,
            "it opens with :::{name}",
            "name the directive, or close the one above with as many colons as it opened with",
        )
        return None
    name, argument = found.group(1), found.group(2).strip()
    if not _is_usable(page, name, token, line, around):
        return None
    options, body = _options(page, name, token.content, line)
    _check_argument(page, name, argument, line)
    return Call(name, argument, options, body, line, around[-1] if around else "")


def _is_usable(page: Page, name: str, token: Token, line: int, around: tuple[str, ...]) -> bool:
    names = known()
    if name not in names:
        page.error(
            line,
            "unknown directive",
            name,
            f"the directives are {', '.join(names)}",
            suggest(name, names, "directives"),
        )
        return False
    last = (token.map or [0, 1])[1] - 1
    if last < line or _CLOSING.search(page.source_lines[last]) is None:
        page.error(
            line,
            "directive is not closed",
            f"{token.markup}{{{name}}}",
            f"it ends with a line {token.markup}",
            "add that line",
        )
    allowed = names[name].parents
    if allowed is not None and (around[-1] if around else "") not in allowed:
        inside = " or ".join(parent or "the page itself" for parent in allowed)
        where = f"it stands in {inside}, not in {around[-1] if around else 'the page itself'}"
        page.error(line, "directive in the wrong place", name, where, "move it")
    return True


def _options(page: Page, name: str, content: str, line: int) -> tuple[dict[str, str], str]:
    """The `:key: value` lines at the top of a directive, and what follows them."""
    options: dict[str, str] = {}
    lines = content.split("\n")
    allowed = known()[name].options
    taken = 0
    for text in lines:
        found = _OPTION.fullmatch(text)
        key, value = found.groups() if found else _half(page, name, text, line + taken + 1)
        if not key:
            break
        taken += 1
        if found and key not in allowed:
            rule = f"the options are {', '.join(allowed)}" if allowed else NO_OPTIONS
            page.error(
                line + taken,
                f"unknown option of {name}",
                key,
                rule,
                suggest(key, allowed, "options") if allowed else "remove it",
            )
        elif key in options:
            page.error(
                line + taken,
                f"option of {name} given twice",
                key,
                "an option is given once",
                "remove one of the two",
            )
        elif found and not (value or "").strip():
            rule, action = "an option has a value", "give it one or remove it"
            page.error(line + taken, f"option of {name} without a value", text, rule, action)
        options[key] = (value or "").strip()
    _note_late(page, name, lines[taken:], line + taken)
    body = "\n" * (taken - len(options)) + "\n".join(lines[taken:])
    return options, body


def _half(page: Page, name: str, text: str, line: int) -> tuple[str, str]:
    """An option that is not quite written as one, which is noted; ('', '') for other text."""
    found = _HALF.fullmatch(text)
    if found is None:
        return "", ""
    first, key, second, value = found.groups()
    allowed = known()[name].options
    meant = key.lower().replace("-", "_")
    is_close = first and ((text[0] == ":" and text[1:2].isalpha()) or meant in allowed)
    if not is_close and not (second and key in allowed):
        return "", ""
    near = nearest(meant, allowed)
    if not near:
        rule = f"options are :name: value, of {', '.join(allowed)}" if allowed else NO_OPTIONS
        page.error(line, f"unknown option of {name}", text.strip(), rule, "correct or remove it")
        return meant, value
    rule = f"an option of {name} is written :{near}: and its value, at the line's start"
    page.error(
        line, "option written wrongly", text.strip(), rule, f"write :{near}: {value}".strip()
    )
    return near, value


def _note_late(page: Page, name: str, lines: list[str], line: int) -> None:
    """Options below text or an empty line: they would stand in the page as text."""
    allowed = known()[name].options
    for at, text in enumerate(lines, start=1):
        if text.lstrip().startswith((":::", "```")):
            return
        found = _OPTION.fullmatch(text)
        if found and found.group(1) in allowed:
            rule = "options stand right below the directive's first line"
            page.error(line + at, f"option of {name} too late", text, rule, "move it up")


def _check_argument(page: Page, name: str, argument: str, line: int) -> None:
    wanted = known()[name].argument
    if wanted and not argument:
        page.error(
            line,
            f"directive {name} without its argument",
            "",
            f"it takes {wanted}",
            f"write :::{{{name}}} and {wanted}",
        )
    if argument and not wanted:
        page.error(
            line,
            f"directive {name} with an argument",
            argument,
            "it takes none",
            "remove it, or put it on the next line",
        )


def build(page: Page, call: Call, inner: str) -> str:
    """The HTML of a directive whose body is `inner`."""
    return known()[call.name].build(page, call, inner)
