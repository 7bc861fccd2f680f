"""The case book: what each case of content/cases shows, computed by the calculators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from calculators import contract
from calculators.numbers import format_number
from calculators.specs import ListSpec, RowSpec
from pipeline import case_files, expressions
from pipeline.calculations import CalculationError, Calculations, values
from pipeline.errors import Finding, suggest
from pipeline.holes import Binding, CalculatorHole
from pipeline.model import Book, Case, Document
from pipeline.toml_lines import Lines

SAID = ("topic", "symptom", "rule", "formula")  # what a language may say in its own words
SAFE = "-_.!~*'()"  # what the page's encodeURIComponent leaves as it is
Documents = Mapping[tuple[str, str], Document]


@dataclass(frozen=True)
class Value:
    """A right or wrong value: as a reader sees it, and the binding it comes from."""

    shown: str
    source: str


class CaseBook:
    """The values of all cases, computed once for all languages."""

    def __init__(self, book: Book, documents: Documents) -> None:
        self.book, self.documents = book, documents
        self.findings: list[Finding] = []
        self.calculations = Calculations(book.options.cache)
        self.bindings = {case.id: self._bindings(case) for case in book.cases}
        asked = [binding for found in self.bindings.values() for binding in found.values()]
        self.calculations.ask(values(binding.name, binding.arguments) for binding in asked)
        self.opened = {case.id: self._opened(case) for case in book.cases}
        # All at once, not as pages ask for them: a page may be kept, or not be there.
        self.shown = {
            (case.id, key): self._values(case, key)
            for case in book.cases
            for key in ("right", "wrong")
        }

    def _bindings(self, case: Case) -> dict[str, Binding]:
        found = {}
        for key in ("right", "wrong"):
            for text in case.computed.get(key, ()):
                try:
                    found[text] = expressions.parse("calc", text)
                except expressions.ExpressionError as error:
                    self._note(case, key, text, error.parts)
        return found

    def _opened(self, case: Case) -> Binding | None:
        """What a case opens in a calculator: a state, or a value of one; None without one."""
        chapter = case.computed.get("chapter", "")
        if chapter and chapter not in self.book.chapters:
            rule = "a case's chapter is one of the book"
            parts = ("unknown chapter", chapter, rule, suggest(chapter, self.book.chapters))
            self._note(case, "chapter", chapter, parts)
        text = case.computed.get("open") or next(iter(case.computed.get("wrong", ())), "")
        if not text:
            return None
        try:
            return expressions.parse("calc", text if ")." in text else f"{text}.value")
        except expressions.ExpressionError as error:
            if "open" in case.computed:  # what is wrong with `wrong` is told already
                self._note(case, "open", text, error.parts)
            return None

    def _note(
        self, case: Case, key: str, text: str, parts: tuple[str, str, str, str], cause: str = ""
    ) -> None:
        """What is wrong with a case's binding `text` in `key`, at its line."""
        what, value, rule, action = parts
        file = case_files.COMPUTED
        lines = Lines.of(self.book.options.root / file)
        line = lines.within((case.id, key), json.dumps(text)[1:-1])
        what = f"{case.id}: {what}"
        self.findings.append(Finding(file.as_posix(), line, what, value, rule, action, cause=cause))

    def _fails(self, name: str) -> bool:
        """Whether a calculator is not there, or gave no answer to a case."""
        return name not in contract.names() or any(
            question.name == name for question in self.calculations.errors
        )

    def entries(self, language: str) -> list[dict[str, Any]]:
        """The cases in order, with what the page shows of each."""
        return [self._entry(case, language) for case in self.book.cases]

    def topics(self, language: str) -> list[str]:
        """The topics in the order in which they first come."""
        return list(dict.fromkeys(self._text(case, language, "topic") for case in self.book.cases))

    def _text(self, case: Case, language: str, key: str) -> str:
        return str(case.texts[language].get(key) or case.body.get(key, ""))

    def _entry(self, case: Case, language: str) -> dict[str, Any]:
        return {
            "id": case.id,
            **{key: self._text(case, language, key) for key in SAID},
            "note": str(case.texts[language].get("note", "")),
            "is_other": case.computed.get("inputs") == "other",
            "right": self.shown[case.id, "right"],
            "wrong": self.shown[case.id, "wrong"],
            "sources": [_named(address) for address in case.body.get("sources", ())],
            "open": self._address(case, language),
        }

    def _values(self, case: Case, key: str) -> list[Value]:
        shown = []
        for text in case.computed.get(key, ()):
            binding = self.bindings[case.id].get(text)
            if binding is None:
                continue
            try:
                answer = self.calculations.answer(values(binding.name, binding.arguments))
                found = expressions.resolve(answer, binding.path, binding.text)
            except (expressions.ExpressionError, CalculationError) as error:
                self._note(case, key, text, error.parts, error.cause)
                continue
            times = case.computed.get("times")
            shown.append(Value(_shown([found * x for x in times] if times else found), text))
        return shown

    def _address(self, case: Case, language: str) -> str:
        """The page and state that open the case in its calculator; empty when there is none."""
        binding = self.opened[case.id]
        if binding is None:
            return ""
        place = self._place(binding.name, case.computed.get("chapter", ""), language)
        if place is None or self._fails(binding.name):
            return ""
        slug, hole = place
        state = _state(binding.name, json.loads(binding.arguments), json.loads(hole.inputs))
        return f"../{slug}/#{quote(hole.id, SAFE)}" + (f"?{state}" if state else "")

    def _place(self, name: str, chapter: str, language: str) -> tuple[str, CalculatorHole] | None:
        """The first place of a calculator in the case's own chapter, else in any."""
        found: Iterable[tuple[str, CalculatorHole]] = (
            (slug, hole)
            for (slug, of), document in self.documents.items()
            if of == language
            for hole in document.holes
            if isinstance(hole, CalculatorHole) and hole.name == name
        )
        return min(found, key=lambda item: item[0] != chapter, default=None)


def _named(address: str) -> tuple[str, str]:
    """A public report's address, and its name: owner/repository#number."""
    pieces = address.split("/")
    return address, f"{pieces[3]}/{pieces[4]}#{pieces[-1]}"


def _shown(found: Any) -> str:
    return format_number(found)


def _state(name: str, wanted: Mapping[str, Any], placed: Mapping[str, Any]) -> str:
    """What differs between the case's inputs and those of the place, as the address spells it."""
    target, _ = contract.evaluate(name, wanted)
    here, _ = contract.evaluate(name, placed)
    specs = contract.specs_of(contract.get(name))
    return "&".join(
        f"{key}={_spelled(value, specs[key])}"
        for key, value in target.items()
        if value != here[key]
    )


def _spelled(value: Any, spec: Any) -> str:
    if value is None:
        return "null"
    if isinstance(spec, ListSpec) and isinstance(spec.item, RowSpec):
        return quote(json.dumps(value, separators=(",", ":"), ensure_ascii=False), SAFE)
    if isinstance(spec, ListSpec) and isinstance(spec.item, ListSpec):
        return ";".join(",".join(map(_item, row)) for row in value)
    if isinstance(value, list):
        return ",".join(map(_item, value))
    return _item(value)


def _item(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        value = int(value)
    return quote(str(value), SAFE)
