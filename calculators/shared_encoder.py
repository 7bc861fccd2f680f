"""Two encoders shared by all ranks: what their gradients are before and after DDP averages them.

Rank i holds pair i: q_i = w_q a_i, d_i = w_d b_i, logits s_ij = q_i d_j / tau, p_ij = softmax_j.
Rank i returns its own query's loss l_i = -log p_ii, without 1/n. Then, on rank i,

    d l_i / d w_q             = sum_j (p_ij - [i = j]) d_j a_i / tau
    d / d w_d, gathered       = sum_k (p_ki - [k = i]) q_k b_i / tau     (every query's pull on d_i)
    d / d w_d, detached       = (p_ii - 1) q_i b_i / tau                 (its own query's pull only)

and DistributedDataParallel averages both over the n ranks, which supplies the 1/n of the mean loss.
a, b: (n,) scalars, n from 2 to 16. Source: arXiv:1807.03748; torch's DistributedDataParallel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table
from calculators.infonce import SCHEMES, probabilities, row_losses


@dataclass(frozen=True)
class Inputs:
    """a, b: the two sides of each rank's pair; w_q, w_d: the shared weights."""

    a: tuple[float, ...] = fields.vector(
        (1.0, 2.0), fields.real(-100, 100, slider=(-4, 4)), min_length=2
    )
    b: tuple[float, ...] = fields.vector(
        (1.0, -1.0), fields.real(-100, 100, slider=(-4, 4)), min_length=2, like="a"
    )
    w_q: float = fields.number(1.0, minimum=-100, maximum=100, slider=(-3, 3))
    w_d: float = fields.number(1.0, minimum=-100, maximum=100, slider=(-3, 3))
    temperature: float = fields.number(
        1.0, minimum=1e-3, maximum=1e3, step=0.01, slider=(0.05, 5), logarithmic=True
    )
    learning_rate: float = fields.number(0.1, minimum=0, maximum=1e3, step=0.01, slider=(0, 1))
    scheme: str = fields.choice("differentiable_gather", SCHEMES)


def compute(inputs: Inputs) -> Result:
    """Gradients of both weights per rank, after DDP, and those of one process."""
    losses, grad_q, grad_d = rank_gradients(inputs, inputs.scheme)
    _, reference_q, reference_d = rank_gradients(inputs, "differentiable_gather")
    after = {"w_q": float(grad_q.mean()), "w_d": float(grad_d.mean())}
    reference = {"w_q": float(reference_q.mean()), "w_d": float(reference_d.mean())}
    values = {
        "local_losses": losses,
        "before_ddp_w_q": grad_q,
        "before_ddp_w_d": grad_d,
        "after_ddp_w_q": after["w_q"],
        "after_ddp_w_d": after["w_d"],
        "reference_w_q": reference["w_q"],
        "reference_w_d": reference["w_d"],
        "w_q_next": inputs.w_q - inputs.learning_rate * after["w_q"],
        "w_d_next": inputs.w_d - inputs.learning_rate * after["w_d"],
    }
    return _shown(values, _verdict(inputs, after, reference))


def rank_gradients(inputs: Inputs, scheme: str) -> tuple[Any, Any, Any]:
    """Local losses and gradients of w_q and w_d on each rank before DDP: three (n,) arrays."""
    a, b = np.array(inputs.a), np.array(inputs.b)
    q, d = inputs.w_q * a, inputs.w_d * b
    n = a.size
    own = np.eye(n, dtype=bool)
    candidates = own if scheme == "local_pairs_only" else np.ones_like(own)
    logits = np.outer(q, d) / inputs.temperature
    p = probabilities(logits, candidates)
    pull = (p - own) / inputs.temperature
    grad_q = (pull @ d) * a
    sent = pull * q[:, None]
    kept = sent * own if scheme == "detached_remote" else sent
    return row_losses(logits, candidates), grad_q, kept.sum(axis=0) * b


def _verdict(inputs: Inputs, after: dict[str, float], reference: dict[str, float]) -> Message:
    if inputs.scheme == "local_pairs_only":
        return Message("no_negatives", {"w_q": reference["w_q"], "w_d": reference["w_d"]})
    agrees = np.allclose(
        [after["w_q"], after["w_d"]], [reference["w_q"], reference["w_d"]], rtol=1e-12, atol=1e-15
    )
    if agrees:
        return Message("same")
    params = {"after": after["w_d"], "reference": reference["w_d"]}
    return Message("document_tower_differs", params)


def _shown(values: dict[str, Any], verdict: Message) -> Result:
    ranks = range(len(values["local_losses"]))
    columns = (ranks, values["local_losses"].tolist(), values["before_ddp_w_q"].tolist(),
               values["before_ddp_w_d"].tolist())  # fmt: skip
    before = Table(
        "before_ddp",
        (Column("rank"), Column("loss"), Column("w_q"), Column("w_d")),
        tuple(zip(*columns, strict=True)),
    )
    after = Table(
        "after_ddp",
        (Column("weight"), Column("reference", "correct"), Column("after", "implemented"),
         Column("next")),
        tuple((Message(w), values[f"reference_{w}"], values[f"after_ddp_{w}"], values[f"{w}_next"])
              for w in ("w_q", "w_d")),
    )  # fmt: skip
    metrics = (
        Metric("reference_w_d", values["reference_w_d"], "correct"),
        Metric("after_ddp_w_d", values["after_ddp_w_d"], "implemented"),
        Metric("reference_w_q", values["reference_w_q"], "correct"),
        Metric("after_ddp_w_q", values["after_ddp_w_q"], "implemented"),
    )
    return Result(values, verdict, (), metrics, (before, after))
