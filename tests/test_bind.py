"""Binding: what does not resolve is an error with its line; what resolves keeps its raw value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from calculators import contract, page
from pipeline.bind import bind
from pipeline.plots import PlotError
from pipeline.views import Bound, CalculatorView, RecordView, Reference
from tests import wikis

ALPHA = "content/alpha/en.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def broken(root: Path, old: str, new: str) -> list[str]:
    """What is wrong after a change of the first chapter's English text."""
    wikis.replace(root / ALPHA, old, new)
    return [str(item) for item in wikis.resolved(root).findings]


def views(root: Path, kind: type) -> list[Any]:
    """The views of one kind on the first chapter's English page."""
    return [v for v in wikis.resolved(root).pages["alpha", "en"].views if isinstance(v, kind)]


def test_the_tiny_wiki_binds_without_findings(root: Path) -> None:
    assert wikis.resolved(root).findings == ()


def test_bound_numbers_keep_their_raw_value_and_their_source(root: Path) -> None:
    total, recorded = views(root, Bound)[2:4]
    assert total == Bound("4", "4", "calc:two_replica_ledger(counts=[1, 3]).total_count")
    assert recorded == Bound("3.0", "3.0", "record:tiny.gloo#results.sum.total")


@pytest.mark.parametrize(
    ("language", "text"), [("en", "equation (1) of Beta"), ("zh-cn", "《乙》式 (1)")]
)
def test_a_formula_of_another_page_carries_that_pages_title(
    root: Path, language: str, text: str
) -> None:
    found = wikis.resolved(root).pages["alpha", language].views
    links = {v.href: v.text for v in found if isinstance(v, Reference)}
    assert links["#eq-mean"] == "(1)"
    assert links["../beta/#eq-other"] == text


def test_every_bound_number_is_what_the_calculator_gives(root: Path) -> None:
    _, result = contract.evaluate("two_replica_ledger")
    wrong, right = views(root, Bound)[:2]
    assert json.loads(wrong.raw) == result.values["implemented_gradient"]
    assert json.loads(right.raw) == result.values["correct_gradient"]


def test_a_built_result_is_what_the_page_computes(root: Path) -> None:
    (view,) = views(root, CalculatorView)
    request = {"calculator": "two_replica_ledger", "inputs": {"counts": [1, 3]}, "language": "en"}
    reply = json.loads(page.respond(json.dumps(request)))
    shown = view.result_html
    for key in reply["plots"]:
        shown = shown.replace(f'<svg data-key="{key}"></svg>', "")
    assert shown == reply["html"]
    assert view.spec["inputs"]["counts"] == [1, 3]
    assert view.spec["defaults"]["counts"] == [2, 8]


