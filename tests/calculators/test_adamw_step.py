"""adamw_step: numbers of the contract, torch.optim.AdamW and Adam step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.calculators.helpers import notices, values, verdict

NAME = "adamw_step"


def test_default_numbers() -> None:
    assert values(NAME)["theta_next"] == 0.9993400000120001
    found = values(NAME, gradients=[0.5, 0, 0])
    assert found["theta_next"] == pytest.approx(0.9984940908032164, rel=1e-15)
    assert [step["t"] for step in found["steps"]] == [1, 2, 3]
    assert verdict(NAME, gradients=[0.5, 0, 0]) == "zero_gradient_still_moves"


def test_a_zero_gradient_without_history_leaves_only_decay() -> None:
    assert values(NAME, gradients=[0])["theta_next"] == 1 - 6e-5
    assert verdict(NAME, gradients=[0]) == "decay_alone"
    assert values(NAME, gradients=[0], weight_decay=0)["theta_next"] == 1


def test_zero_over_zero_is_undefined() -> None:
    inputs = {"gradients": [0], "epsilon": 0}
    assert values(NAME, **inputs)["theta_next"] is None
    assert notices(NAME, **inputs)[0] == "zero_over_zero"


def test_decay_in_the_gradient_is_mostly_divided_away() -> None:
    inputs = {"theta": 2, "gradients": [1], "learning_rate": 0.1, "beta2": 0.999}
    assert values(NAME, **inputs)["theta_next"] == pytest.approx(1.88, abs=1e-8)
    wrong = {**inputs, "variant": "adam_l2"}
    assert values(NAME, **wrong)["theta_next"] == pytest.approx(1.9, abs=1e-8)
    assert verdict(NAME, **wrong) == "decay_in_the_gradient"


def torch_thetas(inputs: dict[str, Any]) -> list[float]:
    """theta after each step of torch's own optimizer, from the same state."""
    theta = torch.nn.Parameter(torch.tensor([inputs["theta"]], dtype=torch.float64))
    kind = torch.optim.AdamW if inputs["variant"] == "adamw" else torch.optim.Adam
    optimizer = kind(
        [theta], lr=inputs["learning_rate"], betas=(inputs["beta1"], inputs["beta2"]),
        eps=inputs["epsilon"], weight_decay=inputs["weight_decay"],
    )  # fmt: skip
    optimizer.state[theta] = {
        "step": torch.tensor(float(inputs["t0"])),
        "exp_avg": torch.tensor([inputs["m0"]], dtype=torch.float64),
        "exp_avg_sq": torch.tensor([inputs["v0"]], dtype=torch.float64),
    }
    thetas = []
    for gradient in inputs["gradients"]:
        theta.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
        thetas.append(float(theta.detach()))
    return thetas


@settings(deadline=None, max_examples=60)
@given(
    st.fixed_dictionaries(
        {
            "theta": st.floats(-3, 3),
            "gradients": st.lists(st.floats(-2, 2), min_size=1, max_size=8),
            "learning_rate": st.floats(1e-5, 0.1),
            "beta1": st.floats(0, 0.99),
            "beta2": st.floats(0, 0.9999),
            "epsilon": st.floats(1e-8, 1),
            "weight_decay": st.floats(0, 1),
            "m0": st.floats(-1, 1),
            "v0": st.floats(0, 1),
            "t0": st.integers(0, 1000),
            "variant": st.sampled_from(("adamw", "adam_l2")),
        }
    )
)
def test_steps_are_those_of_torch(inputs: dict[str, Any]) -> None:
    found = [step["theta"] for step in values(NAME, **inputs)["steps"]]
    assert found == pytest.approx(torch_thetas(inputs), rel=1e-10, abs=1e-12)
