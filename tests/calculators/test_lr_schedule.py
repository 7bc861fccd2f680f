"""lr_schedule: numbers of the contract, torch's LambdaLR over a short run, plot points."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calculators import contract
from calculators.specs import InputError
from tests.calculators.helpers import values, verdict

NAME = "lr_schedule"


@pytest.mark.parametrize(
    ("index", "lr"),
    [
        (0, 8.391608391608392e-07),
        (714, 6e-4),
        (715, 6e-4),
        (19072, 6.000000395350947e-05),
        (19073, 6e-5),
        (10**6, 6e-5),
    ],
)
def test_default_rates(index: int, lr: float) -> None:
    assert values(NAME, index=index)["lr"] == pytest.approx(lr, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("index", "lr"), [(0, 1.5e-4), (3, 6e-4), (4, 6e-4), (12, 3.3e-4), (20, 6e-5), (21, 6e-5)]
)
def test_rates_of_a_short_run(index: int, lr: float) -> None:
    found = values(NAME, warmup_steps=4, total_steps=20, index=index)
    assert found["lr"] == pytest.approx(lr, rel=1e-14)


def test_the_run_ends_one_index_before_the_floor() -> None:
    found = values(NAME)
    assert found["last_executed_index"] == 19072
    assert found["lr_at_last_executed"] > 6e-5
    assert found["steps_at_peak"] == 2
    marks = [mark["index"] for mark in found["boundaries"]]
    assert marks == [0, 714, 715, 9894, 19072, 19073, 19074]


def test_no_warmup_and_nothing_but_warmup_are_legal() -> None:
    assert values(NAME, warmup_steps=0, total_steps=5)["lr"] == pytest.approx(6e-4, rel=1e-14)
    found = values(NAME, warmup_steps=5, total_steps=5, index=5)
    assert found["lr_at_last_executed"] == 6e-4
    assert found["lr"] == pytest.approx(6e-5, rel=1e-14)
    with pytest.raises(InputError, match="warmup_steps: longer_than_run"):
        values(NAME, warmup_steps=6, total_steps=5)


def test_stepping_per_micro_step_runs_k_times_too_fast() -> None:
    inputs = {"max_lr": 1, "min_ratio": 0, "warmup_steps": 2, "total_steps": 8}
    assert values(NAME, **inputs, index=2)["lr"] == 1
    fast = {**inputs, "stepped_per": "micro_step", "grad_accum_steps": 4}
    assert values(NAME, **fast, index=2)["lr"] == 0
    assert verdict(NAME, **fast) == "too_fast"
    assert verdict(NAME, numerator="i") == "first_update_is_zero"


def lambda_rates(warmup: int, total: int, first: int) -> list[float]:
    """Rates of every update of an optimizer under torch's LambdaLR."""

    def factor(i: int) -> float:
        if i < warmup:
            return (i + first) / warmup
        if i > total:
            return 0.1
        ratio = (i - warmup) / (total - warmup) if total > warmup else 1.0
        return 0.1 + 0.45 * (1 + math.cos(math.pi * ratio))

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=6e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    rates = []
    for _ in range(total + 3):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 12), st.integers(1, 30), st.sampled_from(("i_plus_1", "i")))
def test_rates_follow_lambda_lr(warmup: int, extra: int, numerator: str) -> None:
    total = warmup + extra - 1 or 1
    expected = lambda_rates(warmup, total, 1 if numerator == "i_plus_1" else 0)
    inputs = {"warmup_steps": warmup, "total_steps": total, "numerator": numerator}
    found = [values(NAME, **inputs, index=i)["lr"] for i in range(total + 3)]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-18)


def test_the_plot_keeps_the_peak_and_the_ends_in_few_points() -> None:
    for total in (19073, 10**6):
        _, result = contract.evaluate(NAME, {"total_steps": total, "warmup_steps": 715})
        points = result.plots[0].marks[0].points
        assert len(points) < 1000
        assert points[0][0] == 0
        assert points[-1][0] == total - 1
        assert max(y for _, y in points) == pytest.approx(6e-4, rel=1e-12)
