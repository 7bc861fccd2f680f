"""Loading: hostile files give one clear finding each; nothing is left out in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import BuildError
from tests import wikis


def found(root: Path) -> list[str]:
    """What is wrong with a wiki as it is loaded."""
    return [str(item) for item in wikis.loaded(root).findings]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def test_the_tiny_wiki_loads_without_findings(root: Path) -> None:
    book = wikis.loaded(root)
    assert book.findings == ()
    assert list(book.chapters) == ["alpha", "beta", "records", "glossary", "sources", "about"]
    assert list(book.records) == ["tiny.gloo"]
    assert [language.id for language in book.languages] == ["en", "zh-cn"]


def test_broken_utf8_is_one_finding_with_its_line(root: Path) -> None:
    (root / "content/beta/en.md").write_bytes(b"---\ntitle: T\n---\n\xff\n")
    assert found(root) == [
        "content/beta/en.md:4: not UTF-8 'byte 0xff': content is UTF-8 text; save the file as UTF-8"
    ]


def test_a_ten_megabyte_chapter_is_one_finding(root: Path) -> None:
    (root / "content/beta/en.md").write_bytes(b"x" * 10_000_000)
    assert found(root) == [
        "content/beta/en.md:1: file too large '10000000 bytes': at most 1000000 bytes; split it"
    ]


def test_a_nul_is_one_finding(root: Path) -> None:
    (root / "content/beta/en.md").write_bytes(b"---\ntitle: T\n---\n\na\0b\n")
    assert found(root) == [
        "content/beta/en.md:5: control character 'NUL': content is text; remove it"
    ]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(root: Path) -> None:
    path = root / "content/beta/en.md"
    before = wikis.loaded(root).chapters["beta"].texts["en"]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert wikis.loaded(root).chapters["beta"].texts["en"] == before


def test_a_missing_translation_is_named(root: Path) -> None:
    (root / "content/beta/zh-cn.md").unlink()
    assert found(root) == [
        "content/beta/zh-cn.md:1: chapter without a text 'beta in zh-cn': every page exists in "
        "every language; write it"
    ]


def test_a_draft_warns_of_a_missing_translation(root: Path) -> None:
    (root / "content/beta/zh-cn.md").unlink()
    findings = wikis.loaded(root, is_draft=True).findings
    assert [(item.what, item.level) for item in findings] == [("chapter without a text", "warning")]


def test_a_slug_given_twice_is_named_with_its_line(root: Path) -> None:
    wikis.replace(root / "content/summary.toml", '"alpha", "beta"', '"alpha", "beta", "alpha"')
    assert found(root) == [
        "content/summary.toml:5: chapter given twice 'alpha': a chapter stands once in the "
        "summary, and part 'first' has it already; remove one of the two"
    ]


def test_a_slug_that_is_a_path_is_refused(root: Path) -> None:
    wikis.replace(root / "content/summary.toml", '"beta"', '"beta", "../../etc"')
    assert found(root) == [
        "content/summary.toml:5: not a chapter's name '../../etc': a slug is lower-case letters, "
        "digits and hyphens; rename it"
    ]


def test_a_chapter_that_no_part_lists_is_named(root: Path) -> None:
    wikis.replace(root / "content/summary.toml", '"alpha", "beta"', '"alpha"')
    assert found(root) == [
        "content/summary.toml:1: chapter in no part 'beta': every folder with a text stands in "
        "the summary; add it to a part or remove the folder"
    ]


def test_a_file_that_nothing_reads_is_named(root: Path) -> None:
    (root / "content/beta/notes.txt").write_text("x")
    assert found(root) == [
        "content/beta/notes.txt:1: file that nothing reads 'notes.txt': a chapter's folder holds "
        "its texts and its drawings; remove it"
    ]


def test_a_link_out_of_the_project_is_refused(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("---\ntitle: T\nquestion: Q\n---\n")
    path = root / "content/beta/en.md"
    path.unlink()
    path.symlink_to(secret)
    assert found(root) == [
        "content/beta/en.md:1: file outside the project 'en.md': content lies in the project; "
        "replace the link by the file"
    ]


def test_toml_that_is_none_is_located(root: Path) -> None:
    (root / "content/glossary.toml").write_text('[[term]]\nid = "rank"\nen = \n')
    assert found(root) == [
        "content/glossary.toml:3: not TOML 'en =': Invalid value (at line 3, "
        "column 6); correct that line"
    ]


def test_a_term_without_a_translation_is_located(root: Path) -> None:
    wikis.replace(root / "content/glossary.toml", "\nzh-cn = ", "\nde = ")
    assert found(root) == [
        "content/glossary.toml:4: term 'rank' has an unknown key 'de': the keys are id, en, zh-cn, "
        "definition, aliases; correct or remove it",
        "content/glossary.toml:2: term 'rank' lacks a text 'zh-cn': every entry has it, in every "
        'language; add zh-cn = "…"',
    ]


def test_a_source_without_https_is_located(root: Path) -> None:
    wikis.replace(root / "content/sources.toml", "https://", "http://")
    assert found(root) == [
        "content/sources.toml:5: source's address 'http://example.org/manual': it begins with "
        "https://; correct it"
    ]


def test_a_book_without_a_language_is_not_built(root: Path) -> None:
    (root / "content/locales.toml").write_text("")
    with pytest.raises(BuildError) as caught:
        wikis.loaded(root)
    assert str(caught.value) == (
        "content/locales.toml:1: no language: a book has one at least; add a [[language]] table"
    )


def test_a_digit_changed_in_a_record_is_named(root: Path) -> None:
    path = root / "experiments/records/tiny.gloo.json"
    wikis.replace(path, '"total": 3.0', '"total": 3.5')
    (message,) = found(root)
    assert message.startswith(
        "experiments/records/tiny.gloo.json:21: record cannot be trusted 'tiny.gloo': the body "
        "hashes to "
    )
    assert message.endswith(
        "results.sum.total is 3.5, and the hash was made of 3.0; restore it or run "
        "`python -m experiments run tiny --backend gloo`"
    )


def test_a_changed_source_makes_a_record_stale_and_names_the_command(root: Path) -> None:
    (root / "experiments/tiny.py").write_text("PARTS = (1.0, 2.5)\n")
    (message,) = found(root)
    assert message.startswith(
        "experiments/records/tiny.gloo.json:15: record cannot be trusted 'tiny.gloo': stale: "
        "experiments/tiny.py is "
    )
    assert message.endswith("; run `python -m experiments run tiny --backend gloo`")


def test_a_record_that_is_no_json_is_named(root: Path) -> None:
    (root / "experiments/records/tiny.gloo.json").write_text("[" * 100_000)
    (message,) = found(root)
    assert message.startswith("experiments/records/tiny.gloo.json:1: not a record 'tiny.gloo': ")


def test_a_case_book_that_is_none_is_named(root: Path) -> None:
    folder = root / "content/cases"
    folder.mkdir()
    (folder / "cases.json").write_text(json.dumps({"entries": []}))
    for name in ("computed", "cases.en", "cases.zh-cn"):
        (folder / f"{name}.toml").write_text("")
    assert [item for item in found(root) if "summary" not in item] == [
        'content/cases/cases.json:1: not a case book \'cases.json\': it is {"cases": [{"id", '
        '"topic", …}]}; correct it'
    ]
