"""`:::{plot} NAME.BACKEND`: values of one record as a plot, with its data table."""

from __future__ import annotations

import re

from pipeline import expressions
from pipeline.directives.base import Call, Directive, Rules, words
from pipeline.holes import Binding, PlotHole
from pipeline.page import Page

OPTIONS = ("id", "series", "labels", "roles", "type", "x", "y", "scale", "step", "alt")
ROLES = ("correct", "implemented", "neutral", "accent")
KINDS = ("line", "step", "dot")
SCALES = ("linear", "log")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


def register(rules: Rules) -> None:
    """Add the directive."""
    rules.directive("plot", Directive(build, "a record's NAME.BACKEND", OPTIONS, parents=("",)))


def build(page: Page, call: Call, caption: str) -> str:
    """A hole: the points are taken from the record when it is bound."""
    series = tuple(_bindings(page, call))
    labels = tuple(part.strip() for part in call.options.get("labels", "").split(";"))
    roles = words(call.options.get("roles", "")) or ("accent",) * len(series)
    for what, found in (("labels", labels), ("roles", roles)):
        if len(found) != len(series):
            rule = f"a plot has as many {what} as series ({len(series)})"
            page.error(call.line, f"{what} do not match", str(len(found)), rule, "give one each")
            return ""
    kind = _one_of(page, call, "type", KINDS)
    scale = _one_of(page, call, "scale", SCALES)
    for role in set(roles) - set(ROLES):
        rule = f"it is one of {', '.join(ROLES)}"
        page.error(call.line, "unknown role", role, rule, "correct roles")
    for option in ("x", "y", "alt"):
        if not call.options.get(option):
            page.error(call.line, "plot without a text", option, "x, y and alt say it", "add it")
    step = call.options.get("step", "1")
    if _NUMBER.fullmatch(step) is None:
        page.error(call.line, "step is not a number", step, "it is the x between points", "mend it")
        step = "1"
    anchor = call.options.get("id") or f"plot-{call.argument}".replace("_", "-").replace(".", "-")
    page.anchor(anchor, call.line)
    texts = {option: call.options.get(option, "") for option in ("x", "y", "alt")}
    return page.hole(
        PlotHole(
            line=call.line, name=call.argument, id=anchor, number=page.count("figure"),
            series=series, labels=labels, roles=roles, kind=kind, scale=scale, step=float(step),
            **texts, caption=caption,
        )
    )  # fmt: skip


def _one_of(page: Page, call: Call, option: str, allowed: tuple[str, ...]) -> str:
    found = call.options.get(option, allowed[0])
    if found not in allowed:
        rule = f"it is one of {', '.join(allowed)}"
        page.error(call.line, f"unknown {option}", found, rule, f"correct {option}")
        return allowed[0]
    return found


def _bindings(page: Page, call: Call) -> list[Binding]:
    found = []
    for path in words(call.options.get("series", "")):
        try:
            found.append(expressions.parse("record", f"{call.argument} {path}"))
        except expressions.ExpressionError as error:
            page.error(call.line, *error.parts)
    if not found:
        rule = "series names lists of a record: results.losses"
        page.error(call.line, "plot without series", call.argument, rule, "add :series:")
    return found
