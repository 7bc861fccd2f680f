"""`:::{figure} FILE`: a drawing of the chapter's folder, one language of it set into the page."""

from __future__ import annotations

import re

from pipeline.directives.base import Call, Directive, Rules
from pipeline.holes import FigureHole
from pipeline.page import Page

_FILE = re.compile(r"[a-z0-9][a-z0-9-]*\.svg")


def register(rules: Rules) -> None:
    """Add the directive."""
    rules.directive("figure", Directive(build, "an SVG file's name", ("id",), parents=("",)))


def build(page: Page, call: Call, caption: str) -> str:
    """A hole for the drawing. Only a plain name is taken: a path could leave the folder."""
    if _FILE.fullmatch(call.argument) is None:
        page.error(
            call.line,
            "not a figure's file",
            call.argument,
            "a figure is NAME.svg in the chapter's own folder, without a path",
            "put the file beside the text and write its name",
        )
        return ""
    number = page.count("figure")
    anchor = call.options.get("id") or f"fig-{call.argument.removesuffix('.svg')}"
    page.anchor(anchor, call.line)
    return page.hole(FigureHole(call.line, call.argument, anchor, number, caption))
