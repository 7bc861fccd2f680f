"""Any text is a page with findings, or one clear error: never a traceback, never a hang."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline import expressions, roles
from pipeline.model import Text
from pipeline.page import Page
from pipeline.parse import document
from tests import wikis

HEAD = "---\ntitle: T\nquestion: Q\n---\n"
FINDING = re.compile(r"[^\n]+:\d+: [^\n]+: [^\n]*; [^\n]+")
LIMIT = 5.0  # seconds of one processor for a page of a few hundred characters

# What the grammar is made of, so that the pieces meet in ways that nobody has written.
PIECES = (
    "\n", "\n\n", " ", "a", "word", "词", "\t", "    ", "# ", "## ", "{#id}\n", "{#limits}\n", "- ",
    "1. ", "> ", "| a | b |\n|---|--:|\n", "| 1 |", "$", "$$", "\\frac{", "}", "{", "\\", "$x$",
    ":::", "::::", ":::{note}\n", ":::{math}\n", ":label: x\n", ":::{calculator} infonce\n",
    ":::{calculator} two_replica_ledger\n", ":inputs: {", '"counts": [1, 2]}\n', ":show: none\n",
    ":::{record} tiny.gloo\n", ":::{figure} drawing.svg\n", ":::{figure} ../x.svg\n",
    "::::{exercise} ex\n", ":answer: infonce.loss\n", ":tolerance: 1\n", ":::{answer}\n",
    ":::{check}\n", ":::{pitfall}\n", ":::{plot}\n", "{calc}`", "{record}`", "{term}`", "{cite}`",
    "{eq}`", "{chapter}`", "`", "``", "```\n", "```python\n", "infonce.loss", "tiny.gloo results",
    " .4f", "rank", "x <rank>", "manual", "alpha#limits", "[", "]", "(", ")", "[a](b)", "[^1]",
    "[^1]: ", "![a](b.png)", "<b>", "<script>", "&amp;", "*", "**", "_", "~", "1.2345", "1e9999",
    "-0.0", "%%%", "\u2028", "\ufeff", "\u202e", "\x00", "\x7f", "http://a.b", "javascript:x",
    "---\n", "constants: [", "...\n", "!!python/object:x", "&a", "*a",
)  # fmt: skip
MARKUP = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=40).map("".join)


def parsed(text: str) -> list[str]:
    """A page's findings as they are printed; it must not take long."""
    started = time.process_time()
    found = document(Text("content/x/en.md", text), "x", "en")
    assert time.process_time() - started < LIMIT
    assert len(re.findall("\x00\\d+\x00", found.body)) <= len(found.holes)
    return [str(item) for item in found.findings]


@settings(max_examples=250, deadline=None)
@given(MARKUP)
@example(":::{record} tiny.gloo\n\r0")
@example(":::{note}\n" * 50)
@example("$" * 301)
@example("> " * 200 + "a")
@example("{calc}`" + "(" * 3_000)
def test_any_markup_is_parsed_with_findings_in_their_form(text: str) -> None:
    assert [line for line in parsed(HEAD + text) if FINDING.fullmatch(line) is None] == []


@settings(max_examples=150, deadline=None)
@given(MARKUP)
@example("---\na: &a [*a]\n---\n")
@example("---\n? [a, b]\n: c\n---\n")
def test_any_front_matter_is_parsed_with_findings_in_their_form(text: str) -> None:
    for page in (text, f"---\n{text}\n---\n", f"---\ntitle: {text}\nquestion: {text}\n---\n"):
        assert [line for line in parsed(page) if FINDING.fullmatch(line) is None] == []


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*roles.ROLES, "other", ""]), st.one_of(MARKUP, st.text(max_size=60)))
def test_any_role_leaves_a_hole_or_its_text(name: str, content: str) -> None:
    page = Page("x.md", "x", "en", [])
    html = roles.render(page, name, content, 1)
    assert bool(page.findings) != bool(page.holes)
    assert "<" not in html
    assert [str(item) for item in page.findings if FINDING.fullmatch(str(item)) is None] == []


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["calc", "record"]), st.text(max_size=80))
def test_any_binding_is_one_or_says_why_not(source: str, text: str) -> None:
    parts: tuple[object, ...] = ()
    path: tuple[str | int, ...] = ()
    try:
        path = expressions.parse("calc" if source == "calc" else "record", text).path
    except expressions.ExpressionError as error:
        parts = error.parts
    assert bool(path) != bool(parts)
    assert [part for part in parts if not isinstance(part, str)] == []


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny wiki; its second chapter is whatever the test makes of it."""
    return wikis.copied(tmp_path_factory.mktemp("fuzz"))


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(MARKUP)
def test_any_chapter_goes_through_every_step(root: Path, text: str) -> None:
    """Bound, rendered and checked, formulas and plots aside, which other tests set and draw."""
    (root / "content/beta/en.md").write_text(HEAD + text, "utf-8", newline="")
    checked = wikis.checked(root, is_draft=True)
    lines = [str(item) for item in checked.findings]
    assert [line for line in lines if FINDING.fullmatch(line) is None] == []
    html = checked.rendered.pages.get(
        "en/beta/index.html", b""
    ).decode()  # none for a file that is no text
    assert "\x00" not in html
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", html)
    assert "javascript:" not in re.sub(r">[^<]*<", "><", html)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_page_or_one_error(root: Path, data: bytes) -> None:
    (root / "content/beta/en.md").write_bytes(data)
    book = wikis.loaded(root)
    found = [item for item in book.findings if item.file == "content/beta/en.md"]
    if "en" not in book.chapters["beta"].texts:
        assert len(found) == 1
    else:
        parsed(book.chapters["beta"].texts["en"].text)


def test_a_script_in_a_string_file_is_text(tmp_path: Path) -> None:
    root = wikis.copied(tmp_path)
    path = root / "content/glossary.toml"
    script = "<script>alert(1)</script>"
    path.write_text(path.read_text("utf-8").replace("One process", script), "utf-8")
    path = root / "content/locales.toml"
    path.write_text(path.read_text("utf-8").replace('title = "', f'title = "{script}', 1), "utf-8")
    checked = wikis.checked(root)
    assert [item for item in checked.findings if item.level == "error"] == []
    assert not any(script.encode() in html for html in checked.rendered.pages.values())
    assert any(b"&lt;script&gt;" in html for html in checked.rendered.pages.values())
