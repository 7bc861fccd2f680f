"""AdamW over ten steps, its parameter groups, zero gradients, and resuming without its state.

Claim: torch's AdamW, one tensor at a time or foreach, follows calculators/adamw_step to rounding; a
shared embedding is one parameter; a zero gradient still moves the parameter, a missing one does
not; resuming with the optimizer state repeats the run bit by bit, without it the very first step
is another one.

Result keys: `ten_steps`: `gradients`, `theta_calculator`, `theta_single`, `theta_foreach`,
`theta_fused` (lists), `max_abs_error_single`, `_foreach`, `_fused`, `fused_is_supported`,
`fused_reason`. `groups` (GPT-2 124M layout): `decayed_tensors`, `decayed_parameters`,
`undecayed_tensors`, `undecayed_parameters`, `total_parameters`, `tied_counted_twice`; the same in
`groups_calculator`. `zero_gradient` and `none_gradient` (after one step with 0.5, then two with
zero or None): `theta` (per step), `step_counter`. `resume` (20 steps, checkpoint after 10):
`final_loss`; `resume.<variant>` for `with_state`, `without_state`, `without_step_counter`:
`first_step_that_differs` (counted from 1, null when none), `first_difference`,
`final_max_abs_difference`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from experiments.calculated import values
from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

FORMS: dict[str, dict[str, Any]] = {
    "single": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
}
COUNTS = (
    "decayed_tensors", "decayed_parameters", "undecayed_tensors", "undecayed_parameters",
    "total_parameters", "tied_counted_twice",
)  # fmt: skip
GRADIENTS = [0.5, -0.25, 0.125, 1.0, -2.0, 0.0, 0.75, -0.5, 1e-3, 0.5]

SETTINGS = Settings(
    config={"theta": 1.0, "gradients": GRADIENTS, "learning_rate": 6e-4, "betas": [0.9, 0.95]}
    | {"epsilon": 1e-8, "weight_decay": 0.1, "resume_steps": 20, "checkpoint_step": 10}
    | {"layers": 12, "width": 768, "vocabulary": 50304, "context": 1024},
    calculators=("adamw_step", "parameter_groups"),
    tolerances={
        "results": {"rtol": 1e-9, "atol": 1e-12},
        "results.ten_steps": {"rtol": 0.0, "atol": 1e-14},
    },
)

CLAIMS = (
    *(
        allclose(f"{form}_follows_the_formula", f"ten_steps.theta_{form}",
                 "ten_steps.theta_calculator", 1e-14)
        for form in ("single", "foreach")
    ),
    bitwise_equal(
        "fused_runs_here", "ten_steps.fused_is_supported", True, observation=True
    ),
    *(bitwise_equal(f"{key}_is_the_calculator's", f"groups.{key}", f"groups_calculator.{key}")
      for key in COUNTS),
    differs_by_at_least("shared_embedding_counts_once", "groups.total_parameters",
                        "groups.tied_counted_twice", 1),
    differs_by_at_least("zero_gradient_moves", "zero_gradient.theta[2]", "zero_gradient.theta[0]",
                        1e-5),
    allclose("zero_gradient_counts_steps", "zero_gradient.step_counter", 3, 0.0),
    bitwise_equal("none_gradient_stays", "none_gradient.theta[2]", "none_gradient.theta[0]"),
    allclose("none_gradient_counts_no_step", "none_gradient.step_counter", 1, 0.0),
    allclose("with_state_repeats_the_run", "resume.with_state.final_max_abs_difference", 0, 0.0),
    allclose("without_state_differs_at_once", "resume.without_state.first_step_that_differs", 11,
             0.0),
    differs_by_at_least("without_state_is_another_run",
                        "resume.without_state.final_max_abs_difference", 0, 1e-5),
    differs_by_at_least("without_counter_is_another_run",
                        "resume.without_step_counter.final_max_abs_difference", 0, 1e-5),
)  # fmt: skip


def adamw(parameters: Any, config: Any, **form: Any) -> torch.optim.AdamW:
    """The experiment's AdamW."""
    return torch.optim.AdamW(
        parameters,
        lr=config["learning_rate"],
        betas=tuple(config["betas"]),
        eps=config["epsilon"],
        weight_decay=config["weight_decay"],
        **form,
    )


def walk(gradients: list[float | None], context: Context, **form: Any) -> tuple[list[float], float]:
    """theta after each gradient, and torch's own step counter."""
    weight = nn.Parameter(context.tensor([context.config["theta"]]))
    optimizer = adamw([weight], context.config, **form)
    path = []
    for gradient in gradients:
        weight.grad = None if gradient is None else context.tensor([gradient])
        optimizer.step()
        path.append(float(weight.item()))
    return path, float(optimizer.state[weight]["step"])


