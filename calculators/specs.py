"""What a declared input accepts: `parse` validates one value, `schema` says it in JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SPECIAL_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
REAL_LIMIT = 1e12


class InputError(ValueError):
    """An input outside its declaration: `field` (with index), a message `code`, its parameters."""

    def __init__(self, field_name: str, code: str, **params: Any) -> None:
        self.field = field_name
        self.code = code
        self.params = {"field": field_name, **params}
        super().__init__(f"{field_name}: {code} {params}")


def shown(value: Any) -> str:
    """What came, on one line and short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True)
class NumberSpec:
    """A real or whole number. `slider` is the range worth dragging, inside minimum..maximum."""

    minimum: float
    maximum: float
    step: float
    is_integer: bool = False
    nullable: bool = False
    specials: bool = False
    unit: str = ""
    slider: tuple[float, float] | None = None
    logarithmic: bool = False

    def parse(self, value: Any, name: str) -> float | int | None:
        if value is None and self.nullable:
            return None
        if isinstance(value, str) and self.specials and value in SPECIAL_NUMBERS:
            return SPECIAL_NUMBERS[value]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(name, "not_a_number", came=shown(value), **self.limits())
        if isinstance(value, float) and not math.isfinite(value):
            if self.specials:
                return value
            raise InputError(name, "not_finite", came=shown(value), **self.limits())
        if self.is_integer and value != int(value):
            raise InputError(name, "not_an_integer", came=shown(value), **self.limits())
        if not self.minimum <= value <= self.maximum:
            raise InputError(name, "out_of_range", came=shown(value), **self.limits())
        return int(value) if self.is_integer else float(value)

    def limits(self) -> dict[str, float]:
        return {"minimum": self.minimum, "maximum": self.maximum}

    def schema(self) -> dict[str, Any]:
        kind = "integer" if self.is_integer else "number"
        body: dict[str, Any] = {"type": kind, "minimum": self.minimum, "maximum": self.maximum}
        body["x-step"] = self.step
        if self.slider:
            body["x-slider"] = list(self.slider)
        if self.logarithmic:
            body["x-logarithmic"] = True
        if self.unit:
            body["x-unit"] = self.unit
        others: list[dict[str, Any]] = []
        if self.specials:
            others.append({"enum": list(SPECIAL_NUMBERS)})
        if self.nullable:
            others.append({"type": "null"})
        return {"anyOf": [body, *others]} if others else body


@dataclass(frozen=True)
class ChoiceSpec:
    """One of a fixed list of names."""

    options: tuple[str, ...]

    def parse(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise InputError(name, "not_a_choice", came=shown(value), options=self.options)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True)
class FlagSpec:
    """True or false."""

    def parse(self, value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise InputError(name, "not_a_flag", came=shown(value))
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class TextSpec:
    """A short free name, such as a tensor's."""

    max_length: int = 40
    nullable: bool = False

    def parse(self, value: Any, name: str) -> str | None:
        if value is None and self.nullable:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= self.max_length:
            raise InputError(name, "not_a_name", came=shown(value), maximum=self.max_length)
        return value

    def schema(self) -> dict[str, Any]:
        body: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": self.max_length}
        return {"anyOf": [body, {"type": "null"}]} if self.nullable else body


@dataclass(frozen=True)
class ListSpec:
    """A list of items. `like`: a field whose shape this one must have; `row_length`: a whole-number
    field that says how long each row must be."""

    item: Any
    min_length: int = 1
    max_length: int = 16
    like: str = ""
    row_length: str = ""
    nullable: bool = False
    ragged: bool = True

    def parse(self, value: Any, name: str) -> tuple[Any, ...] | None:
        if value is None and self.nullable:
            return None
        if not isinstance(value, (list, tuple)):
            raise InputError(name, "not_a_list", came=shown(value), **self.limits())
        if not self.min_length <= len(value) <= self.max_length:
            raise InputError(name, "wrong_length", came=len(value), **self.limits())
        items = tuple(self.item.parse(item, f"{name}[{i}]") for i, item in enumerate(value))
        if not self.ragged and len({len(row) for row in items}) > 1:
            raise InputError(name, "ragged", came=[len(row) for row in items])
        return items

    def limits(self) -> dict[str, int]:
        return {"minimum": self.min_length, "maximum": self.max_length}

    def schema(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": "array",
            "items": self.item.schema(),
            "minItems": self.min_length,
            "maxItems": self.max_length,
        }
        if self.like:
            body["x-like"] = self.like
        if self.row_length:
            body["x-row-length"] = self.row_length
        if not self.ragged:
            body["x-ragged"] = False
        return {"anyOf": [body, {"type": "null"}]} if self.nullable else body


@dataclass(frozen=True)
class SubsetSpec:
    """Some of a fixed list, each at most once; with `whole` all of them, in a chosen order."""

    options: tuple[str, ...]
    whole: bool = False

    def parse(self, value: Any, name: str) -> tuple[str, ...]:
        options = self.options
        wrong = not isinstance(value, (list, tuple)) or any(
            not isinstance(item, str) or item not in options for item in value
        )
        if wrong or len(set(value)) != len(value) or (self.whole and len(value) != len(options)):
            code = "not_a_permutation" if self.whole else "not_a_subset"
            raise InputError(name, code, came=shown(value), options=options)
        return tuple(value)

    def schema(self) -> dict[str, Any]:
        size = len(self.options)
        items = {"type": "string", "enum": list(self.options)}
        least = size if self.whole else 0
        return {
            "type": "array",
            "items": items,
            "uniqueItems": True,
            "minItems": least,
            "maxItems": size,
        }


@dataclass(frozen=True)
class RowSpec:
    """One row of a table: a mapping with named columns, some of them optional."""

    columns: Mapping[str, Any]
    optional: Mapping[str, Any]

    def parse(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(name, "not_a_row", came=shown(value), options=tuple(self.columns))
        for key in value:
            if key not in self.columns:
                raise InputError(f"{name}.{key}", "unknown_field", options=tuple(self.columns))
        row = {}
        for key, spec in self.columns.items():
            if key not in value and key not in self.optional:
                raise InputError(f"{name}.{key}", "missing_field", options=tuple(self.columns))
            row[key] = spec.parse(value.get(key, self.optional.get(key)), f"{name}.{key}")
        return row

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {key: spec.schema() for key, spec in self.columns.items()},
            "required": [key for key in self.columns if key not in self.optional],
            "additionalProperties": False,
        }
