"""`:::{exercise} ID` with `:::{answer}` inside: a question, its number if it has one, its why."""

from __future__ import annotations

import re

from pipeline import expressions
from pipeline.directives.base import Call, Directive, Rules
from pipeline.holes import Binding, ExerciseHole
from pipeline.page import Page

_TOLERANCE = re.compile(r"\d+(?:\.\d+)?(?:e-?\d{1,2})?")
DEFAULT_TOLERANCE = "1e-6"


def register(rules: Rules) -> None:
    """Add exercise and answer: one explains the other."""
    options = ("answer", "tolerance")
    rules.directive("exercise", Directive(build, "the exercise's id", options, parents=("",)))
    rules.directive("answer", Directive(build_answer, parents=("exercise",)))


def build_answer(page: Page, call: Call, html: str) -> str:
    """Keep the explanation for the exercise around it, which comes next."""
    if page.answer is not None:
        page.error(
            call.line, "second answer", "answer", "an exercise has one answer", "join the two"
        )
    page.answer = html
    return ""


def build(page: Page, call: Call, question: str) -> str:
    """A hole: the number is bound like any other."""
    explanation, page.answer = page.answer, None
    if explanation is None:
        page.error(
            call.line,
            "exercise without an answer",
            call.argument,
            "every exercise explains its answer",
            "add :::{answer} inside it",
        )
    tolerance = call.options.get("tolerance", DEFAULT_TOLERANCE)
    if _TOLERANCE.fullmatch(tolerance) is None:
        page.error(
            call.line, "tolerance is not a number", tolerance, "it is like 1e-6", "correct it"
        )
    hole = ExerciseHole(
        line=call.line,
        id=page.anchor(call.argument, call.line),
        number=page.count("exercise"),
        answer=_answer(page, call),
        tolerance=tolerance,
        question=question,
        explanation=explanation or "",
    )
    return page.hole(hole)


def _answer(page: Page, call: Call) -> Binding | None:
    text = call.options.get("answer", "")
    if not text:
        return None
    try:
        if text.startswith("record "):
            return expressions.parse("record", text.removeprefix("record "))
        return expressions.parse("calc", text)
    except expressions.ExpressionError as error:
        page.error(call.line, *error.parts)
        return None
