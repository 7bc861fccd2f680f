"""A calculator's controls as HTML, derived from the declaration of its inputs.

Every control is a real form element named like its input. Entries of lists and matrices share the
name and carry `data-index` ("0" or "0,1"); a slider and its number box share name and index and
differ in `data-part`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from calculators import contract
from calculators.specs import (
    ChoiceSpec,
    FlagSpec,
    ListSpec,
    NumberSpec,
    RowSpec,
    SubsetSpec,
    TextSpec,
)
from calculators.text import fill, lookup


class Controls:
    """Renders the controls of calculator `name`; element ids start with `prefix`."""

    def __init__(self, name: str, language: str, prefix: str) -> None:
        self.name, self.language, self.prefix = name, language, prefix

    def word(self, key: str, **params: Any) -> str:
        return escape(fill(lookup(self.language, "common", "words", key), params))

    def choice_label(self, field: str, option: str) -> str:
        return escape(lookup(self.language, self.name, "choices", field, option))

    def render(self, inputs: Mapping[str, Any]) -> str:
        calculator = contract.get(self.name)
        return "".join(
            self._control(field, spec, inputs[field])
            for field, spec in contract.specs_of(calculator).items()
        )

    def _control(self, field: str, spec: Any, value: Any) -> str:
        label = escape(lookup(self.language, self.name, "inputs", field))
        if isinstance(spec, ListSpec):
            kind, body = self._list(field, spec, value, label)
        elif isinstance(spec, SubsetSpec):
            kind, body = self._subset(field, spec, value)
        else:
            return self._scalar(field, spec, value, label)
        return (
            f'<fieldset class="control" data-field="{field}" data-kind="{kind}">'
            f"<legend>{label}</legend>{body}</fieldset>"
        )

    def _scalar(self, field: str, spec: Any, value: Any, label: str) -> str:
        box_id = f"{self.prefix}-{field}"
        if isinstance(spec, FlagSpec):
            checked = " checked" if value else ""
            body = f'<input type="checkbox" id="{box_id}" name="{field}"{checked}>'
            kind = "flag"
        elif isinstance(spec, ChoiceSpec):
            body, kind = self._select(field, spec, value, box_id), "choice"
        else:
            body, kind = number_box(field, spec, value, label, box_id=box_id), "number"
        unit = getattr(spec, "unit", "")
        unit = f' <span class="unit">{escape(unit)}</span>' if unit else ""
        return (
            f'<div class="control" data-field="{field}" data-kind="{kind}">'
            f'<label for="{box_id}">{label}{unit}</label>{body}</div>'
        )

    def _select(self, field: str, spec: ChoiceSpec, value: Any, box_id: str) -> str:
        options = "".join(
            f'<option value="{option}"{" selected" if option == value else ""}>'
            f"{self.choice_label(field, option)}</option>"
            for option in spec.options
        )
        return f'<select id="{box_id}" name="{field}">{options}</select>'

    def _subset(self, field: str, spec: SubsetSpec, value: Sequence[str]) -> tuple[str, str]:
        if spec.whole:
            items = "".join(
                f'<li data-value="{item}"><span>{self.choice_label(field, item)}</span>'
                f'<button type="button" data-move="{item}" aria-label="'
                f'{self.word("move_up", item=self.choice_label(field, item))}">↑</button></li>'
                for item in value
            )
            return "order", f'<ol class="order">{items}</ol>'
        boxes = "".join(
            f'<label><input type="checkbox" name="{field}" value="{option}"'
            f"{' checked' if option in value else ''}> {self.choice_label(field, option)}</label>"
            for option in spec.options
        )
        return "subset", f'<div class="subset">{boxes}</div>'

    def _list(self, field: str, spec: ListSpec, value: Any, label: str) -> tuple[str, str]:
        if isinstance(spec.item, RowSpec):
            return "table", self._rows(field, spec.item, value, label) + self._row_buttons("row")
        if isinstance(spec.item, ListSpec):
            return "matrix", self._matrix(field, spec, value, label)
        entries = "".join(
            f'<div class="entry">'
            f"{number_box(field, spec.item, v, self.word('entry', label=label, i=i), index=str(i))}"
            "</div>"
            for i, v in enumerate(value or ())
        )
        is_fixed = spec.min_length == spec.max_length
        buttons = "" if is_fixed else self._row_buttons("entry")
        body = f'<div class="entries">{entries}</div>{buttons}'
        return "vector", self._switch(field, spec, value) + body

    def _switch(self, field: str, spec: ListSpec, value: Any) -> str:
        if not spec.nullable:
            return ""
        checked = " checked" if value is None else ""
        box = f'<input type="checkbox" name="{field}" data-part="null"{checked}>'
        return f'<label class="null">{box} {self.word("none_option")}</label>'

    def _row_buttons(self, what: str) -> str:
        return (
            f'<div class="shape"><button type="button" data-shape="remove">−<span class="sr-only"> '
            f"{self.word('remove_' + what)}</span></button>"
            f'<button type="button" data-shape="add">+<span class="sr-only"> '
            f"{self.word('add_' + what)}</span></button></div>"
        )

    def _matrix(self, field: str, spec: ListSpec, value: Any, label: str) -> str:
        item = spec.item.item
        rows = "".join(
            '<div class="grid-row">'
            + "".join(
                number_box(field, item, v, self.word("cell", label=label, i=i, j=j),
                           index=f"{i},{j}", with_slider=False)
                for j, v in enumerate(row)
            )
            + f"{self._row_buttons('entry')}</div>"
            for i, row in enumerate(value or ())
        )  # fmt: skip
        hint = f'<p class="hint">{self.word("paste_hint")}</p>'
        grid = f'<div class="grid" data-paste>{rows}</div>{self._row_buttons("row")}{hint}'
        return self._switch(field, spec, value) + grid

    def _rows(self, field: str, spec: RowSpec, value: Any, label: str) -> str:
        heads = "".join(
            f'<th scope="col">{escape(lookup(self.language, self.name, "columns", key))}</th>'
            for key in spec.columns
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{self._row_cell(field, key, item, row[key], i, label)}</td>"
                for key, item in spec.columns.items()
            )
            + "</tr>"
            for i, row in enumerate(value)
        )
        return (
            f'<div class="table-scroll" tabindex="0" role="region" aria-label="{label}">'
            f'<table class="rows"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
            "</div>"
        )

    def _row_cell(self, field: str, key: str, spec: Any, value: Any, i: int, label: str) -> str:
        column = escape(lookup(self.language, self.name, "columns", key))
        name = self.word("row_field", label=label, i=i, column=column)
        index = f'name="{field}" data-index="{i},{key}" aria-label="{name}"'
        if isinstance(spec, ChoiceSpec):
            options = "".join(
                f'<option value="{option}"{" selected" if option == value else ""}>'
                f"{self.choice_label(key, option)}</option>"
                for option in spec.options
            )
            return f"<select {index}>{options}</select>"
        if isinstance(spec, ListSpec):
            text = ", ".join("" if v is None else plain_number(v) for v in value)
            return f'<input type="text" data-part="list" value="{escape(text)}" {index}>'
        kind = "text" if isinstance(spec, TextSpec) else "number"
        shown = "" if value is None else escape(str(value))
        return f'<input type="{kind}" value="{shown}" {index}>'


def plain_number(value: Any) -> str:
    """A number as an input element takes it."""
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def number_box(
    field: str, spec: NumberSpec, value: Any, label: str,
    *, box_id: str = "", index: str = "", with_slider: bool = True,
) -> str:  # fmt: skip
    """A slider (where the spec has a range worth dragging) and a number box."""
    at = f' data-index="{index}"' if index else ""
    named = f' id="{box_id}"' if box_id else f' aria-label="{label}"'
    shown = "" if value is None else plain_number(value)
    if spec.specials or spec.nullable:
        box = (
            f'<input type="text" inputmode="decimal" name="{field}" data-part="box"{at}{named}'
            f' value="{shown}">'
        )
    else:
        box = (
            f'<input type="number" name="{field}" data-part="box"{at}{named} value="{shown}"'
            f' min="{plain_number(spec.minimum)}" max="{plain_number(spec.maximum)}" step="any">'
        )
    if not (with_slider and spec.slider) or spec.nullable:
        return box
    low, high = spec.slider
    return (
        f'<input type="range" name="{field}" data-part="slider"{at} aria-label="{label}"'
        f' min="{plain_number(low)}" max="{plain_number(high)}" step="{plain_number(spec.step)}"'
        f' value="{shown}"{" data-logarithmic" if spec.logarithmic else ""}>{box}'
    )


def render(name: str, inputs: Mapping[str, Any], language: str, prefix: str) -> str:
    """All controls of calculator `name` at `inputs` (as `contract.evaluate` returns them)."""
    return Controls(name, language, prefix).render(inputs)
