"""Parsing: Markdown to HTML with holes, every error with its line, nothing but the text decides."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pipeline.model import Document, Text
from pipeline.parse import MAX_FORMULAS, document, parse
from pipeline.tex import Failure, Formula, TexError
from tests import wikis

FOLDER = Path(__file__).parent / "directives"
FIXTURES = sorted(FOLDER.glob("*.md"))
CASE = re.compile(r"(?P<title>[^\n]+)\n\.\n(?P<given>.*?)\n\.\n(?P<expected>.*?)\.\n", re.DOTALL)
HEAD = "---\ntitle: T\nquestion: Q\n---\n"
UPDATE = os.environ.get("UPDATE_FIXTURES") == "1" and not os.environ.get("CI")


def parsed(body: str, head: str = HEAD) -> Document:
    """A page with this body; lines count from the first line of the head."""
    return document(Text("content/a/en.md", head + body), "a", "en")


def shown(page: Document) -> str:
    """A parsed page as the fixtures write it: HTML, holes, findings."""
    lines = [re.sub("\x00(\\d+)\x00", r"[\1]", page.body).strip()]
    lines += [f"[{n}] {hole!r}".replace("\x00", "|") for n, hole in enumerate(page.holes)]
    lines += [str(item) for item in page.findings]
    return "\n".join(line for line in lines if line) + "\n"


def cases(path: Path) -> list[tuple[str, str, str]]:
    """(title, given, expected) of a fixture file."""
    found = [(m["title"], m["given"], m["expected"]) for m in CASE.finditer(path.read_text())]
    assert found, f"{path.name} holds no case"
    return found


ALL = [(path, *case) for path in FIXTURES for case in cases(path)]


@pytest.mark.parametrize(
    ("path", "title", "given", "expected"), ALL, ids=[f"{p.stem}: {t}" for p, t, _, _ in ALL]
)
def test_fixture(path: Path, title: str, given: str, expected: str) -> None:
    found = shown(parsed(given + "\n", HEAD))
    if UPDATE:
        before = f"{title}\n.\n{given}\n.\n{expected}.\n"
        path.write_text(path.read_text().replace(before, f"{title}\n.\n{given}\n.\n{found}.\n"))
    else:
        assert found == expected


def test_every_directive_has_a_fixture_file() -> None:
    modules = {p.stem for p in (wikis.PROJECT / "site/pipeline/directives").glob("[a-z]*.py")}
    assert modules - {"base"} <= {path.stem for path in FIXTURES}


def findings(text: str) -> list[str]:
    """What is wrong with a whole page."""
    return [str(item) for item in document(Text("content/a/en.md", text), "a", "en").findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "No head\n",
            "content/a/en.md:1: missing front matter 'No head': a page begins with a line '---', "
            "its fields and another '---'; add title and question there",
        ),
        (
            "---\ntitle: T\n---\n",
            "content/a/en.md:1: front matter lacks a field 'question': every page has title and "
            "question; add question: …",
        ),
        (
            "---\ntitle: T\nquestion: a: b\n---\n",
            "content/a/en.md:3: front matter is not YAML 'question: a: b': mapping values are not "
            "allowed in this context; put a value that holds ': ', quotes or backticks in quotes",
        ),
        (
            "---\ntitle: T\nquestion: Q\nqestion: Q\n---\n",
            "content/a/en.md:4: unknown field 'qestion': the fields are title, question, checks, "
            "mistake, mistake_label, constants, follows; did you mean 'question'?",
        ),
        (
            "---\ntitle: T\nquestion: Q\ntitle: U\n---\n",
            "content/a/en.md:4: field given twice 'title': a field is given once, and "
            "line 2 gives it; remove one of "
            "the two",
        ),
        (
            "---\ntitle: T\nquestion: Q\nchecks: one\n---\n",
            "content/a/en.md:4: field is not a list of texts 'checks': this field is a list; "
            'write checks: ["…", "…"]',
        ),
        (
            "---\ntitle: [T]\nquestion: Q\n---\n",
            "content/a/en.md:2: field is not a text 'title': this field is one text; write "
            "title: …",
        ),
        (
            "---\n- T\n---\n",
            "content/a/en.md:2: front matter is not a list of fields '- T': each line is "
            "'key: value'; write title: …",
        ),
        (
            f"---\ntitle: {'x' * 30_000}\n---\n",
            "content/a/en.md:1: front matter too long '30008 characters': at most 20000; move "
            "text into the page",
        ),
    ],
)
def test_front_matter_that_is_wrong_is_named_with_its_line(text: str, expected: str) -> None:
    assert findings(text)[0] == expected


def test_front_matter_values_are_taken_as_typed() -> None:
    page = parsed("", "---\ntitle: 12\nquestion: yes\nfollows: 12e456789012\n---\n")
    assert (page.meta.title, page.meta.question, page.meta.follows) == ("12", "yes", "12e456789012")


def test_roles_of_the_front_matter_are_located() -> None:
    head = "---\ntitle: T\nquestion: Q\nchecks:\n  - one\n  - {bad}`x`\n---\n".replace(
        "{bad}`x`", '"{bad}`x`"'
    )
    assert [(f.line, f.what) for f in parsed("", head).findings] == [(6, "unknown role")]


def test_the_same_text_parses_to_the_same_page() -> None:
    text = (wikis.WIKI / "content/alpha/en.md").read_text("utf-8")
    first, second = (document(Text("a.md", text), "alpha", "en") for _ in range(2))
    assert first == second


def test_parsing_takes_the_formula_renderer_and_asks_once(tmp_path: Path) -> None:
    asked: list[list[Formula]] = []

    def render(wanted: object) -> dict[Formula, str]:
        asked.append(list(wanted))  # type: ignore[call-overload]
        return dict.fromkeys(asked[-1], "<math></math>")

    result = parse(wikis.loaded(wikis.copied(tmp_path)), render)
    assert len(asked) == 1
    assert len(set(asked[0])) == len(asked[0])
    assert set(result.formulas) == set(asked[0])


def test_a_formula_that_cannot_be_set_is_located_and_the_others_are_set(tmp_path: Path) -> None:
    root = wikis.copied(tmp_path)
    wikis.replace(root / "content/beta/en.md", "a = b", "\\badmacro")

    def render(wanted: object) -> dict[Formula, str]:
        asked: list[Formula] = list(wanted)  # type: ignore[call-overload]
        failures = tuple(Failure(f, "Undefined control sequence") for f in asked if "bad" in f.tex)
        if failures:
            raise TexError(failures)
        return dict.fromkeys(asked, "set")

    result = parse(wikis.loaded(root), render)
    assert [str(item) for item in result.findings] == [
        "content/beta/en.md:23: formula cannot be set '\\\\badmacro': Undefined control sequence; "
        "correct the TeX"
    ]
    assert Formula("b = 2", True) in result.formulas


def test_directives_nested_two_hundred_deep_give_one_error() -> None:
    opening = "\n".join(":" * (203 - n) + "{note}" for n in range(200))
    closing = "\n".join(":" * (4 + n) for n in range(200))
    assert findings(f"{HEAD}{opening}\nDeep.\n{closing}\n") == [
        f"content/a/en.md:11: directives nested too deeply '{':' * 39} … {':' * 33}{{note}}': at "
        "most 6 levels; take some apart"
    ]


def test_quotes_nested_two_hundred_deep_give_one_error() -> None:
    assert findings(f"{HEAD}{'>' * 200} deep\n") == [
        "content/a/en.md:5: text nested too deeply '59 levels': at most 60 levels; take some apart"
    ]


def test_ten_thousand_formulas_give_one_error() -> None:
    body = "\n\n".join(f"$x_{{{n}}}$" for n in range(10_000))
    assert findings(HEAD + body) == [
        "content/a/en.md:4005: too many formulas '10000': a page has at most "
        f"{MAX_FORMULAS}; split the chapter"
    ]


def test_json_nested_without_end_gives_one_error() -> None:
    body = ":::{calculator} infonce\n:inputs: " + "[" * 15_000 + "\n:::\n"
    assert [item.split(" '")[0] for item in findings(HEAD + body)] == [
        "content/a/en.md:5: option inputs is not a JSON object"
    ]


def test_a_damaged_cache_is_passed_over(tmp_path: Path) -> None:
    root = wikis.copied(tmp_path)
    first = wikis.parsed(root)
    for path in (root / ".cache").glob("documents.sqlite"):
        path.write_bytes(b"not a database")
    assert wikis.parsed(root).documents == first.documents
