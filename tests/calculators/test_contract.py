"""What every calculator promises: plain finite values, words in every language, one declaration."""

from __future__ import annotations

import json
import math
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from calculators import contract, controls, text
from calculators.page import answer, respond
from calculators.specs import ChoiceSpec, FlagSpec, SubsetSpec
from tests.calculators.strategies import accepted, inputs

LANGUAGES = ("en", "zh-cn")
ROOT = Path(__file__).parents[2]
NAMES = contract.names()
SOURCE_LIMIT = 200


def leaves(value: Any) -> list[Any]:
    """All scalars of a JSON value."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def test_calculators_are_found_by_file_name() -> None:
    assert "two_replica_ledger" in NAMES
    assert "contract" not in NAMES
    with pytest.raises(KeyError, match="no calculator 'nothing'; there are: "):
        contract.get("nothing")


@pytest.mark.parametrize("name", NAMES)
def test_a_calculator_has_a_test_a_docstring_and_a_short_source(name: str) -> None:
    assert (Path(__file__).parent / f"test_{name}.py").exists()
    calculator = contract.get(name)
    assert len(calculator.doc.splitlines()) >= 4
    assert len(calculator.source.splitlines()) <= SOURCE_LIMIT


@pytest.mark.parametrize("name", NAMES)
def test_a_calculator_imports_only_numpy_and_the_standard_library(name: str) -> None:
    source = contract.get(name).source
    imported = {
        line.split()[1].split(".")[0]
        for line in source.splitlines()
        if line.startswith(("import ", "from "))
    }
    allowed = {"__future__", "calculators", "collections", "dataclasses", "functools", "itertools",
               "json", "math", "numpy", "pathlib", "typing"}  # fmt: skip
    assert imported <= allowed


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_valid_input_gives_plain_finite_values_and_words(name: str, data: Any) -> None:
    raw = data.draw(inputs(name))
    assume(accepted(name, raw))
    language = data.draw(st.sampled_from(LANGUAGES))
    request = {"calculator": name, "inputs": raw, "language": language}
    reply = json.loads(respond(json.dumps(request)))
    assert reply["ok"], reply
    for leaf in leaves(reply["values"]):
        assert leaf is None or isinstance(leaf, (str, bool, int)) or math.isfinite(leaf)
    assert reply["verdict"]
    assert "NaN" not in reply["html"]
    again, _ = contract.evaluate(name, reply["inputs"])
    assert again == reply["inputs"]
    form = controls.render(name, reply["inputs"], language, "id")
    assert all(f'data-field="{field}"' in form for field in raw)


def skeleton(tree: Any) -> Any:
    """The keys of nested strings, and the parameters each sentence names."""
    if isinstance(tree, dict):
        return {key: skeleton(value) for key, value in tree.items()}
    return sorted({part[1] for part in Formatter().parse(tree) if part[1]})


def test_languages_have_the_same_keys_and_parameters() -> None:
    english, chinese = (text.strings(language) for language in LANGUAGES)
    assert skeleton(english) == skeleton(chinese)
    assert set(text.languages()) == set(LANGUAGES)


@pytest.mark.parametrize("name", NAMES)
def test_every_input_and_choice_has_a_label(name: str) -> None:
    for language in LANGUAGES:
        for field, spec in contract.specs_of(contract.get(name)).items():
            assert text.lookup(language, name, "inputs", field)
            if isinstance(spec, (ChoiceSpec, SubsetSpec)):
                for option in spec.options:
                    assert text.lookup(language, name, "choices", field, option)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_holds_every_input_with_its_default(name: str) -> None:
    schema = contract.schema(name)
    defaults, _ = contract.evaluate(name)
    assert {key: body["default"] for key, body in schema["properties"].items()} == defaults
    assert schema["additionalProperties"] is False
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_renders_in_every_language(name: str) -> None:
    for field, spec in contract.specs_of(contract.get(name)).items():
        options: tuple[Any, ...] = ()
        if isinstance(spec, ChoiceSpec):
            options = spec.options
        if isinstance(spec, FlagSpec):
            options = (False, True)
        for option in options:
            for language in LANGUAGES:
                reply = answer(
                    {"calculator": name, "inputs": {field: option}, "language": language}
                )
                assert reply["ok"], reply


def test_show_hide_and_plot_choose_what_is_rendered() -> None:
    request = {"calculator": "lr_schedule", "language": "en"}
    whole = answer(request)["html"]
    assert 'data-table="boundaries"' in whole
    assert 'data-plot="curve"' in whole
    hidden = answer({**request, "hide": ["boundaries"], "plot": "none"})
    assert 'data-table="boundaries"' not in hidden["html"]
    assert "data-plot" not in hidden["html"]
    assert hidden["plots"] == {}
    only = answer({**request, "show": ["lr"]})["html"]
    assert 'data-metric="lr"' in only
    assert 'data-metric="steps_at_peak"' not in only


def test_names_from_a_reader_are_escaped() -> None:
    tensors = [{"name": "<b>&\"'", "kind": "shard", "square_norms": [1, 2]}]
    reply = answer(
        {"calculator": "ownership_ledger", "inputs": {"tensors": tensors}, "language": "en"}
    )
    assert "<b>" not in reply["html"]
    assert "&lt;b&gt;&amp;&quot;&#x27;" in reply["html"]
    assert "<b>" not in controls.render("ownership_ledger", reply["inputs"], "en", "x")


def test_a_value_that_is_not_representable_is_null_with_a_notice() -> None:
    lost: list[str] = []
    assert contract.plain({"a": [1.0, math.inf]}, "key", lost) == {"a": [1.0, None]}
    assert lost == ["key"]
    assert math.copysign(1, contract.plain(-0.0, "key", lost)) == 1


def test_an_empty_box_is_called_empty_in_the_reader_s_language() -> None:
    request = {"calculator": "two_replica_ledger", "inputs": {"counts": [None, 8]}}
    said = {
        language: json.loads(respond(json.dumps({**request, "language": language})))["message"]
        for language in ("en", "zh-cn")
    }
    assert said["en"].startswith("counts[0] is empty; it must be a number from ")
    assert said["zh-cn"].startswith("counts[0] 是 空值；必须是 ")
