"""The directives, in the order in which messages list them."""

from __future__ import annotations

from pipeline.directives import admonitions, calculator, exercise, figure, math, plot, record
from pipeline.directives.base import Directive, Rules

REGISTER = (
    calculator.register,
    record.register,
    plot.register,
    figure.register,
    exercise.register,
    admonitions.register,
    math.register,
)


def registered() -> dict[str, Directive]:
    """Every directive by name."""
    rules = Rules()
    for register in REGISTER:
        register(rules)
    return rules.by_name