def ten_steps(context: Context) -> dict[str, Any]:
    """The same ten gradients in three implementations and in the calculator."""
    config = context.config
    beta1, beta2 = config["betas"]
    given = {key: config[key] for key in ("theta", "gradients", "learning_rate", "epsilon")}
    steps = values("adamw_step", **given, beta1=beta1, beta2=beta2,
                   weight_decay=config["weight_decay"])["steps"]  # fmt: skip
    expected = [step["theta"] for step in steps]
    found: dict[str, Any] = {"gradients": config["gradients"], "theta_calculator": expected}
    found |= {"fused_is_supported": True, "fused_reason": None}
    for name, form in FORMS.items():
        try:
            path: list[float] | None = walk(config["gradients"], context, **form)[0]
        except (RuntimeError, NotImplementedError, ValueError) as error:
            path = None
            found |= {f"{name}_is_supported": False, f"{name}_reason": str(error)[:160]}
        found[f"theta_{name}"] = path
        found[f"max_abs_error_{name}"] = path and _gap(path, expected)
    return found


def _gap(left: list[float], right: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(left, right, strict=True))


class Gpt2(nn.Module):
    """The tensors of GPT-2 124M with a tied output matrix; on the meta device it has no memory."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width = config["width"]
        self.token = nn.Embedding(config["vocabulary"], width)
        self.position = nn.Embedding(config["context"], width)
        shapes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [nn.LayerNorm(width), nn.LayerNorm(width), *(nn.Linear(*shape) for shape in shapes)]
            )
            for _ in range(config["layers"])
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config["vocabulary"], bias=False)
        self.head.weight = self.token.weight


def groups(config: Any) -> dict[str, int]:
    """Tensors and parameters with two or more dimensions, and the others."""
    with torch.device("meta"):
        model = Gpt2(config)
    parameters = list(model.parameters())
    decayed = [p for p in parameters if p.dim() >= 2]
    undecayed = [p for p in parameters if p.dim() < 2]
    by_name = model.named_parameters(remove_duplicate=False)
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": undecayed, "weight_decay": 0.0}]
    )
    first, second = (group["params"] for group in optimizer.param_groups)
    return {
        "decayed_tensors": len(first),
        "decayed_parameters": sum(p.numel() for p in first),
        "undecayed_tensors": len(second),
        "undecayed_parameters": sum(p.numel() for p in second),
        "total_parameters": sum(p.numel() for p in parameters),
        "tied_counted_twice": sum(p.numel() for _, p in by_name),
    }


Restore = Callable[[Any, dict[str, Any]], None]


def restore_moments(optimizer: Any, state: dict[str, Any]) -> None:
    """Load m and v, but count steps from zero again."""
    state = copy.deepcopy(state)
    for entry in state["state"].values():
        entry["step"] = torch.zeros_like(entry["step"])
    optimizer.load_state_dict(state)


VARIANTS: dict[str, Restore] = {
    "with_state": lambda optimizer, state: optimizer.load_state_dict(state),
    "without_state": lambda _optimizer, _state: None,  # a checkpoint of weights alone
    "without_step_counter": restore_moments,
}


def train(model: nn.Module, optimizer: Any, data: tuple[Tensor, Tensor], steps: range) -> Any:
    """One full-batch update per step; the weights after each and the last loss."""
    weights, loss = [], None
    for _ in steps:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(data[0]), data[1])
        loss.backward()
        optimizer.step()
        weights.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    return weights, loss


def resume(context: Context) -> dict[str, Any]:
    """Twenty steps straight through, and three ways to go on from step ten."""
    config = context.config
    total, cut = config["resume_steps"], config["checkpoint_step"]
    layers = nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)
    model = nn.Sequential(*layers).to(context.device)
    generator = torch.Generator().manual_seed(context.seed)
    x = torch.randn(32, 8, generator=generator).to(context.device)
    data = x, x.sum(1, keepdim=True).sin()
    optimizer = adamw(model.parameters(), config)
    train(model, optimizer, data, range(cut))
    saved = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    straight, loss = train(model, optimizer, data, range(cut, total))
    found: dict[str, Any] = {"final_loss": loss.item()}
    for name, restore in VARIANTS.items():
        model.load_state_dict(saved[0])
        optimizer = adamw(model.parameters(), config)
        restore(optimizer, saved[1])
        again, _ = train(model, optimizer, data, range(cut, total))
        gaps = [(a - b).abs().max().item() for a, b in zip(again, straight, strict=True)]
        first = next((i for i, gap in enumerate(gaps) if gap > 0), None)
        found[name] = {
            "first_step_that_differs": None if first is None else cut + first + 1,
            "first_difference": 0.0 if first is None else gaps[first],
            "final_max_abs_difference": gaps[-1],
        }
    return found


def run(context: Context) -> dict[str, Any]:
    """Every part, on every rank alike."""
    found = {}
    for name, gradient in (("zero_gradient", 0.0), ("none_gradient", None)):
        path, counter = walk([0.5, gradient, gradient], context)
        found[name] = {"theta": path, "step_counter": counter}
    parts = {"ten_steps": ten_steps(context), "groups": groups(context.config)}
    return {**parts, **found, "resume": resume(context)}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's findings and the calculator's parameter groups."""
    keys = ("layers", "width", "vocabulary", "context")
    counted = values("parameter_groups", **{key: SETTINGS.config[key] for key in keys})
    return {**outputs[0], "groups_calculator": {key: counted[key] for key in COUNTS}}
