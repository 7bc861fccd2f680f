"""Random valid inputs of a calculator, made from its declaration alone."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from calculators import contract
from calculators.specs import (
    SPECIAL_NUMBERS,
    ChoiceSpec,
    FlagSpec,
    InputError,
    ListSpec,
    NumberSpec,
    RowSpec,
    SubsetSpec,
    TextSpec,
)


def numbers(spec: NumberSpec) -> st.SearchStrategy[Any]:
    """Values of the declared range; ordinary sizes are as likely as extreme ones."""
    if spec.is_integer:
        least, most = int(spec.minimum), int(spec.maximum)
        return st.one_of(st.integers(least, most), st.integers(least, min(most, least + 20)))
    low, high = max(spec.minimum, -10.0), min(spec.maximum, 10.0)
    options: list[st.SearchStrategy[Any]] = [st.floats(spec.minimum, spec.maximum)]
    options.append(st.floats(low, high) if low <= high else options[0])
    if spec.specials:
        options.append(st.sampled_from(sorted(SPECIAL_NUMBERS)))
    if spec.nullable:
        options.append(st.none())
    return st.one_of(options)


def values(spec: Any, length: int | None = None) -> st.SearchStrategy[Any]:
    """Values that `spec` accepts, lists of `length` where one is asked for."""
    if isinstance(spec, NumberSpec):
        return numbers(spec)
    if isinstance(spec, ChoiceSpec):
        return st.sampled_from(spec.options)
    if isinstance(spec, FlagSpec):
        return st.booleans()
    if isinstance(spec, TextSpec):
        return st.text("abcxyz.", min_size=1, max_size=8)
    if isinstance(spec, SubsetSpec):
        if spec.whole:
            return st.permutations(spec.options)
        return st.lists(st.sampled_from(spec.options), unique=True)
    low = spec.min_length if length is None else length
    high = min(spec.max_length, low + 4) if length is None else length
    lists = st.lists(values(spec.item), min_size=low, max_size=high)
    return st.one_of(lists, st.none()) if spec.nullable else lists


@st.composite
def inputs(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A mapping of every input of calculator `name`, alike where the declaration says so."""
    drawn: dict[str, Any] = {}
    for field, spec in contract.specs_of(contract.get(name)).items():
        if isinstance(spec, ListSpec) and spec.row_length:
            drawn[field] = draw(_rows(spec, drawn[spec.row_length]))
        elif isinstance(spec, ListSpec) and spec.like:
            drawn[field] = draw(_like(spec, drawn[spec.like]))
        else:
            drawn[field] = draw(values(spec))
    return drawn


def _like(spec: ListSpec, model: list[Any]) -> st.SearchStrategy[Any]:
    if isinstance(spec.item, ListSpec):
        rows = st.tuples(*(values(spec.item, len(row)) for row in model)).map(list)
        return st.one_of(rows, st.none()) if spec.nullable else rows
    return values(spec, len(model))


def _rows(spec: ListSpec, length: int) -> st.SearchStrategy[Any]:
    row: st.SearchStrategy[Any]
    if isinstance(spec.item, RowSpec):
        row = st.fixed_dictionaries(
            {key: values(item, length) if isinstance(item, ListSpec) else values(item)
             for key, item in spec.item.columns.items()}
        )  # fmt: skip
    else:
        row = values(spec.item, length)
    return st.lists(row, min_size=1, max_size=4)


def accepted(name: str, raw: dict[str, Any]) -> bool:
    """Whether the calculator's rules across fields accept these inputs too."""
    try:
        contract.parse_inputs(contract.get(name), raw)
    except InputError:
        return False
    return True
