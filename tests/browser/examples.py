"""Inputs to try in the page: twenty for each calculator, the same ones in every run."""

from __future__ import annotations

import random
from typing import Any

from calculators import contract
from calculators.specs import (
    ChoiceSpec,
    FlagSpec,
    InputError,
    ListSpec,
    NumberSpec,
    RowSpec,
    SubsetSpec,
)

COUNT = 20


def examples(name: str, count: int = COUNT) -> list[dict[str, Any]]:
    """`count` different valid inputs of calculator `name`, made from its declaration."""
    chance = random.Random(name)
    found: list[dict[str, Any]] = []
    for _ in range(200 * count):
        drawn = _inputs(name, chance)
        if drawn not in found and _is_valid(name, drawn):
            found.append(drawn)
        if len(found) == count:
            return found
    raise AssertionError(f"{name}: only {len(found)} of {count} examples could be made")


def _is_valid(name: str, raw: dict[str, Any]) -> bool:
    try:
        contract.parse_inputs(contract.get(name), raw)
    except InputError:
        return False
    return True


def _inputs(name: str, chance: random.Random) -> dict[str, Any]:
    drawn: dict[str, Any] = {}
    for field, spec in contract.specs_of(contract.get(name)).items():
        drawn[field] = _field(spec, chance, drawn)
    return drawn


def _field(spec: Any, chance: random.Random, drawn: dict[str, Any]) -> Any:
    if isinstance(spec, ListSpec):
        if spec.nullable and chance.random() < 0.5:
            return None
        model = drawn.get(spec.like)
        width = drawn.get(spec.row_length)
        return _list(spec, chance, model if isinstance(model, list) else None, width)
    return _scalar(spec, chance)


def _list(spec: ListSpec, chance: random.Random, model: Any, width: int | None) -> Any:
    most = min(spec.max_length, spec.min_length + 3)
    length = len(model) if model is not None else chance.randint(spec.min_length, most)
    if isinstance(spec.item, ListSpec):
        even = width or chance.randint(spec.item.min_length, min(spec.item.max_length, 4))
        widths = [len(row) for row in model] if model is not None else [even] * length
        return [[_scalar(spec.item.item, chance) for _ in range(n)] for n in widths]
    if isinstance(spec.item, RowSpec):
        return [_row(spec.item, chance, width or 2, i) for i in range(length)]
    return [_scalar(spec.item, chance) for _ in range(length)]


def _row(spec: RowSpec, chance: random.Random, width: int, i: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, item in spec.columns.items():
        if isinstance(item, ListSpec):
            row[key] = [_scalar(item.item, chance) for _ in range(width)]
        else:
            row[key] = f"tensor{i}" if key == "name" else _scalar(item, chance)
    return row


def _scalar(spec: Any, chance: random.Random) -> Any:
    if isinstance(spec, NumberSpec):
        return _number(spec, chance)
    if isinstance(spec, ChoiceSpec):
        return chance.choice(spec.options)
    if isinstance(spec, FlagSpec):
        return chance.random() < 0.5
    if isinstance(spec, SubsetSpec):
        size = len(spec.options) if spec.whole else chance.randint(0, len(spec.options))
        return chance.sample(spec.options, size)
    return None


def _number(spec: NumberSpec, chance: random.Random) -> Any:
    if spec.nullable and chance.random() < 0.3:
        return None
    if spec.specials and chance.random() < 0.15:
        return chance.choice(["inf", "-inf", "nan"])
    low, high = spec.slider or (max(spec.minimum, -20), min(spec.maximum, 20))
    if spec.is_integer:
        return chance.randint(int(low), int(high))
    return round(chance.uniform(low, high), 3)
