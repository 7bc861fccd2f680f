"""Fill: the holes of a page become HTML. Small ones here, large ones by templates/parts/."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import singledispatchmethod
from html import escape
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from pipeline.holes import (
    CalculatorHole,
    CiteHole,
    ExerciseHole,
    FigureHole,
    FormulaHole,
    Hole,
    NoticeHole,
    PlotHole,
    RecordHole,
    TermHole,
    ValueHole,
)
from pipeline.model import BoundPage
from pipeline.page import MARK
from pipeline.tex import Formula
from pipeline.views import Bound, CalculatorView, CitationView, Reference, View
from pipeline.words import Words

_PARAGRAPH = re.compile(r"\A\s*<p>((?:(?!</?p>).)*)</p>\s*\Z", re.DOTALL)
JOINER = "\u2060"
CLOSING = ".,;:!?)]’”、，。；：！？）"
BASE = '<span class="katex-base">'
_ENDS = "</span></span>"
# Marks around a formula, for whoever wants to read it as its TeX; no page is published with them.
BEGIN, END = "\x02", "\x03"
_SET = re.compile(f"{BEGIN}[^{END}]*{END}")
_TEX = re.compile('<annotation encoding="application/x-tex">([^<]*)</annotation>')
UNBOUND = '<mark class="unbound">?</mark>'


def script_json(value: Any) -> Markup:
    """JSON that can stand in a script element."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return Markup(text.replace("<", "\\u003c"))


def set_in_type(html: str) -> str:
    """HTML as it is published: formulas without the marks around them."""
    return html.replace(BEGIN, "").replace(END, "")


def spelled(html: str) -> str:
    """HTML with its formulas as their TeX: a quarter of the length, and words to search for."""
    return _SET.sub(lambda found: " ".join(_TEX.findall(found.group())) or found.group(), html)


def single(html: str) -> Markup:
    """HTML without its paragraph, if it is one paragraph."""
    found = _PARAGRAPH.match(html)
    return Markup(found.group(1) if found else html)


def _joined(html: str, found: re.Match[str]) -> str:
    """A formula that no line's end parts from the bracket before it or the punctuation after it."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    start = JOINER if before and before in "([（" else ""
    if not after or after not in CLOSING:
        return start + html
    return f"{start}{kept(html)}{JOINER}"


def kept(html: str) -> str:
    """A formula's HTML with its last base held: a joiner alone does not hold an inline block."""
    head, base, tail = html.rpartition(BASE)
    if not base or not tail.endswith(_ENDS):
        return html
    return f'{head}<span class="kept">{base}{tail.removesuffix(_ENDS)}</span>{_ENDS}'


