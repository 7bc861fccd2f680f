"""The search index: what is indexed of a page, and Pagefind's service beside the build."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipeline import fill, search
from pipeline.errors import BuildError
from pipeline.model import Language
from tests import wikis

ENGLISH = Language("en", "English", "en", "Title", "Question")
CHINESE = Language("zh-cn", "简体中文", "zh-CN", "标题", "问题")
PAGE = (
    '<!doctype html><html lang="{language}"><head><title>x</title></head><body><nav>chapters</nav>'
    '<main class="page" id="text" data-pagefind-body><h1>{title}</h1><p>{text}</p></main></body>'
)


def page(number: int, language: str = "en") -> str:
    """A page with words of its own."""
    html = PAGE.format(language=language, title=f"Page {number}", text=f"word{number} 词元 shared")
    return search.text_of(html)


def indexed(texts: dict[str, str]) -> dict[str, bytes]:
    """The index of these pages."""
    indexer = search.Indexer()
    try:
        indexer.warm([ENGLISH, CHINESE])
        for path, text in texts.items():
            indexer.add(path, text)
        return indexer.files()
    finally:
        indexer.close()


def fragments(files: dict[str, bytes]) -> list[dict[str, str]]:
    """What the index says of each page."""
    found = [gzip.decompress(data) for path, data in files.items() if path.startswith("fragment/")]
    return [json.loads(data.removeprefix(b"pagefind_dcd")) for data in found]


def test_only_the_main_part_of_a_page_is_indexed() -> None:
    html = PAGE.format(language="en", title="Title", text="words")
    assert search.text_of(html) == (
        '<html lang="en"><body><main class="page" id="text" data-pagefind-body><h1>Title</h1>'
        "<p>words</p></main></body></html>"
    )
    assert search.text_of(html.replace(" data-pagefind-body", "")) == ""
    assert search.text_of("<html lang='en'><p>no main part</p>") == ""


def test_every_page_and_language_is_in_the_index_and_nothing_else() -> None:
    paths = {f"{name}/chapter-{n}/index.html": (n, name) for n in (1, 2) for name in ("en", "zh")}
    files = indexed({path: page(*place) for path, place in paths.items()})
    assert sorted(item["url"] for item in fragments(files)) == [
        "/en/chapter-1/", "/en/chapter-2/", "/zh/chapter-1/", "/zh/chapter-2/",
    ]  # fmt: skip
    entry = json.loads(files[search.ENTRY])
    assert {name: item["page_count"] for name, item in entry["languages"].items()} == {
        "en": 2, "zh": 2,
    }  # fmt: skip
    assert not any("ui" in Path(path).stem.split("-") for path in files)


def test_equal_pages_make_equal_files() -> None:
    texts = {f"en/chapter-{number}/index.html": page(number) for number in range(30)}
    texts |= {f"zh/chapter-{number}/index.html": page(number, "zh-CN") for number in range(30)}
    first = indexed(texts)
    assert all(indexed(texts) == first for _ in range(3))


def test_no_pages_make_no_index() -> None:
    assert indexed({}) == {}
    assert indexed({"404.html": ""}) == {}


def test_pagefind_that_ends_early_is_one_finding() -> None:
    indexer = search.Indexer()
    indexer.add("en/index.html", page(1))
    indexer._process.kill()
    with pytest.raises(BuildError) as caught:
        indexer.files()
    indexer.close()
    assert str(caught.value) == (
        "site:1: search index 'Pagefind has ended early': every page can be searched for; run "
        "`make site`"
    )


def test_pagefind_is_ended_with_a_build_that_fails(tmp_path: Path) -> None:
    options = wikis.options(wikis.copied(tmp_path))
    started: list[search.Indexer | search.Idle] = []

    def fail() -> None:
        with search.indexer(options) as indexer:
            started.append(indexer)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    (indexer,) = started
    assert isinstance(indexer, search.Indexer)
    assert indexer._process.poll() is not None


def test_a_site_that_is_only_looked_at_is_not_indexed(tmp_path: Path) -> None:
    options = wikis.options(wikis.copied(tmp_path), is_check=True)
    with search.indexer(options) as indexer:
        assert isinstance(indexer, search.Idle)


def test_a_formula_is_indexed_as_its_tex() -> None:
    formula = (
        '<span class="katex"><math><mi>L</mi><annotation encoding="application/x-tex">L_{2}'
        '</annotation></math><span class="katex-html">L2</span></span>'
    )
    marked = f"<p>a {fill.BEGIN}{formula}{fill.END} b</p>"
    assert fill.spelled(marked) == "<p>a L_{2} b</p>"
    assert fill.set_in_type(marked) == f"<p>a {formula} b</p>"
