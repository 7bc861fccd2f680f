"""The contract of a calculator: found by file name, evaluated through one door.

    inputs, result = evaluate("infonce", {"temperature": 2})

Every value that leaves here is plain JSON; one that is not finite leaves as None with a notice.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from calculators.specs import SPECIAL_NUMBERS, InputError, ListSpec, RowSpec

FOLDER = Path(__file__).parent
LIBRARY = frozenset(
    {"__init__", "__main__", "coefficients", "contract", "controls", "fields", "numbers", "page",
     "plots", "render", "specs", "text", "transformer_data", "transformer_model",
     "transformer_vectors"}
)  # fmt: skip


@dataclass(frozen=True)
class Message:
    """A sentence to be: its key in the strings and the numbers it is filled with."""

    key: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """One headline value; `role` is correct, implemented or neutral."""

    key: str
    value: Any
    role: str = "neutral"
    digits: int = 6


@dataclass(frozen=True)
class Column:
    """A table column: `key` names its label, which `params` fill; `role` as in Metric."""

    key: str
    role: str = "neutral"
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows of numbers, names, None or `Message` cells; the first column heads its row."""

    key: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Axis:
    """A plot axis; `kind` is linear, log or band. Its label is in the strings."""

    kind: str = "linear"
    domain: tuple[float, float] | None = None


@dataclass(frozen=True)
class Mark:
    """One series: kind line, step, dot, rule, bar, area or text; `points` are (x, y)."""

    kind: str
    key: str
    points: Sequence[tuple[Any, Any]]
    role: str = "neutral"


@dataclass(frozen=True)
class Plot:
    """A plot as data; `table` is its data table (made from the marks when absent)."""

    key: str
    marks: tuple[Mark, ...]
    x: Axis = Axis()
    y: Axis = Axis()
    alt: Mapping[str, Any] = field(default_factory=dict)
    table: Table | None = None
    height: int = 240


@dataclass(frozen=True)
class Result:
    """What a calculator returns: the contract's `values` and what to show of them."""

    values: dict[str, Any]
    verdict: Message
    notices: tuple[Message, ...] = ()
    metrics: tuple[Metric, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True)
class Calculator:
    """A calculator module: its name, its declaration, its function.

    `missing_data` names the data files that these inputs need and this machine lacks; the page
    fetches them and asks again.
    """

    name: str
    inputs_type: type[Any]
    compute: Callable[[Any], Result]
    source: str
    doc: str
    missing_data: Callable[[Any], list[str]] = lambda _: []


@cache
def names() -> tuple[str, ...]:
    """The names of all calculators: the files of this folder that are not its library."""
    return tuple(sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in LIBRARY))


@cache
def get(name: str) -> Calculator:
    """The calculator called `name`; KeyError names the ones there are."""
    if name not in names():
        raise KeyError(f"no calculator {name!r}; there are: {', '.join(names())}")
    module = importlib.import_module(f"calculators.{name}")
    source = (FOLDER / f"{name}.py").read_text("utf-8")
    doc = inspect.cleandoc(module.__doc__ or "")
    missing: Callable[[Any], list[str]] = getattr(module, "missing_data", lambda _: [])
    return Calculator(name, module.Inputs, module.compute, source, doc, missing)


class MissingDataError(RuntimeError):
    """Data files a calculator needs that are not there: `needs` lists them."""

    def __init__(self, name: str, needs: list[str]) -> None:
        super().__init__(f"{name} needs data that is missing here: {', '.join(needs)}")
        self.needs = needs


def specs_of(calculator: Calculator) -> dict[str, Any]:
    """Field name -> spec, in declaration order."""
    return {item.name: item.metadata["spec"] for item in fields(calculator.inputs_type)}


def parse_inputs(calculator: Calculator, raw: Mapping[str, Any] | None = None) -> Any:
    """Validated `Inputs`; a missing field takes its default (shaped like the field it follows)."""
    if raw is not None and not isinstance(raw, Mapping):
        raise InputError("inputs", "not_an_object", came=type(raw).__name__)
    given = dict(raw or {})
    declared = {item.name: item for item in fields(calculator.inputs_type)}
    for key in given:
        if key not in declared:
            raise InputError(str(key), "unknown_field", options=tuple(declared))
    parsed: dict[str, Any] = {}
    for name, item in declared.items():
        spec = item.metadata["spec"]
        like = _model(spec, parsed, item.default)
        value = given[name] if name in given else _shaped(item.default, like)
        parsed[name] = spec.parse(value, name)
        if isinstance(spec, ListSpec) and parsed[name] is not None:
            _require_spec_shape(name, parsed, spec)
    return calculator.inputs_type(**parsed)


