"""`:::{note}`, `:::{pitfall}` and `:::{check}`: a remark, a trap, a list to go through."""

from __future__ import annotations

from pipeline.directives.base import Call, Directive, Rules
from pipeline.holes import NoticeHole
from pipeline.page import Page

KINDS = ("note", "pitfall", "check")


def register(rules: Rules) -> None:
    """Add the three."""
    for kind in KINDS:
        rules.directive(kind, Directive(build, parents=("", "answer", "exercise")))


def build(page: Page, call: Call, html: str) -> str:
    """A hole: its label is in the page's language."""
    if not html.strip():
        page.error(call.line, "empty directive", call.name, "it holds text", "write it")
    if call.name == "check" and "<li>" not in html:
        page.error(
            call.line,
            "check without a list",
            call.body,
            "a check is a list of things to look at",
            "write each as '- …'",
        )
    return page.hole(NoticeHole(call.line, call.name, html))
