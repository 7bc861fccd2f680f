"""transformer_ledger: every gradient against torch autograd, the record against the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from calculators import contract, transformer_data, transformer_model
from calculators.page import answer
from calculators.specs import InputError
from experiments import transformer
from tests.calculators.helpers import notices, values, verdict

NAME = "transformer_ledger"
SUFFIXES = (96, 8, 24, 40)
RECORD = json.loads(transformer_data.UPDATE_RECORD.read_text("utf-8"))["results"]
SCENARIOS = ("unequal", "equal", "empty_replica")
PATHS = ("accumulation_by_tokens", "micro_step_means", "ddp_default", "ddp_tokens")


@pytest.fixture(scope="module")
def model() -> Iterator[transformer.Transformer]:
    """The recorded model in torch, float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    found = transformer.Transformer()
    weights = transformer_data.weights()
    found.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    yield found
    torch.set_default_dtype(before)


def torch_gradient(
    model: transformer.Transformer, row: Any, suffix: int
) -> tuple[float, dict[str, Any]]:
    """Loss sum over the suffix and its gradient by autograd."""
    tokens, labels = torch.tensor([row[:-1]]), torch.tensor([row[1:]])
    labels[0, : len(row) - 1 - suffix] = transformer.IGNORE_INDEX
    model.zero_grad()
    loss = transformer.loss_sum(model, tokens, labels)
    loss.backward()
    named = model.named_parameters()
    return loss.item(), {name: p.grad.numpy() for name, p in named if p.grad is not None}


@pytest.mark.parametrize("window", range(4))
def test_every_gradient_is_that_of_autograd(model: transformer.Transformer, window: int) -> None:
    rows, _ = transformer_data.windows()
    loss, gradient = transformer_model.loss_and_gradient(
        transformer_data.weights(), rows[window], SUFFIXES[window]
    )
    expected_loss, expected = torch_gradient(model, rows[window], SUFFIXES[window])
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    assert gradient.keys() == expected.keys()
    assert sum(array.size for array in gradient.values()) == 298_176
    for name, array in gradient.items():
        scale = np.abs(expected[name]).max()
        assert np.abs(array - expected[name]).max() <= 1e-9 * scale, name


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    rows, _ = transformer_data.windows()
    weights = transformer_data.weights()
    _, gradient = transformer_model.loss_and_gradient(weights, rows[3], 12)
    rng = np.random.default_rng(0)
    for name in ("blocks.0.qkv.weight", "token_embedding.weight", "blocks.1.ffn_norm.bias"):
        direction = rng.standard_normal(weights[name].shape)
        ends = []
        for sign in (1e-5, -1e-5):
            moved = {**weights, name: weights[name] + sign * direction}
            ends.append(transformer_model.loss_and_gradient(moved, rows[3], 12)[0])
        slope = (ends[0] - ends[1]) / 2e-5
        assert float((gradient[name] * direction).sum()) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_the_ledger_reproduces_the_recorded_run(scenario: str, path: str, optimizer: str) -> None:
    recorded = RECORD[scenario]
    found = values(NAME, suffixes=recorded["suffixes"], scheme=path, optimizer=optimizer)
    assert found["loss"] == pytest.approx(recorded["loss"], abs=2e-10)
    assert found["grad_norm"] == pytest.approx(recorded["grad_norm"], abs=2e-10)
    grad, step = recorded[path]["grad"], recorded[path][optimizer]
    assert found["relative_distance"] == pytest.approx(grad["relative_error"], abs=2e-10)
    assert found["cosine"] == pytest.approx(grad["cosine"], abs=2e-10)
    expected = step["update_relative_error"]
    assert found["update_relative_distance"] == pytest.approx(expected, abs=2e-9)
    if grad["cosine"] < 1 - 1e-9:  # a common factor moves every tensor alike
        assert found["worst_tensors"][0]["name"] == grad["worst_tensor"]


def test_what_the_page_says_of_each_split() -> None:
    assert verdict(NAME) == "turned"
    assert verdict(NAME, scheme="ddp_tokens") == "same"
    assert verdict(NAME, suffixes=[24, 24, 24, 24]) == "same"
    empty = {"suffixes": [0, 0, 24, 40], "scheme": "ddp_default"}
    assert verdict(NAME, **empty) == "scaled"
    assert values(NAME, **empty)["relative_distance"] == pytest.approx(0.5)


def test_dealing_decides_what_a_rank_averages() -> None:
    deals = ("two_ranks", "two_ranks_interleaved", "one_rank", "four_ranks")
    key = "effective_coefficients"
    found = [values(NAME, scheme="ddp_default", deal=deal)[key] for deal in deals]
    assert found[0] == pytest.approx([1 / 208, 1 / 208, 1 / 128, 1 / 128])
    assert found[1] == pytest.approx([1 / 240, 1 / 96, 1 / 240, 1 / 96])
    assert found[2] == pytest.approx([1 / 168] * 4)
    assert found[3] == pytest.approx([1 / 384, 1 / 32, 1 / 96, 1 / 160])


def test_no_label_anywhere() -> None:
    found = values(NAME, suffixes=[0, 0, 0, 0])
    assert found["loss"] is None
    assert notices(NAME, suffixes=[0, 0, 0, 0]) == ["no_valid_tokens_skip_update"]


def test_a_suffix_longer_than_its_window_is_refused() -> None:
    with pytest.raises(InputError, match=r"suffixes\[3\]: suffix_too_long"):
        values(NAME, suffixes=[1, 1, 1, 41])
    with pytest.raises(InputError, match="position: outside_window"):
        values(NAME, window=3, position=40)


def test_next_token_probabilities_are_probabilities(model: transformer.Transformer) -> None:
    rows, texts = transformer_data.windows()
    found = values(NAME, window=1, position=30, sgd_learning_rate=0)["next_tokens"]
    with torch.no_grad():
        logits = model(torch.tensor([rows[1][:31]]))[0, -1]
    p = torch.softmax(logits, -1)
    best = p.argsort(descending=True)[:6].tolist()
    assert [entry["token"] for entry in found] == [texts[i] for i in best]
    for entry, i in zip(found, best, strict=True):
        assert entry["before"] == pytest.approx(float(p[i]), rel=1e-10)
        assert entry["correct"] == entry["before"] == entry["implemented"]


def test_missing_data_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("WEIGHTS", "STATE", "WINDOWS", "UPDATE_RECORD"):
        monkeypatch.setattr(transformer_data, name, tmp_path / name)
    request = {"calculator": NAME, "language": "en"}
    assert answer(request) == {"ok": False, "needs": ["weights", "windows"]}
    request["inputs"] = {"optimizer": "adamw"}  # type: ignore[assignment]
    assert answer(request) == {"ok": False, "needs": ["weights", "state", "windows"]}
    with pytest.raises(contract.MissingDataError, match="transformer_ledger needs data"):
        contract.evaluate(NAME)