class Filler:
    """Fills the marks in a page's HTML; what a hole holds is filled first."""

    def __init__(
        self, page: BoundPage, formulas: Mapping[Formula, str], parts: Environment, words: Words
    ) -> None:
        self.page, self.formulas, self.parts, self.words = page, formulas, parts, words
        self.noted: set[str] = set()

    def fill(self, html: str) -> Markup:
        """`html` without marks."""
        return Markup(MARK.sub(self._marked, html))

    def _marked(self, found: re.Match[str]) -> str:
        number = int(found.group(1))
        hole = self.page.document.holes[number]
        html = self.hole(hole, self.page.views[number])
        if isinstance(hole, FormulaHole) and not hole.formula.display:
            return f"{BEGIN}{_joined(html, found)}{END}"
        return html

    def _side_note(self, view: CitationView) -> str:
        """The source in the margin, at its first citation on the page.

        It repeats the link's title for the eye only, so screen readers and the search pass it over.
        """
        source = view.source
        if source.id in self.noted:
            return ""
        self.noted.add(source.id)
        text = f"[{view.number}] <cite>{escape(source.title)}</cite>. {escape(source.authors)}"
        return f'<small class="sidenote" aria-hidden="true" data-pagefind-ignore>{text}</small>'

    def _part(self, name: str, /, **context: Any) -> str:
        template = self.parts.get_template(f"parts/{name}.html")
        return template.render(t=self.words, root="../../", **context)

    @singledispatchmethod
    def hole(self, _hole: Hole, view: View) -> str:
        """The HTML of a hole: here that of references, which all look alike."""
        if not isinstance(view, Reference):
            return UNBOUND
        return f'<a class="ref" href="{escape(view.href)}">{view.text}</a>'

    @hole.register
    def _(self, hole: FormulaHole, _: View) -> str:
        html = self.formulas.get(hole.formula, UNBOUND)
        if not hole.formula.display:
            return html
        shown = f"({hole.number})" if hole.number else "#"
        look = "equation-link" if hole.number else "equation-link anchor"
        label = escape(self.words("equation.link"))
        link = f'<a class="{look}" href="#{hole.anchor}" title="{label}">{shown}</a>'
        body = f'<div class="equation-body" tabindex="0">{BEGIN}{html}{END}</div>'
        return f'<div class="equation" id="{hole.anchor}">{body}{link}</div>\n'

    @hole.register
    def _(self, _hole: ValueHole, view: View) -> str:
        return bound(view) if isinstance(view, Bound) else UNBOUND

    @hole.register
    def _(self, _hole: TermHole, view: View) -> str:
        if not isinstance(view, Reference):
            return UNBOUND
        link = f'<a class="term" href="{escape(view.href)}">{view.text}</a>'
        return f'<wiki-term data-definition="{escape(view.title)}">{link}</wiki-term>'

    @hole.register
    def _(self, _hole: CiteHole, view: View) -> str:
        if not isinstance(view, CitationView):
            return UNBOUND
        source = view.source
        if not view.is_full:
            title = escape(f"{source.title} ({source.version})")
            link = f'<a class="cite" href="{view.href}" title="{title}">[{view.number}]</a>'
            return link + self._side_note(view)
        return (
            f'<cite><a href="{escape(source.address)}" rel="noopener external">'
            f"{escape(source.title)}</a></cite> "
            f'<a class="cite" href="{view.href}">[{view.number}]</a>'
        )

    @hole.register
    def _(self, hole: CalculatorHole, view: View) -> str:
        if not isinstance(view, CalculatorView):
            return UNBOUND
        return self._part(
            "calculator",
            id=hole.id,
            name=hole.name,
            number=hole.number,
            calculator=view,
            spec_json=script_json(view.spec),
            caption=single(self.fill(hole.caption)),
        )

    @hole.register
    def _(self, hole: RecordHole, view: View) -> str:
        if view is None:
            return UNBOUND
        return self._part(
            "record", id=hole.id, record=view, caption=single(self.fill(hole.caption))
        )

    @hole.register
    def _(self, hole: PlotHole, view: View) -> str:
        if view is None:
            return UNBOUND
        return self._part(
            "plot",
            id=hole.id,
            number=hole.number,
            plot=view,
            caption=single(self.fill(hole.caption)),
        )

    @hole.register
    def _(self, hole: FigureHole, view: View) -> str:
        if view is None:
            return UNBOUND
        return self._part(
            "figure",
            id=hole.id,
            number=hole.number,
            figure=view,
            caption=single(self.fill(hole.caption)),
        )

    @hole.register
    def _(self, hole: ExerciseHole, view: View) -> str:
        return self._part(
            "exercise",
            id=hole.id,
            number=hole.number,
            answer=view,
            tolerance=hole.tolerance,
            question=self.fill(hole.question),
            explanation=self.fill(hole.explanation),
        )

    @hole.register
    def _(self, hole: NoticeHole, _: View) -> str:
        return self._part("notice", kind=hole.kind, html=self.fill(hole.html))


def bound(view: Bound) -> str:
    """A bound number: what it shows, its raw value, where it comes from."""
    return (
        f'<data class="bound" value="{escape(view.raw)}" '
        f'data-source="{escape(view.source)}">{view.text}</data>'
    )
