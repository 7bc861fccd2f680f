"""The names of numbers: NAME(field=JSON, …).path[0].key .4f, with spaces between the pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Literal

from calculators.numbers import MINUS, SUPERSCRIPTS
from pipeline.errors import FindingError, suggest
from pipeline.holes import Binding

MAX_LENGTH = 4_000
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RECORD = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9_]+")
_STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6})\]")
_SPEC = re.compile(r"\+?,?(?:\.\d{1,2})?[defg%]?")
CALC_RULE = "a calc role is NAME.path or NAME(field=JSON, …).path, then a format such as .4f"
RECORD_RULE = "a record role is NAME.BACKEND, a space, a path, then a format such as .3e"


class ExpressionError(FindingError):
    """What is wrong with a binding: what, value, rule, what to do."""


def parse(source: Literal["calc", "record"], text: str) -> Binding:
    """The binding that `text` spells. Raises `ExpressionError`."""
    stripped = " ".join(text.split())
    if len(stripped) > MAX_LENGTH:
        raise ExpressionError(
            "binding too long",
            stripped,
            f"at most {MAX_LENGTH} characters",
            "give the calculator its inputs in a directive",
        )
    name, arguments, rest = (_calc_head if source == "calc" else _record_head)(stripped)
    path_text, _, spec = rest.partition(" ")
    spec = spec.strip()
    if _SPEC.fullmatch(spec) is None:
        raise ExpressionError(
            "unknown number format",
            spec,
            "a format is like .4f, .3e, .2%, or d with a comma: ,d",
            "correct it or leave it out",
        )
    return Binding(source, name, arguments, parse_path(path_text, stripped), spec, stripped)


def _calc_head(text: str) -> tuple[str, str, str]:
    found = _NAME.match(text)
    if found is None:
        raise ExpressionError("not a calculator's name", text, CALC_RULE, "correct the role")
    rest = text[found.end() :]
    if not rest.startswith("("):
        return found.group(), "{}", rest
    arguments, end = _arguments(text, found.end() + 1)
    return found.group(), arguments, text[end:]


def _record_head(text: str) -> tuple[str, str, str]:
    found = _RECORD.match(text)
    if found is None or text[found.end() : found.end() + 1] not in (" ", ""):
        raise ExpressionError("not a record's name", text, RECORD_RULE, "correct the role")
    return found.group(), "{}", text[found.end() :].strip()


def _arguments(text: str, start: int) -> tuple[str, int]:
    """JSON of the arguments that begin at `start`, and the position after the bracket."""
    given: dict[str, Any] = {}
    decoder = json.JSONDecoder(parse_constant=_refuse)
    position = start
    while True:
        field = re.compile(r"\s*([a-z][a-z0-9_]*)\s*=\s*").match(text, position)
        if field is None:
            raise ExpressionError(
                "not an argument",
                text[position:],
                "arguments are field=JSON, separated by commas",
                "correct the role",
            )
        try:
            given[field.group(1)], position = decoder.raw_decode(text, field.end())
        except (ValueError, RecursionError):
            raise ExpressionError(
                "argument is not JSON",
                text[field.end() :],
                'a value is a number, true, false, null, [list] or "text"',
                f"correct {field.group(1)}",
            ) from None
        tail = re.compile(r"\s*([,)])").match(text, position)
        if tail is None:
            raise ExpressionError(
                "unclosed arguments", text, "arguments end with ')'", "close the bracket"
            )
        position = tail.end()
        if tail.group(1) == ")":
            return json.dumps(given, sort_keys=True), position


def _refuse(name: str) -> None:
    raise ValueError(name)


def parse_path(text: str, whole: str) -> tuple[str | int, ...]:
    """`.a.b[0]` as ('a', 'b', 0). Raises `ExpressionError`."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise ExpressionError(
                "not a path", text, "a path is key.key[0].key", "correct the role"
            )
        steps.append(found.group(1) if found.group(2) is None else int(found.group(2)))
        position = found.end()
    if not steps:
        raise ExpressionError(
            "no path", whole, "a role names one value, not all of them", "add .key"
        )
    return tuple(steps)


def resolve(values: Any, path: Sequence[str | int], text: str) -> Any:
    """The value at `path`. Raises `ExpressionError` that says what is there instead."""
    here = values
    for step in path:
        if isinstance(step, int):
            if not isinstance(here, list) or step >= len(here):
                size = f"{len(here)} entries" if isinstance(here, list) else "no list"
                raise ExpressionError(
                    "no such entry", text, f"[{step}] needs more than {size}", "correct the index"
                )
            here = here[step]
        elif not isinstance(here, Mapping):
            raise ExpressionError(
                "no such key",
                text,
                f"{step!r} is looked up in a value that has no keys",
                "shorten the path",
            )
        elif step not in here:
            raise ExpressionError(
                "no such key", text, f"the keys are {_listed(here)}", suggest(step, here, "keys")
            )
        else:
            here = here[step]
    return here


def _listed(keys: Mapping[str, Any]) -> str:
    names = list(keys)
    return ", ".join(names[:24]) + (", …" if len(names) > 24 else "")


def present(value: Any, spec: str, text: str) -> str:
    """The reader's form of a value, as HTML text. Raises `ExpressionError` for one without."""
    if value is None:
        raise ExpressionError(
            "value is undefined",
            text,
            "it is null for these inputs",
            "bind another value or other inputs",
        )
    if isinstance(value, Mapping):
        raise ExpressionError(
            "value is a group",
            text,
            f"its keys are {_listed(value)}",
            "add one of them to the path",
        )
    if isinstance(value, list):
        return "[" + ", ".join(present(item, spec, text) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return escape(value)
    return _number(value, spec, text)


def _number(value: float, spec: str, text: str) -> str:
    try:
        shown = format(value, spec) if spec else repr(value)
    except (ValueError, OverflowError):
        raise ExpressionError(
            "format does not fit", text, f"{spec!r} cannot show {value!r}", "use .4f, .3e or none"
        ) from None
    mantissa, mark, exponent = shown.partition("e")
    power = f"×10{str(int(exponent)).translate(SUPERSCRIPTS)}" if mark else ""
    return mantissa.replace("-", MINUS) + power
