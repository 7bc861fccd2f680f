"""Names of numbers: what a role may say, what it resolves to, and how the number is shown."""

from __future__ import annotations

import contextlib
import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import expressions


def test_numbers_are_shown_as_the_calculators_show_them() -> None:
    shown = [
        expressions.present(value, spec, "x")
        for value, spec in [
            (-0.5, ".2f"),
            (1.5e-16, ".1e"),
            (True, ""),
            (19073, ",d"),
            (0.1, ""),
            ([1.0, -2.0], ".0f"),
            ("nan", ""),
            ("<b>", ""),
        ]
    ]
    assert shown == [
        "−0.50", "1.5×10⁻¹⁶", "true", "19,073", "0.1", "[1, −2]", "nan", "&lt;b&gt;",
    ]  # fmt: skip


@given(st.text(max_size=60))
def test_no_text_of_a_role_breaks_the_parser(text: str) -> None:
    sources: tuple[Literal["calc"], Literal["record"]] = ("calc", "record")
    for source in sources:
        with contextlib.suppress(expressions.ExpressionError):
            expressions.parse(source, text)


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.lists(st.booleans()), min_size=1))
def test_arguments_mean_what_their_json_means(arguments: dict[str, Any]) -> None:
    spelled = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
    binding = expressions.parse("calc", f"infonce({spelled}).loss .4f")
    assert json.loads(binding.arguments) == arguments
    assert (binding.path, binding.spec) == (("loss",), ".4f")


def test_a_value_without_a_form_says_so() -> None:
    for value, what in ((None, "value is undefined"), ({"a": 1}, "value is a group")):
        with pytest.raises(expressions.ExpressionError) as caught:
            expressions.present(value, "", "x")
        assert caught.value.parts[0] == what
