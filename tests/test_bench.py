"""The benchmarks: what they build, what they measure, where they write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import wikis
from tests.bench import __main__ as bench
from tests.bench import build, cost, peers, report, wiki


def test_made_up_wikis_pass_every_check(tmp_path: Path) -> None:
    assert wikis.messages(wiki.make(tmp_path / "chapters", 3)) == []
    assert wikis.messages(wiki.make(tmp_path / "plain", 3, wiki.plain)) == []


def test_chapters_are_equal_for_equal_numbers_and_differ_otherwise() -> None:
    assert wiki.chapter(2, "en") == wiki.chapter(2, "en")
    assert wiki.chapter(2, "en") != wiki.chapter(3, "en")
    numbers = range(1, 50)
    formulas = {wiki.formula(n, index) for n in numbers for index in range(wiki.FORMULAS)}
    assert len(formulas) == len(numbers) * wiki.FORMULAS


def test_other_builders_get_the_same_prose_and_formulas() -> None:
    plain, other = wiki.plain(5, "en"), peers.page(5, "en")
    for index in range(wiki.FORMULAS):
        assert f"${wiki.formula(5, index)}$" in plain
        assert f"${wiki.formula(5, index)}$" in other
    half = range(wiki.FORMULAS // 2)
    assert wiki.prose(5, "en", half) in plain
    assert wiki.prose(5, "en", half) in other


def test_a_command_costs_what_it_uses(tmp_path: Path) -> None:
    code = "import time; data = b'x' * 50_000_000; time.sleep(0.2); sum(range(1_000_000))"
    found = cost.of([sys.executable, "-c", code], tmp_path)
    assert found.wall > 0.2
    assert 0 < found.cpu < found.wall + 1
    assert found.memory > 50
    with pytest.raises(cost.FailedError, match="exit status 3: gone"):
        cost.of([sys.executable, "-c", "print('gone'); raise SystemExit(3)"], tmp_path)


def test_a_table_goes_between_its_markers_and_nowhere_else(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("a\n<!-- bench:x -->\nold\n<!-- /bench:x -->\nb\n", "utf-8")
    report.write("x", report.table(("size", "time"), [("10", "1 s")]), readme)
    assert readme.read_text("utf-8") == (
        "a\n<!-- bench:x -->\n\n| size | time |\n| --- | --: |\n| 10 | 1 s |\n\n"
        "<!-- /bench:x -->\nb\n"
    )
    with pytest.raises(ValueError) as caught:
        report.write("y", "", readme)
    assert str(caught.value) == "README.md has no <!-- bench:y --> … <!-- /bench:y -->"


def test_the_readme_has_a_place_for_both_tables() -> None:
    text = report.README.read_text("utf-8")
    assert all(f"<!-- bench:{kind} -->" in text for kind in bench.KINDS)


def test_a_size_is_measured_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = build.measured(tmp_path, 2, 1)
    assert line.cold.wall > line.warm.wall * 0.5
    assert 0 < line.saved < 60_000
    assert "| 2 × 2 |" in build.grown([line])
    capsys.readouterr()


def test_an_unknown_benchmark_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["nothing"]) == 2
    assert capsys.readouterr().err == "usage: python -m tests.bench {build,page,save} [--help]\n"
