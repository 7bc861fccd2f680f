"""Everything the build asks of the calculators: answers are kept by what they depend on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calculators import contract, controls, page, text
from calculators.fields import InputError
from pipeline import faults
from pipeline.cache import TextCache, content_key
from pipeline.code import PROJECT, calculator_digest, code_digest
from pipeline.errors import FindingError, suggest
from pipeline.toml_lines import Lines


class CalculationError(FindingError):
    """A calculator that gives no answer: what, value, rule, what to do; and its own line."""

    def __init__(
        self, what: str, value: str, rule: str, action: str, origin: tuple[str, int] = ("", 1)
    ) -> None:
        super().__init__(what, value, rule, action)
        self.origin = origin
        # What is wrong with the question itself shows where it is asked.
        self.cause = f"{origin[0]}:{origin[1]}" if origin[0] else ""


@dataclass(frozen=True)
class Question:
    """A calculator and its inputs as JSON; with a language, a place on a page that shows it."""

    name: str
    inputs: str
    language: str = ""
    id: str = ""
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    plot: str = ""


class Calculations:
    """Answers to questions, computed once for equal code and equal inputs."""

    def __init__(self, cache: Path) -> None:
        self.store = TextCache(cache / "calculations.sqlite")
        self.answers: dict[Question, Any] = {}
        self.errors: dict[Question, CalculationError] = {}
        self.digests: dict[str, str] = {}

    def ask(self, questions: Iterable[Question]) -> None:
        """Answer all of `questions` that were not answered before."""
        wanted = [q for q in dict.fromkeys(questions) if q not in self.answers]
        keys = {q: self._key(q) for q in wanted if q.name in contract.names()}
        kept = self.store.get_many(keys.values())
        fresh: dict[str, str] = {}
        for question, key in keys.items():
            if key in kept:
                self.answers[question] = json.loads(kept[key])
                continue
            try:
                answer = self.compute(question)
            except CalculationError as error:
                self.errors[question] = error
            else:
                self.answers[question] = answer
                fresh[key] = json.dumps(answer)
        self.store.put_many(fresh)

    def compute(self, question: Question) -> Any:
        """The answer to one question. Raises `CalculationError`."""
        return compute(question)

    def answer(self, question: Question) -> Any:
        """What was asked. Raises `CalculationError` that says why there is no answer."""
        if question in self.errors:
            raise self.errors[question]
        if question not in self.answers:
            raise unknown(question.name)
        return self.answers[question]

    def _key(self, question: Question) -> str:
        if question.name not in self.digests:
            self.digests[question.name] = calculator_digest(question.name)
        return content_key(code_digest(), self.digests[question.name], repr(question))


def unknown(name: str) -> CalculationError:
    """What to say of a calculator that is not there."""
    return CalculationError(
        "unknown calculator",
        name,
        "a calculator is a file in calculators/",
        suggest(name, contract.names(), "calculators"),
    )


def compute(question: Question) -> Any:
    """The answer to a question. Raises `CalculationError`; nothing is kept."""
    try:
        inputs = json.loads(question.inputs)
        given, result = contract.evaluate(question.name, inputs)
        if not question.language:
            return {"inputs": given, **result.values}
        return _view(question, given, result)
    except InputError as error:
        reason = page.error_text(question.name, error, "en")
        rule, _, action = reason.rpartition("; ")
        raise CalculationError(
            f"{question.name} refuses its inputs", question.inputs, rule, action
        ) from error
    except text.MissingTextError as error:
        raise CalculationError(
            f"{question.name} lacks a text",
            question.language,
            str(error.args[0]),
            "add it to the strings",
            _strings_place(question.language, str(error.args[0])),
        ) from error
    except CalculationError:
        raise
    except (Exception, SystemExit) as error:  # other people's code: its fault is a finding
        (found,) = faults.findings(error, PROJECT, "mend the calculator")
        rule = f"{found.rule}, at {found.file}:{found.line}: {found.value}"
        origin = found.file, found.line
        raise CalculationError(
            f"{question.name} fails", question.inputs, rule, found.action, origin
        ) from error


def _strings_place(language: str, said: str) -> tuple[str, int]:
    """The file of a language's sentences, and the line of the table that lacks one."""
    file = f"calculators/strings/{language}.toml"
    keys = said.rpartition(" ")[2].split(".")
    return file, Lines.of(PROJECT / file).line(*keys)


def _view(question: Question, given: Mapping[str, Any], result: contract.Result) -> dict[str, Any]:
    """What a page needs of a calculator; plots are drawn later, all together."""
    _check_selection(question, result)
    selection = {
        "show": list(question.show) or None,
        "hide": list(question.hide),
        "plot": question.plot or None,
    }
    request = {"calculator": question.name, "inputs": dict(given), "language": question.language}
    reply = json.loads(page.respond(json.dumps({**request, **selection})))
    defaults, _ = contract.evaluate(question.name)
    spec = {
        "id": question.id,
        "name": question.name,
        "schema": contract.schema(question.name, lambda field: _label(question, field)),
        "defaults": defaults,
        "inputs": given,
        "language": question.language,
        **selection,
    }
    return {
        "title": text.lookup(question.language, question.name, "title"),
        "html": reply["html"],
        "plots": reply["plots"],
        "controls": controls.render(question.name, given, question.language, question.id),
        "spec": spec,
    }


def _label(question: Question, field: str) -> str:
    return text.lookup(question.language, question.name, "inputs", field)


def _check_selection(question: Question, result: contract.Result) -> None:
    plots = [plot.key for plot in result.plots]
    keys = [m.key for m in result.metrics] + [table.key for table in result.tables] + plots
    for key in (*question.show, *question.hide):
        if key not in keys:
            raise CalculationError(
                f"{question.name} shows no such thing",
                key,
                f"it shows {', '.join(keys)}",
                "correct show or hide",
            )
    if question.plot not in ("", "none", *plots):
        raise CalculationError(
            f"{question.name} has no such plot",
            question.plot,
            f"its plots are {', '.join(plots) or 'none'}",
            "correct plot",
        )


def values(name: str, inputs: str) -> Question:
    """The question for a calculator's values."""
    return Question(name, inputs)
