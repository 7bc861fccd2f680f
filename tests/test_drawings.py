"""Drawings: one file with both languages gives the drawing of one, and only shapes and words."""

from __future__ import annotations

import pytest

from pipeline.drawings import DrawingError, draw
from tests import wikis

SOURCE = (wikis.WIKI / "content/alpha/drawing.svg").read_text("utf-8")


def test_a_drawing_is_one_language_with_its_own_ids() -> None:
    view = draw(SOURCE, ("en", "zh-cn"), "en", "fig-drawing")
    assert (view.title, view.description) == ("A box", "One box with a word in it.")
    assert "词" not in view.svg
    assert 'id="fig-drawing-tip"' in view.svg
    assert "url(#fig-drawing-tip)" in view.svg
    assert 'aria-labelledby="fig-drawing-title"' in view.svg


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("<rect ", "<script>alert(1)</script><rect ", "element not allowed in a drawing"),
        ("<rect ", '<rect onclick="x()" ', "attribute not allowed in a drawing"),
        ("<rect ", '<rect style="fill:red" ', "attribute not allowed in a drawing"),
        ('stroke="currentColor"', 'stroke="#ff0000"', "colour in a drawing"),
        ('class="correct"', 'class="korrect"', "unknown class in a drawing"),
        ("<rect ", '<use href="https://example.org/x.svg#a"/><rect ', "outside reference"),
        (' viewBox="0 0 100 40"', "", "drawing is not an SVG with a viewBox"),
        (' viewBox="0 0 100 40"', ' viewBox="0 0 1 1" width="9"', "drawing with a size"),
        ('<desc lang="zh-cn">一个写着词的方框。</desc>', "", "drawing without <desc>"),
        ("</svg>", "", "drawing is not XML"),
        ("<svg ", '<!DOCTYPE svg [<!ENTITY a "aa">]><svg ', "drawing with a document type"),
    ],
)
def test_a_drawing_that_is_not_safe_or_not_whole_is_refused(old: str, new: str, what: str) -> None:
    assert old in SOURCE
    with pytest.raises(DrawingError) as caught:
        draw(SOURCE.replace(old, new, 1), ("en", "zh-cn"), "en", "f")
    assert caught.value.parts[0].startswith(what)
