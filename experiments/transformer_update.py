"""One update of a real transformer, split in every usual way, against the whole batch.

Four fixed windows of held-out text (the last one short) are dealt to two ranks of two micro-steps:
rank 0 holds windows 0 and 1, rank 1 holds 2 and 3. Only a suffix of each window is supervised.

Claim: accumulation by the global token count, and two DDP ranks with P/N, give the whole batch's
update for all 298,176 parameters (2e-10, float64); means of means, and DDP's average of local
means, do not, unless the counts are equal. With no label anywhere a coordinated skip changes
nothing, while a zero loss followed by AdamW.step moves parameters and counter.

Result keys: `windows` {`tokens`, `text`}; `start` {`num_parameters`, `adamw_steps`}; for scenarios
`unequal`, `equal`, `empty_replica`: `suffixes`, `global_valid_tokens`, `loss`, `grad_norm`, and for
each path `accumulation_by_tokens`, `micro_step_means`, `ddp_default`, `ddp_tokens`: `loss`, `grad`
{`max_abs_error`, `relative_error`, `cosine`, `worst_tensor`, `errors_by_decade` ([d, how many of
the 298,176 errors lie between 10^d and 10^(d+1)])}, `sgd` and `adamw` {`max_abs_error`,
`update_relative_error`, `update_cosine`, `after_ten` {`distance`, `relative_distance`}},
`ranks_agree`. `all_empty`: `skip`, `sgd_zero_loss`, `adamw_zero_loss`, `default_loss` {...}.
Distances are Euclidean over all parameters; `relative_*` divides by the reference update's norm.
"""

from __future__ import annotations

from typing import Any

from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings
from experiments.transformer_paths import (
    PATHS,
    RIGHT,
    Start,
    all_empty,
    compare_paths,
    load_start,
)

TOLERANCE = 2e-10
SCENARIOS = {
    "unequal": [96, 8, 24, 40],
    "equal": [24, 24, 24, 24],
    "empty_replica": [0, 0, 24, 40],
}

SETTINGS = Settings(
    config={
        "suffixes": SCENARIOS,
        "sgd_learning_rate": 0.1,
        "adamw_learning_rate": 2e-3,
        "betas": [0.9, 0.95],
        "epsilon": 1e-8,
        "weight_decay": 0.1,
        "updates": 10,
    },
    files=(
        "experiments/transformer.py",
        "experiments/transformer_paths.py",
        "experiments/transformer_compare.py",
        "experiments/corpus.py",
        "experiments/data/corpus.txt",
        "experiments/records/language_model.gloo.safetensors",
    ),
    tolerances={
        "results": {"rtol": 1e-6, "atol": 2e-10},
        **{
            f"results.{scenario}.{path}.grad.errors_by_decade": {"bits_of_this_machine": True}
            for scenario in SCENARIOS
            for path in PATHS
        },
        # Ten AdamW updates divide by the root of tiny second moments: rounding grows with each.
        **{
            f"results.{scenario}.{path}.{optimizer}.after_ten": {"rtol": 1e-3, "atol": 1e-6}
            for scenario in SCENARIOS
            for path in PATHS
            for optimizer in ("sgd", "adamw")
        },
    },
)


def _right(scenario: str, path: str) -> list[Any]:
    place = f"{scenario}.{path}"
    return [
        allclose(f"{scenario}_{path}_{what}_is_the_whole_batch", f"{place}.{what}.max_abs_error",
                 0.0, TOLERANCE)
        for what in ("grad", "sgd", "adamw")
    ]  # fmt: skip


def _wrong(scenario: str, path: str, at_least: float) -> list[Any]:
    place = f"{scenario}.{path}.grad.relative_error"
    return [differs_by_at_least(f"{scenario}_{path}_gradient_differs", place, 0.0, at_least)]


CLAIMS = (
    bitwise_equal("start_has_298176_parameters", "start.num_parameters", 298_176),
    bitwise_equal("start_has_the_state_of_800_updates", "start.adamw_steps", 800),
    *(claim for scenario in SCENARIOS for path in RIGHT for claim in _right(scenario, path)),
    *(
        bitwise_equal(f"{scenario}_{path}_ranks_end_equal", f"{scenario}.{path}.ranks_agree", True)
        for scenario in SCENARIOS
        for path in ("ddp_default", "ddp_tokens")
    ),
    *(claim for path in ("micro_step_means", "ddp_default") for claim in _right("equal", path)),
    *_wrong("unequal", "micro_step_means", 0.05),
    *_wrong("unequal", "ddp_default", 0.05),
    *_wrong("empty_replica", "micro_step_means", 0.05),
    *_wrong("empty_replica", "ddp_default", 0.05),
    bitwise_equal("a_coordinated_skip_changes_nothing", "all_empty.skip.changed_parameters", 0),
    bitwise_equal("a_skip_keeps_the_counter", "all_empty.skip.adamw_steps", 800),
    bitwise_equal(
        "sgd_on_a_zero_loss_changes_nothing", "all_empty.sgd_zero_loss.changed_parameters", 0
    ),
    differs_by_at_least(
        "adamw_on_a_zero_loss_moves_parameters", "all_empty.adamw_zero_loss.distance", 0.0, 1e-3
    ),
    bitwise_equal("adamw_counts_the_empty_update", "all_empty.adamw_zero_loss.adamw_steps", 801),
)


def run(context: Context) -> dict[str, Any]:
    """Every scenario and path on this rank."""
    start: Start = load_start(context)
    total = len(SCENARIOS) + 1
    found: dict[str, Any] = {
        "windows": {"tokens": start.rows, "text": start.texts},
        "start": {
            "num_parameters": sum(tensor.numel() for tensor in start.weights.values()),
            "adamw_steps": start.steps,
        },
    }
    for done, (scenario, suffixes) in enumerate(SCENARIOS.items()):
        context.progress(done, total, scenario)
        found[scenario] = compare_paths(context, start, suffixes)
    found["all_empty"] = all_empty(context, start)
    context.progress(total, total, "all_empty")
    return found


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's results, the mean of the ranks' losses, and whether all ranks end equal."""
    results = {**outputs[0]}
    for scenario in SCENARIOS:
        merged = {**outputs[0][scenario]}
        for path in PATHS:
            entry = {**merged[path]}
            hashes = [output[scenario][path]["parameters_sha256"] for output in outputs]
            entry.pop("parameters_sha256")
            losses = [output[scenario][path]["loss"] for output in outputs]
            agree = all(found == hashes[0] for found in hashes)
            merged[path] = {**entry, "loss": sum(losses) / len(losses), "ranks_agree": agree}
        results[scenario] = merged
    return results