def test_a_card_shows_the_record_and_the_backends_without_one(root: Path) -> None:
    (view,) = views(root, RecordView)
    assert [(row.path, row.value.text) for row in view.rows] == [
        ("results.sum.total", "3"),
        ("results.sum.parts[1]", "2"),
    ]
    assert [(claim.name, claim.is_held) for claim in view.claims] == [("sum_is_three", True)]
    assert view.missing == (("nccl", "python -m experiments run tiny --backend nccl"),)
    assert view.what == "Two ranks add one and two."


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "two_replica_ledger.weights[1] .1f",
            "two_replica_leger.weights[1] .1f",
            "content/alpha/en.md:44: unknown calculator 'two_replica_leger': a calculator is a "
            "file in calculators/; did you mean 'two_replica_ledger'?",
        ),
        (
            "two_replica_ledger.weights[1] .1f",
            "two_replica_ledger.wieghts[1] .1f",
            "content/alpha/en.md:44: no such key 'two_replica_ledger.wieghts[1] .1f': the keys "
            "are inputs, total_count, token_gradients, gradient_sums, weights, correct_gradient, "
            "implemented_gradient, theta_after_correct, theta_after_implemented, "
            "direction_reversed; did you mean 'weights'?",
        ),
        (
            "two_replica_ledger.weights[1] .1f",
            "two_replica_ledger.weights[2] .1f",
            "content/alpha/en.md:44: no such entry 'two_replica_ledger.weights[2] .1f': [2] needs "
            "more than 2 entries; correct the index",
        ),
        (
            "two_replica_ledger.weights[1] .1f",
            "two_replica_ledger(counts=[0, 0]).correct_gradient .1f",
            "content/alpha/en.md:44: value is undefined 'two_replica_ledger(counts=[0, "
            "0]).correct_gradient .1f': it is null for these inputs; bind another value or other "
            "inputs",
        ),
        (
            "two_replica_ledger.weights[1] .1f",
            "two_replica_ledger.correct_gradient d",
            "content/alpha/en.md:44: format does not fit 'two_replica_ledger.correct_gradient d': "
            "'d' cannot show 0.4; use .4f, .3e or none",
        ),
        (
            "{record}`tiny.gloo results.sum.total .1f`",
            "{record}`tiny.gloo results.sum.totel .1f`",
            "content/alpha/en.md:16: no such key 'tiny.gloo results.sum.totel .1f': the keys are "
            "total, parts, finite; did you mean 'total'?",
        ),
        (
            "{record}`tiny.gloo results.sum.total .1f`",
            "{record}`tiny.nccl results.sum.total .1f`",
            "content/alpha/en.md:16: unknown record 'tiny.nccl': a record is a file in "
            "experiments/records/; make it with `python -m experiments run tiny --backend nccl`",
        ),
        (
            "{record}`tiny.gloo results.sum.total .1f`",
            "{record}`tiny.gloo results.sum`",
            "content/alpha/en.md:16: value is a group 'tiny.gloo results.sum': its keys are "
            "total, parts, finite; add one of them to the path",
        ),
        (
            "results.sum.parts[1]",
            "results.sum.parts[5]",
            "content/alpha/en.md:49: no such entry 'tiny.gloo results.sum.parts[5]': [5] needs "
            "more than 2 entries; correct the index",
        ),
        (
            "{term}`ranks <rank>`",
            "{term}`ranks <rnak>`",
            "content/alpha/en.md:15: unknown term 'rnak': terms are in content/glossary.toml; "
            "did you mean 'rank'?",
        ),
        (
            "{cite}`manual`",
            "{cite}`manuel`",
            "content/alpha/en.md:95: unknown source 'manuel': sources are in "
            "content/sources.toml; did you mean 'manual'?",
        ),
        (
            "{eq}`mean`",
            "{eq}`meen`",
            "content/alpha/en.md:29: unknown formula 'meen': labels of content/alpha/en.md are "
            "mean; did you mean 'mean'?",
        ),
        (
            "{eq}`beta#other`",
            "{eq}`gamma#other`",
            "content/alpha/en.md:29: unknown chapter 'gamma': no page of that name in en; use "
            "one of the chapters there are",
        ),
        (
            "{chapter}`beta#limits`",
            "{chapter}`beta#limit`",
            "content/alpha/en.md:29: unknown heading 'beta#limit': content/beta/en.md has no "
            "such id; did you mean 'limits'?",
        ),
        (
            "drawing.svg",
            "drawings.svg",
            "content/alpha/en.md:31: no such figure 'drawings.svg': figures lie beside the text; "
            "did you mean 'drawing.svg'?",
        ),
        (
            ':inputs: {"counts": [1, 3]}',
            ':inputs: {"count": [1, 3]}',
            "content/alpha/en.md:18: two_replica_ledger refuses its inputs '{\"count\": [1, 3]}': "
            "count is not an input; the inputs are counts, targets, theta, learning_rate, "
            "scheme, accumulation_steps; use one of these names",
        ),
        (
            ':inputs: {"counts": [1, 3]}',
            ':inputs: {"counts": [1, 3]}\n:show: wieghts',
            "content/alpha/en.md:18: two_replica_ledger shows no such thing 'wieghts': it shows ",
        ),
        (
            ":answer: two_replica_ledger(counts=[1, 3]).total_count",
            ":answer: two_replica_ledger(counts=[1, 3]).direction_reversed",
            "content/alpha/en.md:68: answer is not a number "
            "'two_replica_ledger(counts=[1, 3]).direction_reversed': a reader types a number; bind "
            "one, or leave the answer out",
        ),
    ],
)
def test_what_does_not_resolve_is_named(root: Path, old: str, new: str, expected: str) -> None:
    found = broken(root, old, new)
    assert len(found) == 1
    assert found[0] == expected or (expected.endswith(" ") and found[0].startswith(expected))


def test_all_errors_of_a_book_are_told_at_once(root: Path) -> None:
    wikis.replace(root / ALPHA, "{term}`ranks <rank>`", "{term}`ranks <rnak>`")
    wikis.replace(root / "content/beta/en.md", "{chapter}`alpha`", "{chapter}`alfa`")
    assert [(f.file, f.value) for f in wikis.resolved(root).findings] == [
        ("content/alpha/en.md", "rnak"),
        ("content/beta/en.md", "alfa"),
    ]


def test_a_plot_that_cannot_be_drawn_is_named_and_the_others_are_drawn(root: Path) -> None:
    calls: list[int] = []

    def draw_plots(specs: Sequence[Mapping[str, Any]]) -> list[str]:
        calls.append(len(specs))
        if len(calls) == 1:
            raise PlotError(0, specs[0], "no such mark")
        return ["<svg></svg>"] * len(specs)

    resolved = bind(wikis.parsed(root), draw_plots)
    file = "calculators/lr_schedule.py"
    before, _, _ = (wikis.PROJECT / file).read_text("utf-8").partition('"curve"')
    line = before.count("\n") + 1
    assert [str(item) for item in resolved.findings] == [
        f"{file}:{line}: plot cannot be drawn 'curve': no such mark; mend what it is made from"
    ]
    assert calls[1] == calls[0] - 1


def test_answers_come_from_the_cache_and_are_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = wikis.resolved(root)

    def refuse(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("pipeline.calculations.compute", refuse)
    assert wikis.resolved(root).pages == first.pages
