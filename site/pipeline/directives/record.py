"""`:::{record} NAME.BACKEND`: the card of one run, with the results that this place shows."""

from __future__ import annotations

from pipeline import expressions
from pipeline.directives.base import Call, Directive, Rules, words
from pipeline.holes import Binding, RecordHole
from pipeline.page import Page


def register(rules: Rules) -> None:
    """Add the directive."""
    rule = Directive(build, "a record's NAME.BACKEND", ("id", "show"), parents=("",))
    rules.directive("record", rule)


def build(page: Page, call: Call, caption: str) -> str:
    """A hole: the card is filled from the record when it is bound."""
    anchor = call.options.get("id") or f"record-{call.argument}".replace("_", "-").replace(".", "-")
    page.anchor(anchor, call.line)
    show = [_binding(page, call, path) for path in words(call.options.get("show", ""))]
    shown = tuple(item for item in show if item is not None)
    return page.hole(RecordHole(call.line, call.argument, anchor, shown, caption))


def _binding(page: Page, call: Call, path: str) -> Binding | None:
    try:
        return expressions.parse("record", f"{call.argument} {path}")
    except expressions.ExpressionError as error:
        page.error(call.line, *error.parts)
        return None
