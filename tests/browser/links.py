"""A calculator's state as an address spells it, written here a second time from its description."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from calculators import contract
from calculators.specs import ListSpec, NumberSpec, RowSpec


def _item(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return quote(repr(value), safe="")
    return quote(str(value), safe="")


def _value(value: Any, spec: Any) -> str:
    if value is None:
        return "null"
    if isinstance(spec, ListSpec) and isinstance(spec.item, RowSpec):
        return quote(json.dumps(value, ensure_ascii=False), safe="")
    if isinstance(spec, ListSpec) and isinstance(spec.item, ListSpec):
        return ";".join(",".join(map(_item, row)) for row in value)
    if isinstance(value, (list, tuple)):
        return ",".join(map(_item, value))
    return _item(value)


def state(name: str, inputs: dict[str, Any]) -> str:
    """What stands behind `#ID?` for these inputs of calculator `name`."""
    specs = contract.specs_of(contract.get(name))
    return "&".join(f"{key}={_value(value, specs[key])}" for key, value in inputs.items())


def is_list_of_numbers(spec: Any) -> bool:
    """Whether the input is edited in a list of number boxes."""
    return isinstance(spec, ListSpec) and isinstance(spec.item, NumberSpec)
