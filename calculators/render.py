"""A result as HTML: the only renderer, so the built page and the live page are the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from calculators.contract import Message, Metric, Plot, Result, Table
from calculators.numbers import DIGITS, align_decimals, format_number
from calculators.plots import data_table, plot_spec
from calculators.text import fill, lookup, sentence

SIGNS = {"correct": "✓", "implemented": "△", "neutral": ""}


class Selection:
    """Which metrics, tables and plots a place on a page wants to see."""

    def __init__(
        self, show: Iterable[str] | None, hide: Iterable[str] = (), plot: str | None = None
    ) -> None:
        self.show = None if show is None else frozenset(show)
        self.hide = frozenset(hide)
        self.plot = plot

    def has(self, key: str) -> bool:
        return key not in self.hide and (self.show is None or key in self.show)

    def has_plot(self, key: str) -> bool:
        if self.plot is not None:
            return self.plot == key
        return self.has(key)


def render_result(name: str, result: Result, language: str, chosen: Selection) -> str:
    """The inner HTML of `[data-result]`: verdict, notices, metrics, tables, plots."""
    parts = [
        f'<p class="calc-verdict" data-verdict>{escape(verdict_text(name, result, language))}</p>',
        _notices(name, result.notices, language),
        _metrics(name, [m for m in result.metrics if chosen.has(m.key)], language),
        *(_table(name, t, language) for t in result.tables if chosen.has(t.key)),
        *(_plot(name, p, language) for p in result.plots if chosen.has_plot(p.key)),
    ]
    return "".join(parts)


def verdict_text(name: str, result: Result, language: str) -> str:
    """The verdict as one plain sentence."""
    return _text(name, "verdicts", result.verdict, language)


def _text(name: str, kind: str, message: Message, language: str) -> str:
    params = {
        key: sentence(language, name, "words", value.key, value.params)
        if isinstance(value, Message)
        else value
        for key, value in message.params.items()
    }
    return sentence(language, name, kind, message.key, params)


def notice_texts(name: str, result: Result, language: str) -> list[dict[str, str]]:
    """Notices as the CLI prints them: code and text."""
    return [
        {"code": item.key, "text": _text(name, "notices", item, language)}
        for item in result.notices
    ]


def _notices(name: str, notices: Sequence[Message], language: str) -> str:
    if not notices:
        return ""
    items = "".join(
        f'<li data-code="{escape(item.key)}">{escape(_text(name, "notices", item, language))}</li>'
        for item in notices
    )
    return f'<ul class="calc-notices">{items}</ul>'


def datum(value: Any, digits: int = DIGITS, text: str | None = None) -> str:
    """A number with its raw value kept beside the reader's form."""
    shown = escape(format_number(value, digits) if text is None else text)
    if isinstance(value, (bool, str)) or value is None:
        return f"<span>{shown}</span>"
    return f'<data value="{escape(_raw(value))}">{shown}</data>'


def _raw(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(_raw(item) for item in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _sign(role: str, language: str) -> str:
    if role == "neutral":
        return ""
    word = lookup(language, "common", "roles", role)
    sign = f'<span class="sign" aria-hidden="true">{SIGNS[role]}</span>'
    return f'{sign}<span class="role">{word}</span> '


def _metrics(name: str, metrics: Sequence[Metric], language: str) -> str:
    if not metrics:
        return ""
    items = "".join(
        f'<div class="metric role-{m.role}" data-metric="{m.key}">'
        f"<dt>{_sign(m.role, language)}{escape(lookup(language, name, 'metrics', m.key))}</dt>"
        f"<dd>{datum(_word(m.value, language), m.digits)}</dd></div>"
        for m in metrics
    )
    return f'<dl class="calc-metrics">{items}</dl>'


def _word(value: Any, language: str) -> Any:
    if isinstance(value, bool):
        return lookup(language, "common", "words", "yes" if value else "no")
    return value


def _cell_text(name: str, value: Any, language: str) -> str:
    if isinstance(value, Message):
        return sentence(language, name, "words", value.key, value.params)
    return format_number(_word(value, language))


def _is_numeric(column: Sequence[Any]) -> bool:
    found = [value for value in column if value is not None]
    return bool(found) and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) for v in found
    )


def table_labels(name: str, table: Table, language: str) -> list[str]:
    """The filled labels of a table's columns."""
    return [
        fill(lookup(language, name, "tables", table.key, column.key), column.params)
        for column in table.columns
    ]


def _table(name: str, table: Table, language: str) -> str:
    title = escape(lookup(language, name, "tables", table.key, "title"))
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{title}">'
        f'<table class="calc-table" data-table="{table.key}"><caption>{title}</caption>'
        f"{_table_body(name, table, table_labels(name, table, language), language)}</table></div>"
    )


def _table_body(name: str, table: Table, labels: Sequence[str], language: str) -> str:
    columns = [list(column) for column in zip(*table.rows, strict=True)] if table.rows else []
    texts = [[_cell_text(name, value, language) for value in column] for column in columns]
    numeric = [_is_numeric(column) for column in columns] or [False] * len(labels)
    texts = [align_decimals(t) if n else t for t, n in zip(texts, numeric, strict=False)]
    heads = "".join(
        f'<th scope="col" class="{"num " if n else ""}role-{c.role}">'
        f"{_sign(c.role, language)}{escape(label)}</th>"
        for label, c, n in zip(labels, table.columns, numeric, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell(j, table, columns[j][i], texts[j][i], numeric[j])
                         for j in range(len(columns))) + "</tr>"
        for i in range(len(table.rows))
    )  # fmt: skip
    return f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"


def _cell(j: int, table: Table, value: Any, text: str, is_numeric: bool) -> str:
    classes = f"{'num ' if is_numeric else ''}role-{table.columns[j].role}"
    shown = datum(value, text=text) if is_numeric and value is not None else escape(text)
    if j == 0:
        return f'<th scope="row" class="{classes}">{shown}</th>'
    return f'<td class="{classes}">{shown}</td>'


def _plot(name: str, plot: Plot, language: str) -> str:
    title = escape(lookup(language, name, "plots", plot.key, "title"))
    alt = escape(fill(lookup(language, name, "plots", plot.key, "alt"), plot.alt))
    labels, rows = data_table(name, plot, language)
    heads = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell_text(name, v, language))}</td>" for v in row) + "</tr>"
        for row in rows
    )
    summary = escape(lookup(language, "common", "words", "plot_data"))
    return (
        f'<figure class="calc-plot" data-plot="{plot.key}">'
        f'<div class="plot-canvas" role="img" aria-label="{alt}"></div>'
        f'<figcaption>{title}</figcaption><details class="plot-data"><summary>{summary}</summary>'
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{title}">'
        f'<table class="calc-table"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        "</div></details></figure>"
    )


def table_data(name: str, table: Table, language: str) -> dict[str, Any]:
    """A table as data for download: key, title, column labels, rows."""
    rows = [
        [sentence(language, name, "words", v.key, v.params) if isinstance(v, Message) else v
         for v in row]
        for row in table.rows
    ]  # fmt: skip
    title = lookup(language, name, "tables", table.key, "title")
    return {"key": table.key, "title": title, "columns": table_labels(name, table, language),
            "rows": rows}  # fmt: skip


def plots_by_key(name: str, plots: Iterable[Plot], language: str) -> Mapping[str, Any]:
    """Plot specs for the shared drawing module."""
    return {plot.key: plot_spec(name, plot, language) for plot in plots}
