"""Grids: the rule that chooses states, their answers to the byte, and that none goes stale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from calculators import contract, page
from calculators.specs import InputError
from pipeline import grid, states
from pipeline.calculations import Question, compute
from pipeline.holes import CalculatorHole
from pipeline.load import load
from pipeline.model import Options
from pipeline.parse import parse
from tests import wikis

LEDGER = "two_replica_ledger"


def defaults(name: str, **changes: Any) -> dict[str, Any]:
    """All inputs of a calculator."""
    inputs = contract.parse_inputs(contract.get(name), changes)
    return {field: contract.as_given(getattr(inputs, field)) for field in vars(inputs)}


def place(name: str, language: str = "en", **changes: Any) -> dict[str, Any]:
    """What the rule is asked for: a calculator where the page shows it as it is by default."""
    inputs = defaults(name, **changes)
    chosen: dict[str, Any] = {"show": None, "hide": [], "plot": None}
    return {"id": "here", "name": name, "inputs": inputs, "language": language, **chosen}


def stored(body: bytes) -> list[tuple[dict[str, Any], str]]:
    """What a grid's file holds: changes and answers, read as the page reads them."""
    found = json.loads(body)
    pieces = found["pieces"]
    return [(changes, "".join(pieces[i] for i in row)) for changes, row in found["states"]]