def _model(spec: Any, parsed: Mapping[str, Any], default: Any) -> Any:
    """A value with the shape that a field left to its default should take, or None."""
    if not isinstance(spec, ListSpec) or default is None:
        return None
    if spec.row_length and not isinstance(spec.item, RowSpec):
        return tuple((0,) * parsed[spec.row_length] for _ in default)
    return parsed.get(spec.like)


def _require_spec_shape(name: str, parsed: Mapping[str, Any], spec: ListSpec) -> None:
    if spec.like and parsed[spec.like] is not None:
        _require_shape(name, parsed[name], spec.like, parsed[spec.like])
    for i, row in enumerate(parsed[name] if spec.row_length else ()):
        for key, cells in row.items() if isinstance(row, Mapping) else (("", row),):
            expected = parsed[spec.row_length]
            if isinstance(cells, tuple) and len(cells) != expected:
                place = f"{name}[{i}]" + (f".{key}" if key else "")
                raise InputError(
                    place,
                    "columns_differ",
                    came=len(cells),
                    other=spec.row_length,
                    expected=expected,
                )


def _shaped(default: Any, like: Any) -> Any:
    """The default repeated or cut to the shape of `like`: a longer list needs no second one."""
    if not like or not default:
        return default
    cycled = [default[i % len(default)] for i in range(len(like))]
    return tuple(
        _shaped(item, row) if isinstance(row, tuple) else item
        for item, row in zip(cycled, like, strict=True)
    )


def _require_shape(name: str, value: Any, other: str, like: Any) -> None:
    if len(value) != len(like):
        raise InputError(name, "not_alike", came=len(value), other=other, expected=len(like))
    for i, (row, row_like) in enumerate(zip(value, like, strict=True)):
        if isinstance(row_like, tuple) and isinstance(row, tuple):
            _require_shape(f"{name}[{i}]", row, f"{other}[{i}]", row_like)


def evaluate(name: str, raw: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Result]:
    """Inputs as plain JSON with every default filled in, and the result in plain finite values."""
    calculator = get(name)
    inputs = parse_inputs(calculator, raw)
    missing = calculator.missing_data(inputs)
    if missing:
        raise MissingDataError(name, missing)
    with np.errstate(all="ignore"):
        result = calculator.compute(inputs)
    lost: list[str] = []
    values = {key: plain(value, key, lost) for key, value in result.values.items()}
    notices = result.notices
    if lost:
        notices = (*notices, Message("not_representable", {"keys": ", ".join(lost)}))
    given = {item.name: as_given(getattr(inputs, item.name)) for item in fields(inputs)}
    shown = Result(
        values,
        _shown(result.verdict),
        tuple(map(_shown, notices)),
        tuple(replace(metric, value=_shown(metric.value)) for metric in result.metrics),
        tuple(replace(table, rows=_shown(table.rows)) for table in result.tables),
        result.plots,
    )
    return given, shown


def _shown(value: Any) -> Any:
    """What a reader sees of a value: a number that is not finite is shown as undefined."""
    if isinstance(value, Message):
        return Message(value.key, {k: _shown(v) for k, v in value.params.items()})
    if isinstance(value, (list, tuple)):
        return tuple(map(_shown, value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def plain(value: Any, key: str, lost: list[str]) -> Any:
    """numpy, tuples and dataclass-free containers as JSON; a non-finite number becomes None."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(k): plain(v, key, lost) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, key, lost) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        if key not in lost:
            lost.append(key)
        return None
    return value + 0.0 if isinstance(value, float) else value  # -0.0 becomes 0.0


def as_given(value: Any) -> Any:
    """A validated input as JSON again: special numbers as their names."""
    if isinstance(value, (list, tuple)):
        return [as_given(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_given(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "nan"
        return next(name for name, number in SPECIAL_NUMBERS.items() if number == value)
    return value


def schema(name: str, label: Callable[[str], str] | None = None) -> dict[str, Any]:
    """JSON Schema (2020-12) of the inputs of `name`; `label` gives a field's title."""
    calculator = get(name)
    properties = {}
    for item in fields(calculator.inputs_type):
        body = item.metadata["spec"].schema()
        body["default"] = as_given(item.default)
        if label:
            body["title"] = label(item.name)
        properties[item.name] = body
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
