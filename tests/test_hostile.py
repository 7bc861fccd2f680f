"""Hostile content: each gives clear findings and an exit status, never a hang or a traceback."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from pipeline.model import Text
from pipeline.parse import document
from tests import wikis

LINE = re.compile(r"[\w./-]+:\d+: .+: .+; .+|\d+ errors, \d+ warnings")
BETA = "content/beta/en.md"
HEAD = "---\ntitle: T\nquestion: Q\n---\n"


def body(text: str) -> Callable[[Path], None]:
    """A break: the second chapter's English text becomes this."""

    def change(root: Path) -> None:
        (root / BETA).write_text(HEAD + text, "utf-8")

    return change


def raw(data: bytes) -> Callable[[Path], None]:
    """A break: the second chapter's English file becomes these bytes."""

    def change(root: Path) -> None:
        (root / BETA).write_bytes(data)

    return change


def said(file: str, old: str, new: str) -> Callable[[Path], None]:
    """A break: a file says something else."""

    def change(root: Path) -> None:
        wikis.replace(root / file, old, new)

    return change


def gone(file: str) -> Callable[[Path], None]:
    """A break: a file is not there."""

    def change(root: Path) -> None:
        (root / file).unlink()

    return change


def folder(root: Path) -> None:
    """A break: there is a folder where a text was."""
    (root / BETA).unlink()
    (root / BETA).mkdir()


NESTED = "\n".join(":" * (203 - n) + "{note}" for n in range(200))
ALIASES = "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ntitle: T\nquestion: Q\n---\n"
HOSTILE = {
    "broken utf-8": (raw(b"---\n\xff\xfe\n---\n"), "not UTF-8"),
    "ten megabytes": (raw(b"x" * 10_000_000), "file too large"),
    "empty": (raw(b""), "missing front matter"),
    "a folder": (folder, "cannot be read"),
    "ten thousand formulas": (body(" ".join(["$x$"] * 10_000)), "too many formulas"),
    "nested two hundred deep": (body(NESTED), "directives nested too deeply"),
    "aliases of aliases": (raw(ALIASES.encode()), "unknown field 'a'"),
    "a figure's path": (body(":::{figure} ../../../etc/passwd\n:::\n"), "not a figure's file"),
    "a script": (body("<script>alert(1)</script>\n"), "raw HTML '<script>'"),
    "a script's address": (body("[x](javascript:alert(1))\n"), "link not allowed"),
    "a slug twice": (said("content/summary.toml", '"alpha",', '"alpha", "alpha",'), "given twice"),
    "no translation": (gone("content/beta/zh-cn.md"), "chapter without a text"),
    "no glossary": (gone("content/glossary.toml"), "file cannot be read 'glossary.toml'"),
    "inputs without end": (
        body(":::{calculator} infonce\n:inputs: {'queries': " + "[" * 9_000 + "\n:::\n"),
        "option inputs is not a JSON object",
    ),
    "inputs too large": (
        body(f"{{calc}}`infonce(queries={[1] * 900}).loss`\n"),
        "infonce refuses its inputs",
    ),
    "a format too wide": (body("{calc}`infonce.loss 999999999d`\n"), "unknown number format"),
    "a formula that is none": (body("$\\frac{$\n"), "formula cannot be set"),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all of them: what one hostile text leaves there must not help another."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_told_in_one_line_each(
    name: str, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, expected = HOSTILE[name]
    root = wikis.copied(tmp_path)
    change(root)
    assert build.main(["--root", str(root), "--cache", str(cache), "--check"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if LINE.fullmatch(line) is None] == []
    assert sum(expected in line for line in lines) == 1


REPEATED = {
    "brackets": "[", "images": "![", "stars": "*a ", "dollars": "$a ", "braces": "{",
    "roles": "{calc}`", "colons": ":", "fences": ":::{note}\n", "links": "[a](", "tags": "<a ",
    "quotes": "> ", "lists": "- ", "pipes": "|-", "notes": "[^a]", "attributes": "`a`{#b",
    "backslashes": "\\", "digits": "1.", "headings": "{#a}\n## b\n",
}  # fmt: skip


@pytest.mark.parametrize("name", REPEATED)
def test_markup_without_end_takes_time_in_proportion(name: str) -> None:
    def seconds(times: int) -> float:
        started = time.process_time()
        document(Text("a.md", HEAD + REPEATED[name] * times), "a", "en")
        return time.process_time() - started

    assert seconds(8_000) < 8 * 4 * max(seconds(1_000), 0.02)
