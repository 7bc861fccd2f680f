"""Formulas: what KaTeX makes of them, what it refuses, and what is kept."""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tex import PROGRAM, Formula, TexError, render_all

FRACTION = Formula(r"\frac{1}{N}")
ENDLESS = """
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { tex } = JSON.parse(line);
  if (tex === "endless") for (;;) {}
  console.log(JSON.stringify({ ok: `<b>${tex}</b>` }));
});
"""


def error_of(tex: str, cache: Path) -> str:
    with pytest.raises(TexError) as caught:
        render_all([Formula(tex)], cache)
    return str(caught.value)


def test_a_formula_is_html_and_mathml(tmp_path: Path) -> None:
    html = render_all([FRACTION], tmp_path)[FRACTION]
    assert html.startswith('<span class="katex">')
    assert "<mfrac><mn>1</mn><mi>N</mi></mfrac>" in html
    assert 'encoding="application/x-tex">\\frac{1}{N}</annotation>' in html


def test_display_and_inline_are_different_and_both_kept(tmp_path: Path) -> None:
    both = [FRACTION, Formula(FRACTION.tex, display=True)]
    done = render_all(both, tmp_path)
    assert "katex-display" in done[both[1]]
    assert "katex-display" not in done[both[0]]
    assert render_all(both, tmp_path) == done


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"a = 1, \qquad b = 2, \qquad c = 3", [r"a = 1,", "b = 2,", "c = 3"]),
        (r"\frac{a \qquad b}{c}", [r"\frac{a \qquad b}{c}"]),
        (r"\left( a \qquad b \right)", [r"\left( a \qquad b \right)"]),
        (
            r"\begin{aligned} a \qquad b \end{aligned}",
            [r"\begin{aligned} a \qquad b \end{aligned}"],
        ),
        (r"a \quad b", [r"a \quad b"]),
        (r"\{ a \qquad b \}", [r"\{ a", r"b \}"]),
        (r"\qquad a", [r"\qquad a"]),
    ],
)
def test_a_displayed_formula_parts_at_wide_spaces_outside_groups(
    tex: str, parts: list[str], tmp_path: Path
) -> None:
    formula = Formula(tex, display=True)
    html = render_all([formula], tmp_path)[formula]
    found = re.findall('encoding="application/x-tex">(.*?)</annotation>', html, re.DOTALL)
    assert [text.strip() for text in found] == parts


ALIGNED = r"\begin{aligned} a &= \{1\}, & b &= 2 \\ c &= \text{3 \& 4} \\ \end{aligned}"


def test_pairs_of_an_aligned_formula_are_cells(tmp_path: Path) -> None:
    formula = Formula(ALIGNED, display=True)
    html = render_all([formula], tmp_path)[formula]
    found = re.findall('encoding="application/x-tex">(.*?)</annotation>', html, re.DOTALL)
    assert [" ".join(text.split()) for text in found] == [
        "a", r"{}= \{1\},", "b", "{}= 2", "c", r"{}= \text{3 \&amp; 4}",
    ]  # fmt: skip
    assert 'style="--pairs:2"' in html
    assert html.count("equation-first") == 2


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}",
        r"\begin{aligned} a &= 1, & b &= 2 \\[1ex] c &= 3 \end{aligned}",
        r"\begin{aligned} a & b & c \end{aligned} = \begin{aligned} a & b & c \end{aligned}",
        r"x = \begin{aligned} a & b & c \end{aligned}",
    ],
)
def test_other_aligned_formulas_stay_whole(tex: str, tmp_path: Path) -> None:
    formula = Formula(tex, display=True)
    html = render_all([formula], tmp_path)[formula]
    assert "equation-cell" not in html
    assert html.count("katex-display") == 1


def test_an_error_in_a_cell_keeps_its_place_in_the_whole(tmp_path: Path) -> None:
    tex = r"\begin{aligned} a &= 1, & b &= \unknown \end{aligned}"
    with pytest.raises(TexError) as caught:
        render_all([Formula(tex, display=True)], tmp_path)
    assert [failure.position for failure in caught.value.failures] == [tex.index(r"\unknown")]


def test_an_error_in_a_later_part_keeps_its_place_in_the_whole(tmp_path: Path) -> None:
    with pytest.raises(TexError) as caught:
        render_all([Formula(r"a \qquad \unknown", display=True)], tmp_path)
    assert [failure.position for failure in caught.value.failures] == [9]
    assert "at position 10" in str(caught.value)


