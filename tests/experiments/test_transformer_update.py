"""The splits of one update, on the recorded model, by autograd in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from experiments import transformer_compare as compare
from experiments import transformer_paths as paths
from experiments.harness import Context
from experiments.transformer import IGNORE_INDEX, NUM_PARAMETERS
from experiments.transformer_update import SCENARIOS, SETTINGS, TOLERANCE
from tests.experiments.helpers import record

RESULTS = record("transformer_update").results
WRONG = ("micro_step_means", "ddp_default")


@pytest.fixture(scope="module")
def context() -> Iterator[Context]:
    """A rank without a group: enough for the paths of one process."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield Context(
        rank=0, local_rank=0, world_size=2, backend="gloo", device=torch.device("cpu"),
        dtype=torch.float64, seed=0, config={**SETTINGS.config, "updates": 1},
        signal=lambda *_: None,
    )  # fmt: skip
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def start(context: Context) -> paths.Start:
    """The recorded model and windows."""
    return paths.load_start(context)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_right_paths_agree_and_wrong_ones_do_not(scenario: str) -> None:
    found = RESULTS[scenario]
    for path in paths.RIGHT:
        for what in ("grad", "sgd", "adamw"):
            assert found[path][what]["max_abs_error"] <= TOLERANCE
    for path in WRONG:
        is_right = found[path]["grad"]["max_abs_error"] <= TOLERANCE
        assert is_right == (scenario == "equal")
        assert found[path]["ranks_agree"] is True


def test_an_empty_replica_halves_the_default_gradient() -> None:
    found = RESULTS["empty_replica"]["ddp_default"]["grad"]
    assert found["relative_error"] == pytest.approx(0.5, rel=1e-12)
    assert found["cosine"] == pytest.approx(1, rel=1e-12)


def test_an_update_without_labels() -> None:
    found = RESULTS["all_empty"]
    assert found["skip"]["changed_parameters"] == 0
    assert found["skip"]["adamw_steps"] == 800
    assert found["sgd_zero_loss"]["changed_parameters"] == 0
    assert found["adamw_zero_loss"]["changed_parameters"] == NUM_PARAMETERS
    assert found["adamw_zero_loss"]["adamw_steps"] == 801
    assert found["default_loss"]["loss"] == "nan"


def test_only_the_suffix_is_supervised(context: Context, start: paths.Start) -> None:
    batch = paths.make_batch(context, start, SCENARIOS["unequal"])
    supervised = batch.labels != IGNORE_INDEX
    assert supervised.sum(1).tolist() == SCENARIOS["unequal"]
    assert batch.total == 168
    assert supervised[1].nonzero().flatten().tolist() == list(range(88, 96))
    assert supervised[3].nonzero().flatten().tolist() == list(range(40))


def test_one_process_repeats_the_recorded_numbers(context: Context, start: paths.Start) -> None:
    batch = paths.make_batch(context, start, SCENARIOS["unequal"])
    runs = {
        path: paths.run_path(context, start, path, "sgd", batch)
        for path in ("whole_batch", "accumulation_by_tokens", "micro_step_means")
    }
    whole = runs["whole_batch"]
    recorded = RESULTS["unequal"]
    assert whole.loss == pytest.approx(recorded["loss"], rel=1e-12)
    assert compare.flat(whole.grad.values()).numel() == NUM_PARAMETERS
    norm = float(compare.flat(whole.grad.values()).norm())
    assert norm == pytest.approx(recorded["grad_norm"], rel=1e-10)
    for path in ("accumulation_by_tokens", "micro_step_means"):
        found = compare.compare_gradients(whole.grad, runs[path].grad)
        expected = recorded[path]["grad"]
        assert found["relative_error"] == pytest.approx(expected["relative_error"], abs=1e-10)
        assert found["cosine"] == pytest.approx(expected["cosine"], abs=1e-10)


def test_errors_are_counted_by_decade() -> None:
    grad = {"w": torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)}
    other = {"w": torch.tensor([0.02, 0.05, 3e-7, 1.0], dtype=torch.float64)}
    found = compare.compare_gradients(grad, other)
    assert found["errors_by_decade"] == [[-7, 1], [-2, 2]]
    assert found["worst_tensor"] == "w"
