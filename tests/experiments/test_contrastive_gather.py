"""The recorded gradients against finite differences of the loss, written once more in numpy."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from tests.experiments.helpers import record

A, B = np.array([1.0, 2.0]), np.array([1.0, -1.0])
RESULTS = record("contrastive_gather").results


def query_losses(w_q: float, w_d: float, own_w_d: float | None = None) -> npt.NDArray[np.float64]:
    """-log p_ii per query; with `own_w_d` a query's own document moves apart from the others."""
    logits = np.outer(w_q * A, w_d * B)
    if own_w_d is not None:
        np.fill_diagonal(logits, w_q * A * own_w_d * B)
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    losses: npt.NDArray[np.float64] = -np.log(np.diag(shifted / shifted.sum(1, keepdims=True)))
    return losses


def slope(function: object, at: float = 1.0, step: float = 1e-6) -> float:
    """A central difference."""
    return float((function(at + step) - function(at - step)) / (2 * step))  # type: ignore[operator]


def test_the_reference_is_the_slope_of_the_mean_loss() -> None:
    reference = RESULTS["single_process"]
    assert reference["loss"] == pytest.approx(2.0725389694803913, abs=1e-14)
    assert reference["loss"] == pytest.approx(query_losses(1.0, 1.0).mean(), abs=1e-14)
    assert reference["w_q"] == pytest.approx(slope(lambda w: query_losses(w, 1.0).mean()), abs=1e-8)
    assert reference["w_d"] == pytest.approx(slope(lambda w: query_losses(1.0, w).mean()), abs=1e-8)


@pytest.mark.parametrize("variant", ["differentiable_gather", "whole_loss_differentiable"])
def test_a_differentiable_gather_is_one_process(variant: str) -> None:
    found, reference = RESULTS[variant], RESULTS["single_process"]
    assert found["after_ddp_w_q"] == pytest.approx(reference["w_q"], abs=1e-14)
    assert found["after_ddp_w_d"] == pytest.approx(reference["w_d"], abs=1e-14)
    for weight in ("w_q", "w_d"):
        average = math.fsum(found[f"before_ddp_{weight}"]) / 2
        assert found[f"after_ddp_{weight}"] == pytest.approx(average, abs=1e-15)
        assert found[f"{weight}_next"] == pytest.approx(1 - 0.1 * reference[weight], abs=1e-14)


def test_a_detached_gather_keeps_only_the_own_documents_gradient() -> None:
    found, reference = RESULTS["detached_remote"], RESULTS["single_process"]
    assert found["mean_loss"] == pytest.approx(reference["loss"], abs=1e-14)
    kept = [slope(lambda w, i=i: query_losses(1.0, 1.0, own_w_d=w)[i]) for i in range(2)]
    assert found["before_ddp_w_d"] == pytest.approx(kept, abs=1e-8)
    assert found["after_ddp_w_d"] == pytest.approx(0.9224123290268496, abs=1e-14)


def test_own_rows_need_two_constants_and_the_whole_loss_one() -> None:
    own, whole = RESULTS["detached_remote"], RESULTS["whole_loss_detached"]
    assert own["repair_factor_w_q"] == pytest.approx(1, abs=1e-14)
    assert own["repair_factor_w_d"] == pytest.approx(2, abs=1e-14)
    assert whole["repair_factor_w_q"] == pytest.approx(2, abs=1e-14)
    assert whole["repair_factor_w_d"] == pytest.approx(2, abs=1e-14)


def test_a_single_local_pair_teaches_nothing() -> None:
    found = RESULTS["local_pairs_only"]
    assert found["losses"] == [0.0, 0.0]
    assert (found["after_ddp_w_q"], found["after_ddp_w_d"]) == (0.0, 0.0)
    assert (found["w_q_next"], found["w_d_next"]) == (1.0, 1.0)
