"""Filling: a formula stays on the line of the punctuation that follows it."""

from __future__ import annotations

from pathlib import Path

from pipeline.fill import BASE, kept
from pipeline.tex import Formula, render_all


def test_the_last_base_of_a_formula_is_held_and_nothing_else_changes(tmp_path: Path) -> None:
    formula = Formula("a + b = c")
    html = render_all([formula], tmp_path)[formula]
    assert html.count(BASE) == 3
    held = kept(html)
    assert held.count('<span class="kept">') == 1
    last = held.partition('<span class="kept">')[2]
    assert last.startswith(BASE)
    assert last.count(BASE) == 1
    assert last.endswith("</span></span></span></span>")
    assert held.replace('<span class="kept">', "").count("</span>") == html.count("</span>") + 1


def test_html_that_is_no_formula_is_left_alone() -> None:
    assert kept("<b>1/N</b>") == "<b>1/N</b>"
    assert kept(f"{BASE}1/N</span> and more") == f"{BASE}1/N</span> and more"
