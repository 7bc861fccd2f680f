"""Plots: the same bytes built and live, roles as classes and shapes, points that fit a screen."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.node import NodeProgram
from pipeline.plots import PROGRAM, ROOT, PlotError, draw_all
from tests.plot_examples import BARS, EMPTY, EXAMPLES, MIXED, Spec, line, spec


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return draw_all(EXAMPLES, tmp_path_factory.mktemp("plots"))


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProgram]:
    with NodeProgram(PROGRAM) as program:
        yield program


def markup(node: NodeProgram, plot: Spec) -> str:
    [answer] = node.request([plot])
    return str(answer["ok"])


def ticks(html: str, axis: str) -> list[str]:
    found = re.search(rf'<g aria-label="{axis}-axis tick label".*?</g>', html)
    assert found
    return re.findall(r"<text[^>]*>([^<]*)</text>", found[0])


# What a plot is


def test_names_of_bars_are_written_only_where_they_fit(node: NodeProgram) -> None:
    few = [[f"tensor {i}", i] for i in range(4)]
    many = [[f"tensor {i}", i] for i in range(28)]
    axis = {"label": "tensor", "type": "band"}
    fitting = markup(node, spec(line("neutral", few, "", "bar"), x=axis))
    assert ticks(fitting, "x") == ["tensor 0", "tensor 1", "tensor 2", "tensor 3"]
    crowded = markup(node, spec(line("neutral", many, "", "bar"), x=axis))
    assert "tensor 0" not in crowded


def test_roles_are_classes_and_no_colour_or_style_is_in_the_markup(drawn: list[str]) -> None:
    for html in drawn:
        assert "<style" not in html
        assert "style=" not in html
        assert not re.search(r'(fill|stroke)="(?!none|currentColor)', html)
    assert 'class="mark-line role-correct"' in drawn[0]
    assert 'class="mark-line role-implemented"' in drawn[0]


def test_roles_differ_without_colour(drawn: list[str]) -> None:
    dashes = dict(
        re.findall(r'class="mark-line role-(\w+)"[^>]*stroke-dasharray="([^"]+)"', drawn[2])
    )
    assert list(dashes) == ["implemented"]
    shapes = re.findall(r'class="mark-dot role-(\w+)[^"]*".*?<(path d="[^"]*"|circle)', drawn[2])
    assert len({shape for _, shape in shapes}) == len(shapes) == 2
    assert 'class="mark-bar role-implemented is-hollow"' in drawn[1]


def test_two_series_of_one_role_differ_by_their_dashes(node: NodeProgram) -> None:
    html = markup(node, spec(*(line("neutral", [[0, 0], [1, k]], f"v{k}") for k in range(3))))
    marks = re.findall(r'<g[^>]*class="mark-line role-neutral"[^>]*>', html)
    dashes = [re.findall(r'stroke-dasharray="([^"]*)"', mark) for mark in marks]
    assert len({str(dash) for dash in dashes}) == 3


def test_the_legend_names_each_series_once_in_words(drawn: list[str]) -> None:
    assert re.findall(r"<li[^>]*>.*?<span>(.*?)</span></li>", drawn[0]) == [
        "as stated", "as set", "this update",
    ]  # fmt: skip
    assert re.findall(r"<span>(.*?)</span>", drawn[3]) == ["lowest", "highest", "limit", "band"]


def test_a_single_series_has_no_legend(node: NodeProgram) -> None:
    assert "plot-legend" not in markup(node, spec(line("correct", [[0, 1], [1, 2]])))


def test_axis_labels_are_html_so_that_they_keep_their_size(drawn: list[str]) -> None:
    assert '<p class="plot-label plot-label-y">learning rate</p>' in drawn[0]
    assert '<p class="plot-label plot-label-x">梯度</p>' in drawn[1]


def test_the_drawing_scales_by_its_view_box(drawn: list[str]) -> None:
    for html in drawn:
        [tag] = re.findall(r'<svg[^>]*class="plot-svg"[^>]*>', html)
        assert 'viewBox="0 0 420 240"' in tag
        assert not re.search(r"\s(width|height)=", tag)


def test_ticks_are_short_numbers(drawn: list[str], node: NodeProgram) -> None:
    assert ticks(drawn[0], "y") == ["0", "2×10⁻⁴", "4×10⁻⁴", "6×10⁻⁴"]
    assert ticks(drawn[0], "x") == ["0", "5000", "10\u202f000", "15\u202f000", "20\u202f000"]
    assert ticks(drawn[2], "x") == ["1", "10", "100", "1000", "10\u202f000"]
    signed = markup(node, spec(line("correct", [[-0.3, -2e6], [0.3, 2e6]])))
    assert ticks(signed, "x") == ["−0.4", "−0.2", "0", "0.2", "0.4"]
    assert ticks(signed, "y") == ["−2×10⁶", "−10⁶", "0", "10⁶", "2×10⁶"]


def test_text_is_escaped(drawn: list[str]) -> None:
    assert "w &lt; 1" in drawn[1]
    assert "b &amp; c" in drawn[1]


def test_a_point_off_the_axes_leaves_a_gap(node: NodeProgram) -> None:
    points = [[0, 1], [1, 1], [2, 50], [3, 1], [4, 1]]
    html = markup(node, spec(line("correct", points), y={"domain": [0, 2]}))
    [path] = re.findall(r'class="mark-line role-correct"[^>]*><path d="([^"]*)"', html)
    assert path.count("M") == 2
    assert markup(node, spec(line("correct", points))).count("M") < html.count("M")


def test_a_logarithmic_axis_leaves_out_what_it_has_no_place_for(drawn: list[str]) -> None:
    dots = re.findall(r'class="mark-dot role-implemented[^"]*".*?</g>', drawn[2])
    assert dots[0].count("<path") == 2


# The same everywhere


def test_a_plot_is_the_same_bytes_every_time(node: NodeProgram, drawn: list[str]) -> None:
    assert [markup(node, example) for example in EXAMPLES] == drawn
    assert [markup(node, example) for example in reversed(EXAMPLES)] == drawn[::-1]


def test_coordinates_have_two_decimals(drawn: list[str]) -> None:
    for html in drawn:
        numbers = re.findall(r'\s(?:d|x\d?|y\d?|transform|width|height)="([^"]*)"', html)
        assert not [text for text in numbers if re.search(r"\.\d{3}", text)]


# Points that fit a screen


def test_a_long_run_is_thinned_to_the_pixels(drawn: list[str]) -> None:
    paths = re.findall(r'class="mark-line[^>]*><path d="([^"]*)"', drawn[0])
    assert [len(re.findall("[ML]", path)) < 4 * 420 for path in paths] == [True, True]


@settings(max_examples=25, deadline=None)
@given(
    heights=st.lists(st.integers(-5, 5), min_size=20, max_size=300),
    columns=st.integers(1, 4),
)
def test_thinning_keeps_ends_and_extremes_in_order(
    thinning: NodeProgram, heights: list[int], columns: int
) -> None:
    points = [[index, height] for index, height in enumerate(heights)]
    [kept] = thinning.request([{"points": points, "columns": columns, "domain": [0, len(points)]}])
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)
    assert all(point in points for point in kept)
    assert {min(heights), max(heights)} <= {height for _, height in kept}
    assert len(kept) <= max(4 * columns + 4, 4 * columns)


@pytest.fixture(scope="module")
def thinning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProgram]:
    script = tmp_path_factory.mktemp("thin") / "thin.mjs"
    script.write_text(
        f"""
        import {{ createInterface }} from "node:readline";
        import {{ thin }} from {json.dumps((ROOT / "site/scripts/plot-marks.js").as_uri())};
        createInterface({{ input: process.stdin }}).on("line", (line) => {{
          const {{ points, columns, domain }} = JSON.parse(line);
          console.log(JSON.stringify(thin(points, {{ x: {{ type: "linear", domain }}, columns }})));
        }});
        """,
        "utf-8",
    )
    with NodeProgram(script) as program:
        yield program


def test_a_line_that_turns_back_is_not_thinned(thinning: NodeProgram) -> None:
    points = [[index % 7, index] for index in range(100)]
    [kept] = thinning.request([{"points": points, "columns": 2, "domain": [0, 7]}])
    assert kept == points


# Errors, and what is kept


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (spec(line("wrong", [[0, 0]]), key="a"),
         "plot 'a': role 'wrong' is not one of correct, implemented, neutral, accent"),
        (spec(line("correct", [[0, 0]], kind="pie"), key="b"),
         "plot 'b': mark type 'pie' is not one of line, step, dot, rule, bar, area, text"),
        (spec(x={"type": "time"}, key="c"),
         "plot 'c': axis type 'time' is not one of linear, log, band"),
        (spec(line("correct", [[0, math.nan]]), key="d"),
         "plot 'd': its numbers must be finite; leave such points out"),
    ],
)  # fmt: skip
def test_a_wrong_spec_is_named(plot: Spec, message: str, tmp_path: Path) -> None:
    with pytest.raises(PlotError) as caught:
        draw_all([EMPTY, plot], tmp_path)
    assert str(caught.value) == message
    assert caught.value.index == 1


def test_a_drawing_that_never_ends_is_ended_and_named(tmp_path: Path) -> None:
    program = tmp_path / "endless.mjs"
    program.write_text("process.stdin.resume(); process.stdin.on('data', () => { for (;;) {} })")
    with pytest.raises(PlotError) as caught:
        draw_all([BARS], tmp_path, program=program, timeout=0.5)
    assert str(caught.value) == "plot 'plot': endless.mjs: no answer within 0.5 s; ended"


def test_equal_plots_are_drawn_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = draw_all([BARS, MIXED, dict(reversed(BARS.items()))], tmp_path)
    assert first[0] == first[2] != first[1]
    monkeypatch.setattr("pipeline.node.node_executable", lambda: "/nonexistent/node")
    assert draw_all([BARS, MIXED], tmp_path) == first[:2]
