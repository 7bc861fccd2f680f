"""What a loss over nothing gives, tried again in this process."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.empty_supervision import FORMS, gradient, loss_of
from tests.experiments.helpers import record

RESULTS = record("empty_supervision").results
EMPTY = torch.tensor([-100, -100, -100])


@pytest.mark.parametrize("form", FORMS)
def test_the_record_says_what_this_torch_does(form: str) -> None:
    model = torch.nn.Linear(4, 3).double()
    loss = loss_of(form, model(torch.randn(3, 4, dtype=torch.float64)), EMPTY)
    found, recorded = gradient(model, loss), RESULTS["alone"][form]
    assert (recorded["loss"] == "nan") == math.isnan(loss.item())
    assert recorded["gradient_is_finite"] == bool(found.isfinite().all())
    assert recorded["gradient_is_zero"] == bool((found == 0).all())


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_agree_where_there_are_labels(form: str) -> None:
    torch.manual_seed(0)
    logits, labels = torch.randn(3, 3, dtype=torch.float64), torch.tensor([0, -100, 2])
    probabilities = torch.softmax(logits, dim=1)
    total = -(probabilities[0, 0].log() + probabilities[2, 2].log()).item()
    expected = total if form == "cross_entropy_sum" else total / 2
    assert loss_of(form, logits, labels).item() == pytest.approx(expected, abs=1e-14)


def test_the_average_keeps_half_of_the_update() -> None:
    ddp, whole = RESULTS["ddp"], RESULTS["whole_batch"]
    for form in ("cross_entropy_mean", "masked_mean_clamped"):
        assert ddp[form]["share_of_update"] == pytest.approx(1 / 2, abs=1e-14)
        assert ddp[form]["gradient_norm"] == pytest.approx(whole["gradient_norm"] / 2, abs=1e-14)
    # A sum averaged over two ranks is 3 / 2 times the mean over three valid labels.
    assert ddp["cross_entropy_sum"]["share_of_update"] == pytest.approx(3 / 2, abs=1e-14)
    assert ddp["global_tokens"]["max_abs_error"] < 1e-15
    assert ddp["masked_mean"]["gradient_is_finite"] is False
    assert ddp["cross_entropy_mean"]["losses"][1] == "nan"
