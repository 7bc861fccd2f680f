"""Calculators that change while the program runs: their code is run again in place."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from calculators import contract, text
from pipeline.calculations import CalculationError, Calculations, Question
from pipeline.code import imported
from pipeline.errors import BuildError, Finding
from pipeline.serving.limits import TooLongError, limit
from pipeline.serving.troubles import MEND
from pipeline.table import line_of


class LiveCalculations(Calculations):
    """Answers in memory; those of calculators that were edited are never read from the disk."""

    def __init__(self, cache: Path) -> None:
        super().__init__(cache)
        self.edited: set[str] = set()
        self.endless: dict[str, CalculationError] = {}

    def compute(self, question: Question) -> Any:
        """The answer, in a limited time; a calculator that took longer is not asked again."""
        if question.name in self.endless:
            raise self.endless[question.name]
        try:
            with limit.within():
                return super().compute(question)
        except CalculationError as error:
            if isinstance(error.__cause__, TooLongError):
                self.endless[question.name] = error
            raise

    def ask(self, questions: Iterable[Question]) -> None:
        """Answer all of `questions` that were not answered before."""
        asked = list(dict.fromkeys(questions))
        for question in asked:
            if question.name in self.edited and question not in self.answers:
                try:
                    self.answers[question] = self.compute(question)
                except CalculationError as error:
                    self.errors[question] = error
        super().ask(q for q in asked if q.name not in self.edited)

    def forget(self, names: Iterable[str]) -> None:
        """Drop what these calculators answered, for they are others now."""
        self.edited |= set(names)
        for name in self.edited:
            self.endless.pop(name, None)
        for question in [q for q in (*self.answers, *self.errors) if q.name in self.edited]:
            self.answers.pop(question, None)
            self.errors.pop(question, None)


def run_again(name: str) -> set[str]:
    """Run a calculator's file again, and those that import it. Returns the names of all.

    Raises whatever that code raises; the module is then as far as it came.
    """
    contract.names.cache_clear()
    contract.get.cache_clear()
    users = [other for other in contract.names() if other != name and name in _uses(other)]
    there = [name] if name in contract.names() else []
    for module in [*there, *users]:
        with limit.within():
            _execute(module)
    return {name, *users}


def _uses(name: str) -> Sequence[str]:
    """What a calculator imports; a broken one, which is told of elsewhere, nothing."""
    try:
        return imported((contract.FOLDER / f"{name}.py").read_text("utf-8"))
    except SyntaxError:
        return ()


def _execute(name: str) -> None:
    """Without Python's own cache of compiled files, which takes two edits in a second for one."""
    path = contract.FOLDER / f"{name}.py"
    module = sys.modules.get(f"calculators.{name}")
    if module is None:
        importlib.invalidate_caches()
        importlib.import_module(f"calculators.{name}")
        return
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)


def read_sentences() -> None:
    """Have the sentences of all calculators read again."""
    text.strings.cache_clear()
    for name in text.languages():
        try:
            text.strings(name)
        except tomllib.TOMLDecodeError as error:
            at, rule = line_of(error), str(error)
            file = f"calculators/strings/{name}.toml"
            raise BuildError(Finding(file, at, "not TOML", name, rule, MEND)) from error
