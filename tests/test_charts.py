"""Charts of records: points, their table, and what is no series."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline import charts, expressions
from pipeline.holes import PlotHole
from pipeline.model import Record


def record(**results: Any) -> Record:
    return Record("tiny.gloo", "tiny.gloo.json", {"results": results}, {})


def plot(path: str) -> PlotHole:
    binding = expressions.parse("record", f"tiny.gloo {path}")
    return PlotHole(
        line=1, name="tiny.gloo", id="p", number=1, series=(binding,), labels=("a",),
        roles=("accent",), kind="line", scale="linear", step=20, x="x", y="y", alt="A line.",
        caption="",
    )  # fmt: skip


def test_a_list_of_numbers_is_drawn_at_every_step() -> None:
    found = charts.spec(record(losses=[3.5, 2, 1.25]), plot("results.losses"))
    assert found["marks"][0]["points"] == [[0, 3.5], [20, 2], [40, 1.25]]
    rows = charts.rows(record(losses=[3.5, 2, 1.25]), plot("results.losses"))
    assert rows == [["0", "3.5"], ["20", "2"], ["40", "1.25"]]


def test_pairs_are_points_and_a_log_scale_leaves_out_zeros() -> None:
    pairs = record(errors=[[-3, 7], [-2, 0]])
    assert charts.points(pairs, plot("results.errors"), 0) == [(-3, 7), (-2, 0)]
    on_log = replace(plot("results.errors"), scale="log")
    assert charts.points(pairs, on_log, 0) == [(-3, 7)]


def test_a_long_series_has_a_short_table_with_both_ends() -> None:
    rows = charts.rows(record(x=list(range(1000))), plot("results.x"))
    assert len(rows) == charts.MAX_ROWS
    assert (rows[0][1], rows[-1][1]) == ("0", "999")


@pytest.mark.parametrize("value", [3, [], ["nan"], [[1, 2, 3]], [True], {"a": 1}])
def test_what_is_no_series_is_said(value: Any) -> None:
    with pytest.raises(expressions.ExpressionError) as caught:
        charts.points(record(x=value), plot("results.x"), 0)
    assert caught.value.parts == (
        "not a series",
        "tiny.gloo results.x",
        "a series is a list of numbers, or of [x, y]",
        "bind such a list",
    )