def asked(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
    """What Python answers in the page to the request that the page makes."""
    request = {
        "calculator": spec["name"],
        "inputs": {**spec["inputs"], **changes},
        "language": spec["language"],
        "show": spec["show"],
        "hide": spec["hide"],
        "plot": spec["plot"],
    }
    return page.respond(json.dumps(request))


def sizes(name: str, **changes: Any) -> list[tuple[str, int | None, int]]:
    return [(a.field, a.index, len(a.values)) for a in states.axes(name, defaults(name, **changes))]


# -- the rule ----------------------------------------------------------------------------------


def test_discrete_inputs_are_choices_switches_and_small_whole_numbers() -> None:
    assert sizes(LEDGER) == [
        ("counts", 0, 33), ("counts", 1, 33), ("scheme", None, 5), ("accumulation_steps", None, 16)
    ]  # fmt: skip
    assert sizes("parameter_groups") == [
        ("tied", None, 2), ("bias", None, 2), ("bytes_per_value", None, 8)
    ]  # fmt: skip
    assert sizes("ownership_ledger") == [("order", None, 24), ("count", None, 3)]
    assert ("factors", None, 64) in sizes("update_ledger")
    assert sizes("clip_vector") == []


def test_number_that_shapes_other_inputs_never_changes_alone() -> None:
    assert sizes("step_coordination") == [("growth_interval", None, 10), ("decision", None, 2)]
    with pytest.raises(InputError):
        contract.evaluate("step_coordination", {**defaults("step_coordination"), "ranks": 3})


def test_value_of_the_place_is_among_those_of_its_slider() -> None:
    axis = states.axes("float_order", defaults("float_order", ranks=13))[-1]
    assert axis.values == (1, 2, 3, 4, 5, 6, 7, 8, 13)


def test_small_inputs_are_combined_and_large_ones_stand_alone() -> None:
    own = defaults(LEDGER)
    found = states.states(LEDGER, own)
    assert found[0] == own
    assert len(found) == 5 * 16 + 32 + 32
    pairs = {(s["scheme"], s["accumulation_steps"]) for s in found if s["counts"] == own["counts"]}
    assert len(pairs) == 5 * 16
    for state in found:
        if state["counts"] != own["counts"]:
            assert {**state, "counts": own["counts"]} == own
            assert sum(a != b for a, b in zip(state["counts"], own["counts"], strict=True)) == 1
    fixed = ("targets", "theta", "learning_rate")
    assert all(state[key] == own[key] for state in found for key in fixed)


@pytest.mark.parametrize("name", contract.names())
@pytest.mark.parametrize("most", [1, 2, 7, 40, states.MOST_STATES, 5000])
def test_states_are_distinct_and_no_more_than_allowed(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MOST_STATES", most)
    own = defaults(name)
    found = states.states(name, own)
    assert found[0] == own
    assert len(found) <= most
    assert len({json.dumps(state, sort_keys=True) for state in found}) == len(found)
    assert found == states.states(name, own)


def test_all_combinations_fit_where_the_bound_is_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = defaults("parameter_groups")
    monkeypatch.setattr(states, "MOST_STATES", 2 * 2 * 8)
    assert len(states.states("parameter_groups", own)) == 32
    monkeypatch.setattr(states, "MOST_STATES", 2 * 2 * 8 - 1)
    assert len(states.states("parameter_groups", own)) == 2 * 2 + 7
    assert len(states.states("parameter_groups", own, combined=False)) == 1 + 1 + 1 + 7
    monkeypatch.setattr(states, "MOST_STATES", 9)
    assert {state["bytes_per_value"] for state in states.states("parameter_groups", own)} == {
        own["bytes_per_value"]
    }


def test_file_that_grows_too_large_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = place("parameter_groups")
    whole = grid.body(spec)
    assert len(stored(whole)) == 32
    monkeypatch.setattr(grid, "MOST_BYTES", len(whole) - 1)
    alone = grid.body(spec)
    assert len(stored(alone)) == 10
    monkeypatch.setattr(grid, "MOST_BYTES", len(alone) - 1)
    assert grid.body(spec) == b""


@pytest.mark.parametrize("name", ["transformer_ledger", "clip_vector", "metric_reduction"])
def test_no_grid_without_discrete_inputs_or_with_data_of_records(name: str) -> None:
    assert grid.body(place(name)) == b""
    assert states.reads_data(name) == (name == "transformer_ledger")


# -- the answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh-cn"])
@pytest.mark.parametrize("name", ["batch_norm_split", "float_order", "step_coordination"])
def test_stored_answers_are_what_python_would_say(name: str, language: str) -> None:
    spec = place(name, language)
    found = stored(grid.body(spec))
    for changes, answer in found:
        assert answer == asked(spec, changes)
        assert not {key for key in changes if changes[key] == spec["inputs"][key]}
    assert [{**spec["inputs"], **c} for c, _ in found] == states.states(name, spec["inputs"])


def test_invalid_states_are_stored_with_their_sentence() -> None:
    spec = place("batch_norm_split")
    refused = [json.loads(a) for _, a in stored(grid.body(spec)) if not json.loads(a)["ok"]]
    assert len(refused) == 4
    assert all(answer["field"] == "split" and answer["message"] for answer in refused)


def test_show_hide_and_plot_of_the_place_are_kept() -> None:
    spec = {**place("float_order"), "plot": "none", "hide": ["orders"]}
    for changes, answer in stored(grid.body(spec)):
        assert answer == asked(spec, changes)
        assert json.loads(answer)["plots"] == {}


def test_cutting_loses_nothing() -> None:
    text = asked(place("lr_schedule"), {})
    pieces = grid.cut(text)
    assert "".join(pieces) == text
    assert len(set(pieces)) < len(pieces)


@pytest.fixture(scope="module")
def book() -> list[dict[str, Any]]:
    """Every place of the real book that shows a calculator with a grid."""
    root = wikis.PROJECT
    options = Options(root, root / "dist", root / ".cache")
    documents = parse(load(options), wikis.formulas).documents.values()
    holes = [(h, d.language) for d in documents for h in d.holes if isinstance(h, CalculatorHole)]
    questions = [
        Question(h.name, h.inputs, language, h.id, h.show, h.hide, h.plot)
        for h, language in holes
        if h.grid and not states.reads_data(h.name)
    ]
    return [compute(question)["spec"] for question in questions]


def test_sample_of_the_book_answers_to_the_byte(book: list[dict[str, Any]]) -> None:
    assert {spec["language"] for spec in book} == {"en", "zh-cn"}
    assert {LEDGER, "update_ledger", "lr_schedule"} <= {spec["name"] for spec in book}
    for number, spec in enumerate(book[::3]):
        body = grid.body(spec)
        assert len(body) <= grid.MOST_BYTES
        found = stored(body) if body else []
        for changes, answer in found[number % 5 :: 11]:
            assert answer == asked(spec, changes), (spec["id"], changes)
