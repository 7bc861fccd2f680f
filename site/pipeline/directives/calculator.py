"""`:::{calculator} NAME`: a calculator at its first state, with its own inputs for this place."""

from __future__ import annotations

from pipeline.directives.base import Call, Directive, Rules, json_object, words
from pipeline.holes import CalculatorHole
from pipeline.page import Page

GRID = ("on", "off")


def register(rules: Rules) -> None:
    """Add the directive."""
    options = ("id", "inputs", "show", "hide", "plot", "grid")
    rules.directive("calculator", Directive(build, "a calculator's name", options, parents=("",)))


def build(page: Page, call: Call, caption: str) -> str:
    """A hole: the numbers come when the calculator is bound."""
    number = page.count("calculator")
    anchor = call.options.get("id") or call.argument.replace("_", "-")
    grid = call.options.get("grid", "on")
    if grid not in GRID:
        page.error(call.line, "unknown grid", grid, f"it is {' or '.join(GRID)}", "correct it")
    hole = CalculatorHole(
        line=call.line,
        name=call.argument,
        id=page.anchor(anchor, call.line),
        number=number,
        inputs=json_object(page, call, "inputs"),
        show=words(call.options.get("show", "")),
        hide=words(call.options.get("hide", "")),
        plot=call.options.get("plot", ""),
        caption=caption,
        grid=grid != "off",
    )
    return page.hole(hole)
