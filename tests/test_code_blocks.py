"""The Python blocks of the chapters parse, and every language shows the same code.

A block fenced as ```python is whole code. A deliberate fragment takes another fence (```text), so
there is no marker that could hide a broken one. Comments may be translated, and so may strings: a
string differs from the English one only where it says something in Chinese.
"""

from __future__ import annotations

import ast
import re
from itertools import zip_longest
from pathlib import Path

import pytest

from tests import wikis

CONTENT = wikis.PROJECT / "content"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHINESE = re.compile(r"[\u3000-\u9fff]")


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the line that its code begins on."""
    text = page.read_text("utf-8")
    return [(text[: m.start(1)].count("\n") + 1, m[1]) for m in BLOCK.finditer(text)]


def parsed(page: Path, found: list[str]) -> list[ast.Module | None]:
    """The trees of a page's blocks, None for one that does not parse; `found` says which."""
    trees: list[ast.Module | None] = []
    for line, code in blocks(page):
        try:
            trees.append(ast.parse(code))
        except SyntaxError as error:
            place = f"{page.parent.name}/{page.name}:{line + (error.lineno or 1) - 1}"
            found.append(f"{place}: {error.msg}; fence a fragment as ```text")
            trees.append(None)
    return trees


def problems(content: Path) -> list[str]:
    """What is wrong with the blocks of all chapters, one line each."""
    found: list[str] = []
    for english in sorted(content.glob("*/en.md")):
        trees = parsed(english, found)
        for page in sorted(english.parent.glob("*.md")):
            if page == english:
                continue
            others = parsed(page, found)
            for i, (tree, other) in enumerate(zip_longest(trees, others), 1):
                if not same(tree, other):
                    found.append(f"{english.parent.name}/{page.name}: block {i} is not the English")
    return found


def same(a: object, b: object) -> bool:
    """Whether two trees are one program, strings in Chinese apart."""
    if isinstance(a, ast.JoinedStr) and isinstance(b, ast.JoinedStr):
        return said(literal(a), literal(b)) and values(a) == values(b)
    if isinstance(a, ast.AST) and isinstance(b, ast.AST):
        return type(a) is type(b) and all(same(getattr(a, f), getattr(b, f)) for f in a._fields)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, str) and isinstance(b, str):
        return said(a, b)
    return a == b


def said(english: str, other: str) -> bool:
    """Whether `other` is the string itself or a translation of it."""
    return english == other or CHINESE.search(other) is not None


def literal(node: ast.JoinedStr) -> str:
    """The fixed parts of an f-string."""
    return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))


def values(node: ast.JoinedStr) -> list[str]:
    """The expressions in an f-string, in any order: word order differs between languages."""
    return sorted(ast.dump(part) for part in node.values if isinstance(part, ast.FormattedValue))


def test_the_blocks_are_found() -> None:
    assert sum(len(blocks(page)) for page in CONTENT.glob("*/en.md")) >= 10


def test_every_block_parses_and_is_the_same_in_every_language() -> None:
    assert problems(CONTENT) == []


ENGLISH = """```python
def probe(flag, done):
    all_reduce(flag, op=ReduceOp.MAX, kind="sum")  # agree
    return f"{flag} after {done}"
```
"""
CHINESE_PAGE = """```python
def probe(flag, done):
    all_reduce(flag, op=ReduceOp.MAX, kind="sum")  # 达成一致
    return f"{done} 之后 {flag}"
```
"""
BREAKAGES = [
    ("en.md", "probe(flag, done):", "probe(flag, done)", "probe/en.md:2: expected ':'"),
    ("zh-cn.md", "ReduceOp.MAX", "ReduceOp.SUM", "block 1 is not the English"),
    ("zh-cn.md", '"sum"', '"mean"', "block 1 is not the English"),
    ("zh-cn.md", "{done}", "{flag}", "block 1 is not the English"),
    ("zh-cn.md", "```python", "```text", "block 1 is not the English"),
]


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    """A chapter in two languages whose blocks are in order."""
    folder = tmp_path / "probe"
    folder.mkdir()
    (folder / "en.md").write_text(ENGLISH, "utf-8")
    (folder / "zh-cn.md").write_text(CHINESE_PAGE, "utf-8")
    return folder


def test_a_translated_comment_and_string_pass(chapter: Path) -> None:
    assert problems(chapter.parent) == []


@pytest.mark.parametrize(("page", "old", "new", "said_of_it"), BREAKAGES)
def test_a_broken_block_is_named(
    chapter: Path, page: str, old: str, new: str, said_of_it: str
) -> None:
    wikis.replace(chapter / page, old, new)
    assert any(said_of_it in line for line in problems(chapter.parent))
