"""Checks: each guards something a reader trusts, so each is broken here and has to go red."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import Finding
from pipeline.model import Checked
from tests import wikis

EN = "content/alpha/en.md"
ZH = "content/alpha/zh-cn.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def broken(root: Path, file: str, old: str, new: str) -> list[str]:
    """Everything that is wrong after a change, except that translations now follow another text."""
    wikis.replace(root / file, old, new)
    found = wikis.checked(root).findings
    return [str(item) for item in found if item.what != "stale translation"]


def test_the_tiny_wiki_has_nothing_wrong(root: Path) -> None:
    assert wikis.messages(root) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            EN,
            "not 0.125.",
            "not 0.875.",
            [
                "content/alpha/en.md:16: typed number '0.875': a result is bound to a calculator "
                "or a record; an input or a constant is declared; bind it with a role, or add "
                '"0.875" to constants',
                "content/alpha/en.md:9: unused constant '0.125': constants are numbers of the "
                "text; remove it",
            ],
        ),
        (
            EN,
            "{#limits}\n## Limits",
            "{#range}\n## Limits",
            [
                "content/alpha/en.md:1: heading missing 'limits': content/alpha/zh-cn.md:37 has "
                "it; both languages hold the same: add it here or remove it there",
                "content/alpha/en.md:1: section missing 'limits': every chapter has the sections "
                "situation, limits, checklist, exercises, sources; add {#limits} and its heading",
                "content/alpha/zh-cn.md:1: heading missing 'range': content/alpha/en.md:36 has "
                "it; both languages hold the same: add it here or remove it there",
            ],
        ),
        (
            EN,
            "A trap with $x$.",
            "A trap with $y$.",
            [
                "content/alpha/en.md:1: formula missing 'x': content/alpha/zh-cn.md:40 has it; "
                "both languages hold the same: add it here or remove it there",
                "content/alpha/zh-cn.md:1: formula missing 'y': content/alpha/en.md:39 has it; "
                "both languages hold the same: add it here or remove it there",
            ],
        ),
        (
            ZH,
            "{calc}`two_replica_ledger.weights[1] .1f`",
            "0.8",
            [
                "content/alpha/zh-cn.md:1: bound number missing 'two_replica_ledger.weights[1] "
                ".1f': content/alpha/en.md:44 has it; both languages hold the same: add it here "
                "or remove it there",
            ],
        ),
        (
            ZH,
            ':inputs: {"counts": [1, 3]}',
            ':inputs: {"counts": [1, 4]}',
            [
                "content/alpha/en.md:1: calculator missing 'ledger two_replica_ledger "
                '{"counts": [1, 4]}\': content/alpha/zh-cn.md:19 has it; both languages hold '
                "the same: add it here or remove it there",
                "content/alpha/zh-cn.md:1: calculator missing 'ledger two_replica_ledger "
                '{"counts": [1, 3]}\': content/alpha/en.md:18 has it; both languages hold the '
                "same: add it here or remove it there",
            ],
        ),
        (
            ZH,
            "::::{exercise} ex-three\n为什么？\n:::{answer}\n因为如此。\n:::\n::::\n",
            "",
            [
                "content/alpha/zh-cn.md:1: exercise missing 'ex-three': content/alpha/en.md:85 "
                "has it; both languages hold the same: add it here or remove it there",
                "content/alpha/zh-cn.md:1: too few exercises '2': a chapter has 3 at least; add "
                "some",
            ],
        ),
        (
            ZH,
            ":::{figure} drawing.svg\n一个方框。\n:::\n",
            "",
            [
                "content/alpha/zh-cn.md:1: figure missing 'fig-drawing drawing.svg': "
                "content/alpha/en.md:31 has it; both languages hold the same: add it here or "
                "remove it there",
            ],
        ),
        (
            ZH,
            "见 {cite}`manual`。",
            "没有。",
            [
                "content/alpha/zh-cn.md:1: citation missing 'manual': content/alpha/en.md:95 has "
                "it; both languages hold the same: add it here or remove it there",
            ],
        ),
        (
            "content/beta/en.md",
            "A remark.",
            "A [remark](../alpha/#nowhere) and [more](../gamma/).",
            [
                "content/beta/en.md:35: link to nowhere '../alpha/#nowhere': "
                "en/alpha/index.html has no id nowhere; use one of the ids there are",
                "content/beta/en.md:35: link to nowhere '../gamma/': the site has no "
                "en/gamma/index.html; did you mean 'en/alpha/index.html'?",
            ],
        ),
    ],
)
def test_a_broken_page_goes_red(
    root: Path, file: str, old: str, new: str, expected: list[str]
) -> None:
    assert broken(root, file, old, new) == expected


def test_a_translation_of_an_older_text_is_listed(root: Path) -> None:
    wikis.replace(root / EN, "Change the counts.", "Change all counts.")
    (finding,) = wikis.checked(root).findings
    assert (finding.file, finding.line, finding.what, finding.level) == (
        ZH, 10, "stale translation", "warning",
    )  # fmt: skip


def test_words_in_formulas_may_differ_between_languages(root: Path) -> None:
    for file, word in ((EN, "mean"), (ZH, "均值")):
        wikis.replace(root / file, "L = \\frac{S}{N}", f"L_\\text{{{word}}} = S")
    found = wikis.checked(root).findings
    assert [item.what for item in found] == ["stale translation"]


def test_a_drawing_that_no_text_shows_is_named(root: Path) -> None:
    drawing = root / "content/alpha/drawing.svg"
    (root / "content/alpha/drawn.svg").write_text(drawing.read_text())
    assert wikis.messages(root) == [
        "content/alpha/drawn.svg:1: unused figure 'drawn.svg': a drawing is shown by its chapter; "
        "did you mean 'drawing.svg'?"
    ]


def test_a_record_that_no_chapter_shows_is_an_error_when_checked(root: Path) -> None:
    for language in ("en", "zh-cn"):
        path = root / f"content/alpha/{language}.md"
        lines = path.read_text().split("\n")
        at = lines.index(":::{record} tiny.gloo")
        text = "\n".join(lines[:at] + lines[at + 4 :])
        text = text.replace("{record}`tiny.gloo results.sum.total .1f`", "3")
        path.write_text(text.replace(":answer: record tiny.gloo results.sum.total\n", ""))
    found = [
        (item.what, item.level)
        for is_check in (False, True)
        for item in wikis.checked(root, is_check=is_check).findings
        if item.what.startswith("record")
    ]
    assert found == [("record without a chapter", "warning"), ("record without a chapter", "error")]


def test_a_calculator_that_no_chapter_shows_is_an_error_when_checked(root: Path) -> None:
    (root / "calculators").mkdir()
    levels = {
        item.level
        for item in wikis.checked(root, is_check=True).findings
        if item.what == "calculator without a chapter"
    }
    assert levels == {"error"}


def test_an_experiment_without_its_sentence_is_named(root: Path) -> None:
    (root / "content/experiments.toml").write_text("")
    assert wikis.messages(root) == [
        "content/experiments.toml:1: experiment without a sentence 'tiny': "
        "experiments/records/tiny.gloo.json is shown with one in every language; add an "
        "[[experiment]] with its id"
    ]


def test_findings_are_sorted_and_each_is_told_once(root: Path) -> None:
    wikis.replace(root / "content/beta/en.md", "A footnote", "A footnote {term}`x` {term}`x`")
    wikis.replace(root / EN, "{term}`ranks <rank>`", "{term}`ranks <rnak>`")
    found = errors(wikis.checked(root))
    assert [(item.file, item.value) for item in found] == [
        (EN, "rnak"),
        ("content/beta/en.md", "x"),
    ]


def errors(checked: Checked) -> list[Finding]:
    """The findings that stop a build."""
    return [item for item in checked.findings if item.level == "error"]


def test_nothing_stops_a_draft(root: Path) -> None:
    (root / ZH).unlink()
    wikis.replace(root / EN, "{term}`ranks <rank>`", "{term}`ranks <rnak>` 0.987")
    checked = wikis.checked(root, is_draft=True)
    assert errors(checked) == []
    assert {item.what for item in checked.findings} >= {
        "chapter without a text", "unknown term", "typed number",
    }  # fmt: skip


def test_an_annotation_lands_on_its_line() -> None:
    finding = Finding("a.md", 3, "typed number", "50%\n", "rule", "do", "warning")
    assert finding.as_github() == ("::warning file=a.md,line=3::typed number '50%25': rule; do")
