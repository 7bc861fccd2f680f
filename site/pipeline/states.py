"""The rule that says for which states of a calculator a page has answers in advance.

- An input is discrete if it is a choice, a switch, a set or an order of names, or a whole number
  with a slider, or an entry of a list of such numbers; and if it has at most MOST_VALUES values.
  A number that says how long other inputs are is not: it never changes alone.
- All combinations of the discrete inputs with the fewest values are computed, the others as they
  are at this place; of each input that no longer fits in, every value alone. Together at most
  MOST_STATES, and in a file of at most `grid.MOST_BYTES`: else every value alone, else no grid.
- A calculator that reads data of the records has none, nor one whose place says `:grid: off`.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calculators import contract
from calculators.specs import ChoiceSpec, FlagSpec, ListSpec, NumberSpec, SubsetSpec

MOST_VALUES = 64
MOST_STATES = 200

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A discrete input, or the entry `index` of one, and its values."""

    field: str
    index: int | None
    values: tuple[Any, ...]

    def set(self, inputs: Inputs, value: Any) -> dict[str, Any]:
        """`inputs` with this one at `value`."""
        if self.index is None:
            return {**inputs, self.field: value}
        entries = [*inputs[self.field]]
        entries[self.index] = value
        return {**inputs, self.field: entries}


def axes(name: str, inputs: Inputs) -> list[Axis]:
    """The discrete inputs of a calculator at its place, in the order of their declaration."""
    specs = contract.specs_of(contract.get(name))
    shaping = {spec.row_length for spec in specs.values() if isinstance(spec, ListSpec)}
    found = []
    for field, spec in specs.items():
        if isinstance(spec, ListSpec):
            entries = enumerate(inputs[field] or ())
            found += [Axis(field, i, _values(spec.item, entry)) for i, entry in entries]
        elif field not in shaping:
            found.append(Axis(field, None, _values(spec, inputs[field])))
    return [axis for axis in found if 1 < len(axis.values) <= MOST_VALUES]


def _values(spec: Any, current: Any) -> tuple[Any, ...]:
    """All that a control can be set to; nothing where that is no short list."""
    values: list[Any] = []
    if isinstance(spec, ChoiceSpec):
        values = list(spec.options)
    elif isinstance(spec, FlagSpec):
        values = [False, True]
    elif isinstance(spec, SubsetSpec) and spec.whole:
        orders = itertools.permutations(spec.options)
        values = [list(order) for order in itertools.islice(orders, MOST_VALUES + 1)]
    elif isinstance(spec, SubsetSpec) and 2 ** len(spec.options) <= MOST_VALUES:
        sizes = range(len(spec.options) + 1)
        values = [list(some) for n in sizes for some in itertools.combinations(spec.options, n)]
    elif isinstance(spec, NumberSpec) and _is_stepped(spec) and spec.slider:
        low, high = map(int, spec.slider)
        steps = range(low, high + 1, max(1, int(spec.step)))
        values = list(steps) if len(steps) <= MOST_VALUES else []
    return tuple(values if not values or current in values else [*values, current])


def _is_stepped(spec: NumberSpec) -> bool:
    return spec.is_integer and not (spec.logarithmic or spec.nullable or spec.specials)


def states(name: str, inputs: Inputs, *, combined: bool = True) -> list[dict[str, Any]]:
    """The inputs to compute, first those of the place itself; only that one if none is discrete.

    Without `combined` every value of every discrete input alone.
    """
    smallest = sorted(axes(name, inputs), key=lambda axis: len(axis.values))
    while _alone(smallest) >= MOST_STATES:
        smallest.pop()
    product, rest = [dict(inputs)], list(smallest)
    while combined and rest:
        count = len(product) * len(rest[0].values)
        if count + _alone(rest[1:]) > MOST_STATES:
            break
        axis = rest.pop(0)
        product = [axis.set(state, value) for state in product for value in axis.values]
    others = [axis.set(inputs, value) for axis in rest for value in axis.values]
    distinct = {_text(state): state for state in [dict(inputs), *product, *others]}
    return list(distinct.values())


def _alone(some: Sequence[Axis]) -> int:
    """How many states differ from the place's own in one of these."""
    return sum(len(axis.values) - 1 for axis in some)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def reads_data(name: str) -> bool:
    """Whether a calculator says which data it needs; see `contract.Calculator`."""
    return hasattr(sys.modules[contract.get(name).compute.__module__], "missing_data")
