"""update_ledger: every path against a brute-force update, token by token."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calculators.update_ledger import FACTORS, SCHEMES
from tests.calculators.helpers import notices, values, verdict

NAME = "update_ledger"
CELL = st.tuples(st.integers(0, 5), st.floats(-4, 4))
CELLS = st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=4)


def brute_force(cells: Any, reduction: str, factors: Any, collective: str) -> float | None:
    """The optimizer's gradient by walking ranks, micro-steps and tokens as a trainer does."""
    world_size, steps = len(cells), max(map(len, cells))
    everywhere = sum(n for row in cells for n, _ in row)
    on_ranks = []
    for row in cells:
        gradient = 0.0
        for n, mean in row:
            part = math.fsum([mean] * n)
            if reduction == "mean":
                if n == 0:
                    return None
                part /= n
            on_rank = sum(m for m, _ in row)
            if "divide_by_rank_valid_tokens" in factors and not on_rank:
                return None
            sizes = {
                "divide_by_grad_accum_steps": 1 / steps,
                "divide_by_world_size": 1 / world_size,
                "multiply_by_world_size": world_size,
                "divide_by_global_valid_tokens": 1 / everywhere,
                "divide_by_rank_valid_tokens": 1 / max(on_rank, 1),
                "multiply_by_micro_step_valid_tokens": n,
            }
            part *= math.prod(sizes[factor] for factor in factors)
            gradient += part
        on_ranks.append(gradient)
    return math.fsum(on_ranks) / (world_size if collective == "average" else 1)


def split(cells: Any) -> dict[str, Any]:
    return {
        "counts": [[n for n, _ in row] for row in cells],
        "gradient_means": [[mean for _, mean in row] for row in cells],
    }


def test_default_numbers() -> None:
    found = values(NAME, scheme="mean_of_micro_step_means")
    assert (found["correct_gradient"], found["implemented_gradient"]) == (2.2, 2.0)
    assert found["repair_factor"] is None
    assert found["coefficients_on_mean"] == [pytest.approx([0.4, 0.6])]
    assert found == values(NAME)
    assert verdict(NAME) == "unequal_tokens"


def test_dividing_twice_is_repaired_by_the_number_of_steps() -> None:
    inputs = {"counts": [[1, 2, 3, 4]], "gradient_means": [[4, 1, 2, 2]]}
    found = values(NAME, **inputs, scheme="divided_twice")
    assert found["repair_factor"] == 4
    assert found["implemented_gradient"] == pytest.approx(found["correct_gradient"] / 4)
    assert verdict(NAME, **inputs, scheme="divided_twice") == "scaled"


def test_every_scheme_is_shorthand_for_three_settings() -> None:
    cells = {"counts": [[2, 3], [4, 1]], "gradient_means": [[1, 3], [-2, 5]]}
    for scheme, (reduction, factors, collective) in SCHEMES.items():
        spelled = {"local_reduction": reduction, "factors": factors, "collective": collective}
        assert values(NAME, **cells, scheme=scheme) == values(NAME, **cells, **spelled)


def test_the_global_token_scheme_gives_every_token_its_share() -> None:
    cells = {"counts": [[1, 3], [2, 2], [4, 0], [5, 3]],
             "gradient_means": [[9, 1], [1, 1], [0.5, 0], [1, 1]]}  # fmt: skip
    found = values(NAME, **cells, scheme="global_tokens")
    assert found["correct_gradient"] == pytest.approx(1.3)
    assert found["implemented_gradient"] == pytest.approx(1.3)
    assert found["repair_factor"] == 1
    shares = [w for row in found["token_weights"] for w in row]
    assert [w for w in shares if w is not None] == pytest.approx([1 / 20] * 7)
    assert shares[5] is None


def test_a_mean_over_an_empty_cell_is_undefined() -> None:
    inputs = {"counts": [[0, 3]], "gradient_means": [[1, 2]]}
    found = values(NAME, **inputs)
    assert found["effective_coefficients"] == [[None, pytest.approx(1 / 6)]]
    assert found["implemented_gradient"] is None
    assert found["correct_gradient"] == 2
    assert notices(NAME, **inputs) == ["empty_mean"]


def test_no_valid_tokens() -> None:
    found = values(NAME, counts=[[0], [0]])
    assert found["correct_gradient"] is None
    assert notices(NAME, counts=[[0], [0]]) == ["no_valid_tokens_skip_update"]


def test_every_cell_equal_is_another_objective() -> None:
    inputs = {"counts": [[2, 6, 0]], "gradient_means": [[4, 1, 0]], "objective": "cell_mean"}
    found = values(NAME, **inputs, local_reduction="sum", factors=[], collective="sum")
    assert found["correct_gradient"] == 2.5
    assert found["correct_coefficients"] == [[0.25, pytest.approx(1 / 12), None]]
    assert found["repair_factor"] is None


def test_weights_replace_the_counts_in_every_denominator() -> None:
    inputs = {"counts": [[2, 2]], "gradient_means": [[1, 3]], "weights": [[1, 3]]}
    assert values(NAME, **inputs)["correct_gradient"] == pytest.approx((1 * 1 + 3 * 3) / 4)
    assert values(NAME, **inputs, scheme="global_tokens")["repair_factor"] == 1


@given(
    CELLS,
    st.sampled_from(("sum", "mean")),
    st.lists(st.sampled_from(FACTORS), unique=True),
    st.sampled_from(("average", "sum")),
)
def test_any_trainer_against_a_walk_over_tokens(
    cells: Any, reduction: str, factors: list[str], collective: str
) -> None:
    assume(any(n for row in cells for n, _ in row))
    trainer = {"local_reduction": reduction, "factors": factors, "collective": collective}
    found = values(NAME, **split(cells), **trainer)
    expected = brute_force(cells, reduction, factors, collective)
    assert found["implemented_gradient"] == (
        None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12)
    )
    tokens = [mean for row in cells for n, mean in row for _ in range(n)]
    right = math.fsum(tokens) / len(tokens)
    assert found["correct_gradient"] == pytest.approx(right, rel=1e-9, abs=1e-12)
    if found["repair_factor"] is not None:
        repaired = found["repair_factor"] * found["implemented_gradient"]
        assert repaired == pytest.approx(right, rel=1e-9, abs=1e-12)
