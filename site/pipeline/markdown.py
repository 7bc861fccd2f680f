"""Markdown to tokens to HTML: the plugins, three core rules of our own, the render rules.

The page under work travels in the environment as `env["page"]`; nothing is global.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from mdit_py_plugins.attrs import attrs_block_plugin, attrs_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from pipeline import blocks, leftovers, roles
from pipeline.highlight import UnknownLanguageError, highlight
from pipeline.model import Heading
from pipeline.page import Page

Env = MutableMapping[str, Any]
MAX_NESTING = 60
_ALIGN = re.compile(r"text-align:(left|right|center)")
_HEADING_TAGS = ("h2", "h3")


@cache
def markdown() -> MarkdownIt:
    """The one parser: raw HTML off, MyST's directives and roles on."""
    md = MarkdownIt("commonmark", {"html": False, "typographer": True}, renderer_cls=Renderer)
    md.options["maxNesting"] = MAX_NESTING
    md.enable(["table", "smartquotes"])
    md.use(attrs_plugin, allowed=("id", "class")).use(attrs_block_plugin, allowed=("id", "class"))
    md.use(colon_fence_plugin).use(myst_role_plugin).use(footnote_plugin).use(deflist_plugin)
    md.use(dollarmath_plugin, allow_labels=False, allow_space=False)
    md.core.ruler.after("block", "directives", blocks.directives)
    md.core.ruler.after("inline", "locate", locate)
    for rule in (myst_role, math_inline, math_block, fence, image, table_open, table_close):
        md.add_render_rule(rule.__name__, rule)
    md.add_render_rule("code_block", fence)
    return md


class Renderer(RendererHTML):
    """HTML of tokens; a directive and a heading are rendered as a whole, from within."""

    def render(self, tokens: Sequence[Token], options: OptionsDict, env: Any) -> str:
        """All of `tokens`, inner parts first."""
        pieces: list[str] = []
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "directive_open":
                end = position + token.meta["size"]
                inner = self.render(tokens[position + 1 : end], options, env)
                pieces.append(blocks.build(env["page"], token.meta["call"], inner))
                position = end
            elif token.type == "heading_open":
                children = tokens[position + 1].children or []
                pieces.append(
                    _heading(env["page"], token, self.renderInline(children, options, env))
                )
                position += 2
            elif token.type == "inline":
                pieces.append(self.renderInline(token.children or [], options, env))
            elif token.type in self.rules:
                pieces.append(self.rules[token.type](tokens, position, options, env))
            else:
                pieces.append(self.renderToken(tokens, position, options, env))
            position += 1
        return "".join(pieces)


def _heading(page: Page, token: Token, html: str) -> str:
    line = line_of(token)
    name = str(token.attrs.get("id", ""))
    text = re.sub("<[^>]+>", "", html)
    if token.tag not in _HEADING_TAGS:
        page.error(
            line,
            "heading of another level",
            text,
            "headings are ## and ###; the title is in the front matter",
            "change its level",
        )
    if not name:
        page.error(
            line,
            "heading without an id",
            text,
            "every heading has an id, the same in all languages",
            "write {#some-id} on the line before it",
        )
    if token.tag == "h2":
        page.section = name
    page.headings.append(
        Heading(line, page.anchor(name, line) if name else "", int(token.tag[1]), html)
    )
    link = f'<a class="heading-link" href="#{name}" aria-labelledby="{name}"></a>'
    return f'<{token.tag} id="{escape(name)}">{html}{link}</{token.tag}>\n'


def line_of(token: Token) -> int:
    """The line that `locate` gave the token."""
    return int(token.meta.get("line", 1))


def locate(state: StateCore) -> None:
    """Give every token its line, and note what running text may not hold or must declare."""
    page: Page = state.env["page"]
    line = 1
    is_too_deep = False
    for token in state.tokens:
        if token.map is not None:
            line = token.map[0] + 1
        if token.level >= MAX_NESTING - 1 and not is_too_deep:
            is_too_deep = True
            page.error(
                line,
                "text nested too deeply",
                f"{token.level} levels",
                f"at most {MAX_NESTING} levels",
                "take some apart",
            )
        token.meta["line"] = line
        _claim_attributes(page, token, line)
        if token.type == "inline":
            _locate_children(page, token.children or [], line)


def _claim_attributes(page: Page, token: Token, line: int) -> None:
    align = _ALIGN.fullmatch(str(token.attrs.get("style", "")))
    if align:
        del token.attrs["style"]
        token.attrJoin("class", f"align-{align.group(1)}")
    if "insecure_attrs" in token.meta:
        page.error(
            line,
            "attribute not allowed",
            ", ".join(token.meta["insecure_attrs"]),
            "a text may give an id or a class",
            "remove it",
        )
    if "id" in token.attrs and token.type != "heading_open" and token.nesting >= 0:
        page.anchor(str(token.attrs["id"]), line)


def _locate_children(page: Page, children: Sequence[Token], line: int) -> None:
    for at, child in enumerate(children):
        child.meta["line"] = line
        _claim_attributes(page, child, line)
        if child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type == "text":
            page.note_decimals(child.content, line)
            leftovers.refuse(page, child.content, line)
        elif child.type == "code_inline" and at:
            leftovers.refuse_half_role(page, children[at - 1], child, line)
        elif child.type == "link_open":
            _note_link(page, child, line)
        elif child.type == "math_inline":
            line += child.content.count("\n")


def _note_link(page: Page, token: Token, line: int) -> None:
    href = str(token.attrs.get("href", ""))
    page.links.append((href, line))
    if href.startswith(("http:", "https:")):
        token.attrs["rel"] = "noopener external"


# Render rules: each takes the renderer first, as markdown-it binds them.


def myst_role(
    _: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, env: Env
) -> str:
    """A role: the mark of its hole."""
    token = tokens[index]
    return roles.render(env["page"], token.meta["name"], token.content, line_of(token))


def math_inline(
    _: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, env: Env
) -> str:
    """A formula in running text."""
    page: Page = env["page"]
    return page.formula(tokens[index].content, False, line_of(tokens[index]))


def math_block(
    _: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, env: Env
) -> str:
    """A formula between double dollars."""
    page: Page = env["page"]
    return page.formula(tokens[index].content, True, line_of(tokens[index]))


def fence(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, env: Env) -> str:
    """Code with its words marked; the language must be one that Pygments knows."""
    token = tokens[index]
    language = token.info.strip().split(" ")[0] or "text"
    try:
        return highlight(token.content, language)
    except UnknownLanguageError:
        page: Page = env["page"]
        page.error(
            line_of(token),
            "unknown language of code",
            language,
            "it is a name that Pygments knows",
            "correct it, or write text",
        )
        return highlight(token.content, "text")


def image(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, env: Env) -> str:
    """Images are figures here: they have both languages and a description."""
    page: Page = env["page"]
    source = str(tokens[index].attrs.get("src", ""))
    page.error(
        line_of(tokens[index]),
        "image in Markdown",
        source,
        "drawings are figures",
        "write :::{figure} NAME.svg",
    )
    return ""


def table_open(*_: Any) -> str:
    """A table that may be wider than the page scrolls inside itself."""
    return '<div class="table-scroll" tabindex="0">\n<table>\n'


def table_close(*_: Any) -> str:
    """The end of the same."""
    return "</table>\n</div>\n"