def test_words_in_chinese_are_set_inside_text(tmp_path: Path) -> None:
    formula = Formula(r"\text{词元数} = 3")
    assert "词元数" in render_all([formula], tmp_path)[formula]


@pytest.mark.parametrize(
    ("tex", "message"),
    [
        (r"\unknown", r"formula '\\unknown': Undefined control sequence: \unknown at position 1: "
                      r"\unknown"),
        (r"\frac{1}{", r"formula '\\frac{1}{': Unexpected end of input in a macro argument, "
                       r"expected '}' at end of input: \frac{1}{"),
        (r"\def\a{\a\a}\a", r"formula '\\def\\a{\\a\\a}\\a': Too many expansions: infinite loop "
                            r"or need to increase maxExpand setting"),
        (r"\href{javascript:alert(1)}{x}", r"formula '\\href{javascript:alert(1)}{x}': \href is "
                                           r"not allowed: formulas hold no links, images or HTML"),
        (r"\includegraphics{a.png}", r"formula '\\includegraphics{a.png}': \includegraphics is "
                                     r"not allowed: formulas hold no links, images or HTML"),
    ],
)  # fmt: skip
def test_what_katex_refuses_is_named(tex: str, message: str, tmp_path: Path) -> None:
    assert error_of(tex, tmp_path) == message


def test_strict_refuses_what_latex_would_not_take(tmp_path: Path) -> None:
    assert "unicodeTextInMathMode" in error_of("x，y", tmp_path)


def test_every_refused_formula_is_told_at_once_and_the_others_are_kept(tmp_path: Path) -> None:
    wrong = [Formula(r"\first"), Formula(r"\second")]
    with pytest.raises(TexError) as caught:
        render_all([FRACTION, *wrong], tmp_path)
    assert [failure.formula for failure in caught.value.failures] == wrong
    assert [failure.position for failure in caught.value.failures] == [0, 0]
    stored = sqlite3.connect(tmp_path / "tex.sqlite")
    assert stored.execute("SELECT count(*) FROM kept").fetchone() == (1,)
    stored.close()


def test_a_macro_of_one_formula_is_unknown_in_the_next(tmp_path: Path) -> None:
    defines = Formula(r"\gdef\mine{x}\mine")
    uses = Formula(r"\mine")
    with pytest.raises(TexError) as caught:
        render_all([defines, uses], tmp_path)
    assert [failure.formula for failure in caught.value.failures] == [uses]


def test_tex_that_never_ends_is_ended_and_named(tmp_path: Path) -> None:
    program = tmp_path / "endless.mjs"
    program.write_text(ENDLESS, "utf-8")
    formulas = [Formula("x"), Formula("endless"), Formula("y")]
    with pytest.raises(TexError) as caught:
        render_all(formulas, tmp_path, program=program, timeout=0.5)
    assert str(caught.value) == ("formula 'endless': endless.mjs: no answer within 0.5 s; ended")


def test_a_second_build_starts_no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = [Formula(rf"x_{{{index}}}^2") for index in range(1500)]
    first = render_all(formulas, tmp_path)
    monkeypatch.setattr("pipeline.node.node_executable", lambda: "/nonexistent/node")
    started = time.perf_counter()
    assert render_all(formulas, tmp_path) == first
    assert time.perf_counter() - started < 2


def test_a_change_of_the_options_is_not_answered_from_the_cache(tmp_path: Path) -> None:
    # The program in a copy of its folder, so that it finds KaTeX and its own helper.
    folder = PROGRAM.parent
    copy = folder / f"katex-{tmp_path.name}.mjs"
    copy.write_text(PROGRAM.read_text("utf-8").replace("htmlAndMathml", "mathml"), "utf-8")
    try:
        whole = render_all([FRACTION], tmp_path)[FRACTION]
        short = render_all([FRACTION], tmp_path, program=copy)[FRACTION]
    finally:
        copy.unlink()
    assert 'class="katex-html"' in whole
    assert 'class="katex-html"' not in short


@settings(max_examples=15, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=8))
def test_any_text_is_set_or_refused_by_name(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    cache = tmp_path_factory.mktemp("tex")
    refused: set[Formula] = set()
    done: dict[Formula, str] = {}
    for formula in map(Formula, texts):
        try:
            done |= render_all([formula], cache)
        except TexError as error:
            refused |= {failure.formula for failure in error.failures}
    assert refused | set(done) == set(map(Formula, texts))
    assert all(html.startswith("<span") for html in done.values())
