"""Careless edits of the tables: each is one finding at its line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import BuildError
from pipeline.files import Reader
from pipeline.model import Checked
from pipeline.tables import recompute
from pipeline.toml_lines import Lines
from tests import wikis

GLOSSARY, SOURCES = "content/glossary.toml", "content/sources.toml"
SUMMARY, EXPERIMENTS = "content/summary.toml", "content/experiments.toml"
RECOMPUTE = "content/recompute.toml"
KEYS = "the keys are id, en, zh-cn, definition, aliases"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def told(checked: Checked) -> list[str]:
    """What stops the build."""
    return [str(item) for item in checked.findings if item.level == "error"]


EDITS = {
    "a list as a text": (
        GLOSSARY, '["worker"]', '"worker"', ":7: term 'rank': aliases is not a list of texts "
        "'worker': it is a list of texts; write aliases = [\"…\", \"…\"]",
    ),
    "a text as a number": (
        GLOSSARY, '"rank（进程编号）"', "3",
        ":4: term 'rank': zh-cn is not a text '3': it is a text; write zh-cn = \"…\"",
    ),
    "an empty text": (
        GLOSSARY, 'en = "rank"', 'en = ""',
        ":3: term 'rank': en is not a text 'empty': it is a text; write en = \"…\"",
    ),
    "a misspelt key": (
        GLOSSARY, "aliases", "alias",
        f":7: term 'rank' has an unknown key 'alias': {KEYS}; did you mean 'aliases'?",
    ),
    "a misspelt table": (
        GLOSSARY, "definition.zh-cn", "defintion.zh-cn",
        f":6: term 'rank' has an unknown key 'defintion': {KEYS}; did you mean 'definition'?",
    ),
    "a misspelt language": (
        GLOSSARY, "definition.zh-cn", "definition.zh-ch", ":6: term 'rank': definition has an "
        "unknown key 'zh-ch': the keys are en, zh-cn; did you mean 'zh-cn'?",
    ),
    "a text as a table": (
        GLOSSARY, 'definition.en = "One process of a group."\ndefinition.zh-cn =', "definition =",
        ":5: term 'rank': definition is not a table '进程组里的一个进程。': it is definition.en, "
        "definition.zh-cn; write definition.en, definition.zh-cn",
    ),
    "a misspelt header": (
        GLOSSARY, "[[term]]", "[[terms]]",
        ":1: unknown table 'terms': the file holds [[term]] tables; did you mean 'term'?",
    ),
    "an open list": (
        GLOSSARY, '["worker"]', '["worker"\n[[term]]\nid = "x"',
        ":7: not TOML 'aliases = [\"worker\"': Unclosed array (at line 8, column 1); correct that "
        "line",
    ),
    "an open text": (
        GLOSSARY, '"One process of a group."', '"""One', ":5: not TOML 'definition.en = "
        "\"\"\"One': Unterminated string (at end of document); correct that line",
    ),
    "a key twice": (
        GLOSSARY, 'id = "rank"', 'id = "rank"\nid = "rank"', ":3: not TOML 'id = \"rank\"': "
        "Cannot overwrite a value (at line 3, column 12); begin each entry with a [[…]] line, and "
        "give a key once in it",
    ),
    "no such day": (
        SOURCES, "2026-11-29", "2026-13-29", ":7: not a day of the calendar '2026-13-29': accessed "
        "is the day the source was looked at, as in 2026-11-29; correct it",
    ),
    "a day in another order": (
        SOURCES, "2026-11-29", "29.11.2026", ":7: not a day of the calendar '29.11.2026': accessed "
        "is the day the source was looked at, as in 2026-11-29; correct it",
    ),
    "no such day in a version": (
        SOURCES, 'version = "', 'version = "2026-02-30, ',
        ":6: not a day of the calendar '2026-02-30': a day is written as in 2026-11-29; correct it",
    ),
    "a day without quotes": (
        SOURCES, '"2026-11-29"', "2026-11-29", ":7: source 'manual': accessed is not a text "
        "'2026-11-29': it is a text; write accessed = \"…\"",
    ),
    "chapters as a text": (
        SUMMARY, '["alpha", "beta"]', '"alpha"', ":5: part 'first': chapters is not a list of "
        "texts 'alpha': it is a list of texts; write chapters = [\"…\", \"…\"]",
    ),
    "chapters misspelt": (
        SUMMARY, "chapters", "chapter", ":5: part 'first' has an unknown key 'chapter': the keys "
        "are id, title, chapters; did you mean 'chapters'?",
    ),
    "no chapters": (
        SUMMARY, 'chapters = ["alpha", "beta"]', "", ":2: part 'first' lacks a list 'chapters': "
        'every entry has it; add chapters = ["…"]',
    ),
    "a misspelt chapter": (
        SUMMARY, '"alpha"', '"alhpa"', ":5: chapter without a folder 'alhpa': content/ has no "
        "folder of that name; did you mean 'alpha'?",
    ),
    "a misspelt experiment": (
        EXPERIMENTS, '"tiny"', '"tinny"', ":2: sentence without its experiment 'tinny': there is "
        "no record and no experiment of this name; did you mean 'tiny'?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_a_careless_edit_is_one_finding(name: str, root: Path) -> None:
    file, old, new, expected = EDITS[name]
    wikis.replace(root / file, old, new)
    try:
        found = told(wikis.checked(root))
    except BuildError as error:
        found = [str(item) for item in error.findings]
    assert found == [file + expected]


@pytest.mark.parametrize("file", [GLOSSARY, SOURCES, RECOMPUTE])
def test_an_emptied_table_is_told_without_what_follows(file: str, root: Path) -> None:
    (root / file).write_text("# nothing\n")
    key = {GLOSSARY: "term", SOURCES: "source", RECOMPUTE: "recompute"}[file]
    assert told(wikis.checked(root)) == [
        f"{file}:1: file without an entry: it holds the [[{key}]] tables of the book; restore "
        f"them, or write {key} = []"
    ]


@pytest.mark.parametrize("file", [EXPERIMENTS, RECOMPUTE])
def test_a_book_with_records_has_the_tables_of_records(file: str, root: Path) -> None:
    (root / file).unlink()
    assert told(wikis.checked(root)) == [
        f"{file}:1: file cannot be read '{Path(file).name}': No such file or directory; add it or "
        "mend its permissions"
    ]


def test_a_book_without_records_needs_none(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert (recompute(reader), reader.findings) == ({}, [])


TASK = """
[[recompute]]
experiment = "tiny"
calculator = "two_replica_ledger"
inputs = { counts = [1, 2] }
pairs = [
  ["results.sum.total", "weights[0]"],
]
"""
TASKS = {
    "nothing": ("", "", []),
    "the calculator": (
        "_ledger", "_legder", [":4: unknown calculator 'two_replica_legder': a calculator is a "
        "file in calculators/; did you mean 'two_replica_ledger'?"],
    ),
    "the experiment": (
        '"tiny"', '"tinny"', [":3: recompute of an unknown experiment 'tinny': "
        "experiments/records/ has no record of it; did you mean 'tiny'?"],
    ),
    "a value of the record": (
        "sum.total", "sum.totl", [":7: no such key 'results.sum.totl': the keys are total, parts, "
        "finite; did you mean 'total'?"],
    ),
    "a value of the calculator": (
        "weights[0]", "weights[7]", [":7: no such entry 'weights[7]': [7] needs more than 2 "
        "entries; correct the index"],
    ),
    "the pairs": (
        "pairs", "pair", [":6: recompute '' has an unknown key 'pair': the keys are experiment, "
        "calculator, inputs, pairs; did you mean 'pairs'?"],
    ),
    "a pair": (
        '"weights[0]"', "3", [":6: recompute of 'tiny' without usable pairs "
        "\"[['results.sum.total', 3]]\": each entry says inputs of a calculator, and pairs of a "
        "record's path and its value; write pairs = [[\"results.x\", \"y\"]]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_what_is_to_be_computed_again_is_there(name: str, root: Path) -> None:
    old, new, expected = TASKS[name]
    text = TASK.replace(old, new) if old else TASK
    (root / RECOMPUTE).write_text(text)
    found = told(wikis.checked(root, is_check=True))
    assert found == [RECOMPUTE + item for item in expected]


def test_lines_are_those_of_the_statements() -> None:
    text = '# c\n[[a]]\nx = """\ny = 1\n"""\nz = [\n  "p",\n  "q",\n]\n[[a]]\nb.c = { d = 1 }\n'
    text += "[e.f]\ng = 1\n"
    lines = Lines(text)
    assert lines.line("a", 0) == 2
    assert lines.line("a", 0, "z") == 6
    assert lines.line("a", 0, "y") == 2
    assert lines.within(("a", 0, "z"), "q") == 8
    assert lines.line("a", 1, "b", "c", "d") == 11
    assert lines.line("e", "f", "g") == 13
    assert lines.line("nowhere") == 1
