"""Accumulation against autograd in this process, and the tiny GPT against its own definition."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from experiments.accumulation import SETTINGS, TinyGPT, accumulate, errors, ragged, token_loss
from tests.experiments.helpers import record

RESULTS = record("accumulation").results
CONFIG: dict[str, Any] = dict(SETTINGS.config)


@pytest.fixture
def model() -> torch.nn.Module:
    torch.manual_seed(3)
    return TinyGPT(CONFIG).double()


@pytest.fixture
def tokens() -> torch.Tensor:
    return torch.randint(CONFIG["vocabulary"], (5, CONFIG["context"] + 1))


def test_shares_are_the_batch_and_equal_weights_are_not() -> None:
    gpt = RESULTS["gpt"]
    assert gpt["share_weights"]["weights"] == [2 / 5, 3 / 5]
    assert gpt["share_weights"]["max_abs_error"] < 1e-15
    assert 1e-3 < gpt["equal_weights"]["max_abs_error"] < 1
    assert gpt["equal_weights"]["cosine"] < 0.999
    assert RESULTS["mlp"]["four_micro_steps"]["max_abs_error"] < 1e-15
    assert RESULTS["ddp"]["two_ranks"]["max_abs_error"] < 1e-15


def test_equal_weights_err_by_what_the_parts_say(
    model: torch.nn.Module, tokens: torch.Tensor
) -> None:
    """1/2 a + 1/2 b - (2/5 a + 3/5 b) = 1/10 (a - b), with the parts' own gradients a and b."""
    x, y = tokens[:, :-1], tokens[:, 1:]
    first = accumulate(model, [(lambda: token_loss(model, x[:2], y[:2]), 1.0)])[1]
    second = accumulate(model, [(lambda: token_loss(model, x[2:], y[2:]), 1.0)])[1]
    whole = accumulate(model, [(lambda: token_loss(model, x, y), 1.0)])[1]
    assert torch.allclose(0.4 * first + 0.6 * second, whole, rtol=0, atol=1e-15)
    wrong = errors((first + second) / 2, whole)
    assert wrong["max_abs_error"] == pytest.approx(
        0.1 * (first - second).abs().max().item(), rel=1e-9
    )


def test_token_shares_are_right_for_other_counts(
    model: torch.nn.Module, tokens: torch.Tensor
) -> None:
    found = ragged(model, tokens[:, :-1], tokens[:, 1:], [1, 6])
    assert found["token_shares"]["max_abs_error"] < 1e-15
    assert found["equal_weights"]["max_abs_error"] > 1e-2


def test_the_gpt_is_causal_and_has_the_recorded_size(
    model: torch.nn.Module, tokens: torch.Tensor
) -> None:
    changed = tokens[:1, :-1].clone()
    changed[0, -1] = (changed[0, -1] + 1) % CONFIG["vocabulary"]
    with torch.no_grad():
        before, after = model(tokens[:1, :-1]), model(changed)
    assert torch.equal(before[:, :-1], after[:, :-1])
    assert not torch.equal(before[:, -1], after[:, -1])
    assert sum(p.numel() for p in model.parameters()) == RESULTS["gpt"]["whole_batch"]["parameters"]
