"""Checks: each guards something a reader trusts, so each is broken here and has to go red."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from calculators import contract
from pipeline.errors import BuildError, Finding
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


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("content/glossary.toml", "not TOML"),
        ("content/sources.toml", "not TOML"),
        ("content/sources.toml", "file cannot be read"),
    ],
)
def test_what_follows_from_a_file_that_cannot_be_read_is_not_told(
    file: str, what: str, root: Path
) -> None:
    path = root / file
    if what == "not TOML":
        path.write_text(path.read_text("utf-8") + 'x = "', "utf-8")
    else:
        path.unlink()
    assert [(item.file, item.what) for item in errors(wikis.checked(root))] == [(file, what)]


def test_a_summary_that_cannot_be_read_is_all_that_is_told(root: Path) -> None:
    path = root / "content/summary.toml"
    path.write_text(path.read_text("utf-8") + 'x = "', "utf-8")
    with pytest.raises(BuildError) as caught:
        wikis.checked(root)
    assert [item.what for item in caught.value.findings] == ["not TOML"]


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


def test_one_broken_calculator_is_told_once_with_its_places(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("boo")

    monkeypatch.setattr(contract, "evaluate", broken)
    found = [item for item in errors(wikis.checked(root)) if item.what.endswith("fails")]
    (finding,) = found
    assert finding.what == "two_replica_ledger fails"
    assert finding.file.endswith("tests/test_check.py")
    line = Path(__file__).read_text("utf-8").split("\n")[finding.line - 1]
    assert line.strip() == 'raise RuntimeError("boo")'
    assert re.search(
        r"\(\d\d? places fail with it, the first at content/alpha/en\.md:7\)", finding.rule
    )


def test_a_lost_name_that_many_places_use_is_told_once(root: Path) -> None:
    wikis.replace(root / "content/beta/en.md", "A remark.", "A {term}`x` {cite}`y`.")
    for file in (EN, ZH):
        path = root / file
        path.write_text(path.read_text("utf-8") + "\n{term}`x`\n\n{term}`x`\n", "utf-8")
    found = [str(item) for item in errors(wikis.checked(root))]
    assert found == [
        "content/alpha/en.md:97: unknown term 'x': terms are in content/glossary.toml "
        "(5 places name it); use one of the terms there are",
        "content/beta/en.md:35: unknown source 'y': sources are in content/sources.toml; use one "
        "of the sources there are",
    ]


HEADS = {
    "no fence": ("---\ntitle: Alpha", "title: Alpha", 1, "missing front matter"),
    "no end": ("\n---\n", "\n", 1, "missing front matter"),
    "no YAML": ("title: ", 'title: "', 7, "front matter is not YAML"),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_page_without_its_head_is_all_that_is_told(name: str, root: Path) -> None:
    old, new, line, what = HEADS[name]
    path = root / EN
    text = path.read_text("utf-8")
    path.write_text(text.replace(old, new, 1), "utf-8")
    (found,) = errors(wikis.checked(root))
    assert (found.file, found.line, found.what) == (EN, line, what)


LEFT = {
    "a role's braces": (
        "A term`rank`", "role without its braces 'term`rank`': a role is "
        "{name}`content`; write {term}`rank`",
    ),
    "a day": (
        "2026-02-30", "not a day of the calendar '2026-02-30': a day is written as in "
        "2026-11-29; correct it",
    ),
    "a footnote": (
        "so[^zz]", "footnote that is not there '[^zz]': a footnote is told as [^name]: and "
        "its text; correct its name, or write it",
    ),
    "a footnote's mark": (
        "[^zz]: Text.", "footnote without a mark '[^zz]:': a footnote is shown where its mark "
        "stands; write [^zz] in the text, or remove it",
    ),
    "a directive's colons": (
        "::{figure} drawing.svg", "directive without its colons '::{figure} drawing.svg': a "
        "directive begins with :::{name}; begin the line with three colons",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_markup_that_is_not_quite_one_is_told(name: str, root: Path) -> None:
    new, expected = LEFT[name]
    path = root / "content/beta/en.md"
    before = path.read_text("utf-8").rstrip("\n")
    path.write_text(f"{before}\n\n{new}\n", "utf-8")
    found = [str(item) for item in errors(wikis.checked(root))]
    assert len(found) == 1
    assert found[0].endswith(expected)
    assert int(found[0].split(":")[1]) == before.count("\n") + 3


def test_a_number_without_what_it_is_the_size_of_is_told(root: Path) -> None:
    path = root / EN
    lines = path.read_text("utf-8").split("\n")
    at = next(at for at, line in enumerate(lines, 1) if line.startswith("mistake_label:"))
    path.write_text("\n".join(lines[: at - 1] + lines[at:]), "utf-8")
    (found,) = errors(wikis.checked(root))
    assert (found.what, found.value) == ("front matter lacks a field", "mistake_label")
    assert lines[found.line - 1].startswith("mistake:")


def test_a_drawing_that_says_less_in_a_language_is_told(root: Path) -> None:
    path = root / "content/alpha/drawing.svg"
    path.write_text(
        path.read_text("utf-8").replace('<text lang="zh-cn"', '<text lang="zh-tw"', 1), "utf-8"
    )
    assert "drawing not translated" in [item.what for item in errors(wikis.checked(root))]


def test_files_and_folders_that_nothing_reads_are_told(root: Path) -> None:
    (root / "content/glosary.toml").write_text("")
    (root / "content/gamma").mkdir()
    (root / "content/gamma/EN.txt").write_text("")
    assert [(item.file, item.what, item.value) for item in errors(wikis.checked(root))] == [
        ("content/glosary.toml", "file that nothing reads", "glosary.toml"),
        ("content/summary.toml", "chapter in no part", "gamma"),
    ]


def test_what_is_wrong_with_a_text_itself_is_not_told_of_the_other_language(root: Path) -> None:
    wikis.replace(root / ZH, "{record}`tiny.gloo results.sum.total .1f`", "{record}`tiny.gloo r.x`")
    assert [item.what for item in errors(wikis.checked(root))] == ["no such key"]
