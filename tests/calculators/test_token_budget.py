"""token_budget: numbers of the contract, and a search over every number of micro-steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "token_budget"


def test_default_budget_is_one_micro_step_on_eight_ranks() -> None:
    found = values(NAME)
    assert (found["tokens_per_forward"], found["grad_accum_steps"]) == (524288, 1)
    assert values(NAME, world_size=1)["grad_accum_steps"] == 8
    small = {"micro_batch_size": 8, "sequence_length": 256, "world_size": 4}
    assert values(NAME, **small, tokens_per_update=131072)["grad_accum_steps"] == 16


def test_a_budget_that_does_not_divide_is_refused() -> None:
    found = values(NAME, tokens_per_update=600000)
    assert found["grad_accum_steps"] is None
    assert found["tokens_per_update_exact"] is None
    assert found["nearest_budgets"] == [524288, 1048576]
    assert notices(NAME, tokens_per_update=600000) == ["budget_not_divisible"]
    assert verdict(NAME, tokens_per_update=600000) == "not_divisible"


@given(st.integers(1, 5), st.integers(1, 9), st.integers(1, 4), st.integers(1, 2000))
def test_budgets_against_a_search(batch: int, length: int, ranks: int, budget: int) -> None:
    found = values(
        NAME, micro_batch_size=batch, sequence_length=length, world_size=ranks,
        tokens_per_update=budget,
    )  # fmt: skip
    products = {k: batch * length * k * ranks for k in range(1, budget + 2)}
    exact = [k for k, product in products.items() if product == budget]
    assert found["grad_accum_steps"] == (exact[0] if exact else None)
    if not exact:
        below = [product for product in products.values() if product < budget]
        above = min(product for product in products.values() if product > budget)
        expected = [below[-1], above] if below else [above, 2 * above]
        assert found["nearest_budgets"] == expected
