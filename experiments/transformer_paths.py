"""The paths of `transformer_update`: one gradient by four splits, two optimizers, ten updates.

A path is a function that leaves the gradient of one update in the model. The whole batch is the
reference of each. Windows are padded to one length with labels IGNORE_INDEX, which touches no other
position: attention is causal and padding stands at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import safetensors.torch
import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from experiments import corpus
from experiments.harness import Context
from experiments.transformer import IGNORE_INDEX, Transformer, loss_sum, parameter_groups
from experiments.transformer_compare import (
    Updates,
    compare_gradients,
    compare_updates,
    flat,
    sha256,
)

START = corpus.ROOT / "experiments" / "records" / "language_model.gloo.safetensors"
STEPS = 800
RIGHT = ("accumulation_by_tokens", "ddp_tokens")
PATHS = ("accumulation_by_tokens", "micro_step_means", "ddp_default", "ddp_tokens")


@dataclass(frozen=True)
class Start:
    """The trained weights and AdamW state (float64), and the four windows."""

    weights: dict[str, Tensor]
    moments: dict[str, tuple[Tensor, Tensor]]
    steps: int
    rows: list[list[int]]
    texts: list[str]


def load_start(context: Context) -> Start:
    """Read the record of language_model, widened to float64, and cut the windows."""
    tensors = {
        name: tensor.to(context.device, context.dtype)
        for name, tensor in safetensors.torch.load(START.read_bytes()).items()
    }
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith("adamw.")}
    moments = {
        name: (tensors[f"adamw.exp_avg.{name}"], tensors[f"adamw.exp_avg_sq.{name}"])
        for name in weights
    }
    text = corpus.CORPUS.read_text("utf-8")
    tokenizer = corpus.train_tokenizer(text)
    rows = corpus.windows(corpus.tokens(tokenizer, text)[1])
    return Start(weights, moments, STEPS, rows, [tokenizer.decode(row) for row in rows])


def new_model(context: Context, start: Start) -> Transformer:
    """A model with the trained weights."""
    model = Transformer()
    model.load_state_dict(start.weights)
    model.to(context.device)
    return model


def new_optimizer(context: Context, start: Start, model: Transformer, kind: str) -> Any:
    """SGD with fresh state, or AdamW with the state of update 800."""
    config = context.config
    if kind == "sgd":
        return torch.optim.SGD(model.parameters(), lr=config["sgd_learning_rate"])
    optimizer = torch.optim.AdamW(
        parameter_groups(model, config["weight_decay"]),
        lr=config["adamw_learning_rate"], betas=tuple(config["betas"]), eps=config["epsilon"],
    )  # fmt: skip
    for name, parameter in model.named_parameters():
        m, v = start.moments[name]
        optimizer.state[parameter] = {
            "step": torch.tensor(float(start.steps)),
            "exp_avg": m.clone(),
            "exp_avg_sq": v.clone(),
        }
    return optimizer


@dataclass(frozen=True)
class Batch:
    """tokens, labels (4, T) padded to one length; counts: supervised labels of each window."""

    tokens: Tensor
    labels: Tensor
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """N: the supervised labels of all windows."""
        return sum(self.counts)


def make_batch(context: Context, start: Start, suffixes: list[int]) -> Batch:
    """The four windows; the last `suffixes[i]` labels of window i are supervised."""
    longest = max(len(row) for row in start.rows) - 1
    tokens = torch.zeros(len(start.rows), longest, dtype=torch.long)
    labels = torch.full_like(tokens, IGNORE_INDEX)
    for i, (row, suffix) in enumerate(zip(start.rows, suffixes, strict=True)):
        length = len(row) - 1
        tokens[i, :length] = torch.tensor(row[:-1])
        supervised = slice(length - suffix, length)
        labels[i, supervised] = torch.tensor(row[1:])[supervised]
    counts = tuple(suffixes)
    return Batch(tokens.to(context.device), labels.to(context.device), counts)


Path = Callable[[Context, Any, Batch], float]


def whole_batch(_context: Context, model: Any, batch: Batch) -> float:
    """The reference: one process, one backward of sum / N."""
    loss = loss_sum(model, batch.tokens, batch.labels) / batch.total
    loss.backward()
    value: float = loss.item()
    return value


def accumulation_by_tokens(_context: Context, model: Any, batch: Batch) -> float:
    """One window after another, each sum divided by the N of all four."""
    total = 0.0
    for i in range(len(batch.counts)):
        loss = loss_sum(model, batch.tokens[i : i + 1], batch.labels[i : i + 1]) / batch.total
        loss.backward()
        total += loss.item()
    return total


def micro_step_means(_context: Context, model: Any, batch: Batch) -> float:
    """One window after another, each its own mean, divided by the number of windows."""
    total = 0.0
    for i, count in enumerate(batch.counts):
        # max(count, 1): a window without labels adds a zero instead of 0/0
        part = loss_sum(model, batch.tokens[i : i + 1], batch.labels[i : i + 1]) / max(count, 1)
        loss = part / len(batch.counts)
        loss.backward()
        total += loss.item()
    return total


def _own(context: Context, batch: Batch) -> tuple[slice, int]:
    each = len(batch.counts) // context.world_size
    own = slice(context.rank * each, (context.rank + 1) * each)
    return own, sum(batch.counts[own])


def ddp_default(context: Context, model: Any, batch: Batch) -> float:
    """Each rank its mean over its own labels; DDP averages."""
    own, count = _own(context, batch)
    loss = loss_sum(model, batch.tokens[own], batch.labels[own]) / max(count, 1)
    loss.backward()
    value: float = loss.item()
    return value


def ddp_tokens(context: Context, model: Any, batch: Batch) -> float:
    """Each rank its sum times P / N, in two micro-steps; DDP averages at the second."""
    own, _ = _own(context, batch)
    factor = context.world_size / batch.total
    value = 0.0
    for i in range(own.start, own.stop):
        with model.no_sync() if i < own.stop - 1 else torch.enable_grad():
            loss = loss_sum(model, batch.tokens[i : i + 1], batch.labels[i : i + 1]) * factor
            loss.backward()
        value += loss.item()
    return value


FUNCTIONS: dict[str, Path] = {
    "whole_batch": whole_batch,
    "accumulation_by_tokens": accumulation_by_tokens,
    "micro_step_means": micro_step_means,
    "ddp_default": ddp_default,
    "ddp_tokens": ddp_tokens,
}


def run_path(context: Context, start: Start, path: str, kind: str, batch: Batch) -> Updates:
    """`updates` updates on the same batch by one path and one optimizer."""
    model = new_model(context, start)
    optimizer = new_optimizer(context, start, model, kind)
    devices = [context.local_rank] if context.backend == "nccl" else None
    parallel: Any = model
    if path.startswith("ddp"):
        parallel = DistributedDataParallel(model, device_ids=devices)
    loss, grad, first = 0.0, {}, torch.empty(0)
    for update in range(context.config["updates"]):
        optimizer.zero_grad()
        value = FUNCTIONS[path](context, parallel, batch)
        if update == 0:
            loss = value
            grad = {name: p.grad.clone() for name, p in model.named_parameters()
                    if p.grad is not None}  # fmt: skip
        optimizer.step()
        if update == 0:
            first = flat(model.parameters())
    return Updates(loss, grad, first, flat(model.parameters()))


def compare_paths(context: Context, start: Start, suffixes: list[int]) -> dict[str, Any]:
    """Every path against the whole batch, for both optimizers."""
    batch = make_batch(context, start, suffixes)
    kinds = ("sgd", "adamw")
    whole = {kind: run_path(context, start, "whole_batch", kind, batch) for kind in kinds}
    reference = whole["sgd"]
    found: dict[str, Any] = {
        "suffixes": suffixes,
        "global_valid_tokens": batch.total,
        "loss": reference.loss,
        "grad_norm": float(flat(reference.grad.values()).norm()),
    }
    before = flat(start.weights[name] for name in reference.grad)
    for path in PATHS:
        runs = {kind: run_path(context, start, path, kind, batch) for kind in kinds}
        found[path] = {
            "loss": runs["sgd"].loss,
            "grad": compare_gradients(reference.grad, runs["sgd"].grad),
            **{kind: compare_updates(before, whole[kind], runs[kind]) for kind in kinds},
            "parameters_sha256": [sha256(runs[kind].last) for kind in kinds],
        }
    return found


def all_empty(context: Context, start: Start) -> dict[str, Any]:
    """No label anywhere: a skip of the update against a step on a zero loss."""
    batch = make_batch(context, start, [0, 0, 0, 0])
    before = flat(start.weights.values())
    found: dict[str, Any] = {}
    for name, kind in (("skip", "adamw"), ("sgd_zero_loss", "sgd"), ("adamw_zero_loss", "adamw")):
        model = new_model(context, start)
        optimizer = new_optimizer(context, start, model, kind)
        loss = loss_sum(model, batch.tokens, batch.labels)  # a sum over nothing: zero
        loss.backward()
        if name != "skip":
            optimizer.step()
        after = flat(model.state_dict()[key] for key in start.weights)
        entry = {
            "loss": loss.item(),
            "changed_parameters": int((after != before).sum()),
            "distance": float((after - before).norm()),
        }
        if kind == "adamw":
            entry["adamw_steps"] = int(next(iter(optimizer.state.values()))["step"])
        found[name] = entry
    model = new_model(context, start)
    logits = model(batch.tokens).flatten(0, 1)
    mean = torch.nn.functional.cross_entropy(logits, batch.labels.flatten())
    found["default_loss"] = {"loss": mean.item()}
    return found
