"""InfoNCE over pairs that live on several ranks: which gradient each document keeps.

Dot-product similarity without normalisation, positives on the diagonal, loss averaged over the n
queries (van den Oord et al., arXiv:1807.03748, in one direction):

    s_ij = q_i d_j / tau,   p_ij = softmax_j s_ij,   L = (1/n) sum_i -log p_ii
    contribution of query i to document j:   (p_ij - [i = j]) q_i / (tau n)

A gather without gradient keeps, for document j, only the contributions of queries on its own rank.
queries, documents: (n,) scalars, n from 2 to 16; owners: (n,) rank of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Axis, Column, Mark, Message, Metric, Plot, Result, Table

SCHEMES = ("differentiable_gather", "detached_remote", "local_pairs_only")


@dataclass(frozen=True)
class Inputs:
    """queries q_i and documents d_i of pair i, its owner rank, the temperature tau."""

    queries: tuple[float, ...] = fields.vector(
        (1.0, 2.0), fields.real(-1e3, 1e3, slider=(-4, 4)), min_length=2
    )
    documents: tuple[float, ...] = fields.vector(
        (1.0, -1.0), fields.real(-1e3, 1e3, slider=(-4, 4)), min_length=2, like="queries"
    )
    owners: tuple[int, ...] = fields.vector(
        (0, 1), fields.whole(0, 15, slider=(0, 3)), min_length=2, like="queries"
    )
    temperature: float = fields.number(
        1.0, minimum=1e-3, maximum=1e3, step=0.01, slider=(0.05, 5), logarithmic=True
    )
    scheme: str = fields.choice("differentiable_gather", SCHEMES)


def compute(inputs: Inputs) -> Result:
    """Loss and document gradients of the scheme beside those over all pairs."""
    q = np.array(inputs.queries, dtype=float)
    d = np.array(inputs.documents, dtype=float)
    owner = np.array(inputs.owners)
    same_rank = owner[:, None] == owner[None, :]
    everywhere = np.ones_like(same_rank)
    logits = np.outer(q, d) / inputs.temperature
    full = contributions(probabilities(logits, everywhere), q, inputs.temperature)
    candidates = same_rank if inputs.scheme == "local_pairs_only" else everywhere
    p = probabilities(logits, candidates)
    sent = contributions(p, q, inputs.temperature)
    kept = sent * same_rank if inputs.scheme == "detached_remote" else sent
    kept_gradient, full_gradient = kept.sum(axis=0), full.sum(axis=0)
    difference = np.abs(kept_gradient - full_gradient)
    values = {
        "logits": logits,
        "probabilities": p,
        "loss": float(row_losses(logits, candidates).mean()),
        "reference_loss": float(row_losses(logits, everywhere).mean()),
        "contributions": kept,
        "kept_gradient": kept_gradient,
        "full_gradient": full_gradient,
        "max_abs_difference": float(difference.max()),
    }
    notices = (Message("single_rank"),) if same_rank.all() else ()
    return _shown(inputs, values, notices)


def _shifted(logits: Any, candidates: Any) -> Any:
    """Logits with non-candidates at -inf and each row's largest at 0: exp cannot overflow."""
    masked = np.where(candidates, logits, -np.inf)
    return masked - masked.max(axis=1, keepdims=True)


def probabilities(logits: Any, candidates: Any) -> Any:
    """p (n, n): the softmax of each row over its candidates (n, n bool)."""
    weights = np.exp(_shifted(logits, candidates))
    return weights / weights.sum(axis=1, keepdims=True)


def row_losses(logits: Any, candidates: Any) -> Any:
    """-log p_ii of each query, from the log-sum-exp over its candidates: (n,)."""
    shifted = _shifted(logits, candidates)
    return np.log(np.exp(shifted).sum(axis=1)) - np.diag(shifted)


def contributions(p: Any, q: Any, temperature: float) -> Any:
    """d loss / d document j through query i: (n, n), the 1/n of the mean included."""
    n = q.size
    return (p - np.eye(n)) * q[:, None] / (temperature * n)


def _verdict(inputs: Inputs, values: dict[str, Any]) -> Message:
    kept, full = values["kept_gradient"], values["full_gradient"]
    j = int(np.argmax(np.abs(kept - full)))
    agrees = bool(np.allclose(kept, full, rtol=1e-12, atol=1e-15))
    if inputs.scheme == "local_pairs_only" and not agrees:
        if len(set(inputs.owners)) == len(inputs.owners):
            return Message("no_negatives")
        return Message(
            "other_loss", {"loss": values["loss"], "reference": values["reference_loss"]}
        )
    if not agrees:
        params = {"document": j, "kept": float(kept[j]), "full": float(full[j])}
        return Message("same_loss_other_gradient", params)
    return Message("same_loss_same_gradient" if inputs.scheme == "detached_remote" else "same")


def _shown(inputs: Inputs, values: dict[str, Any], notices: tuple[Message, ...]) -> Result:
    kept, full = values["kept_gradient"], values["full_gradient"]
    documents = Table(
        "documents",
        (Column("document"), Column("owner"), Column("full_gradient", "correct"),
         Column("kept_gradient", "implemented"), Column("difference")),
        tuple(zip(range(kept.size), inputs.owners, full.tolist(), kept.tolist(),
                  (kept - full).tolist(), strict=True)),
    )  # fmt: skip
    each = range(kept.size)
    p, sent = values["probabilities"].tolist(), values["contributions"].tolist()
    heads = [Column("query")]
    heads += [Column("probability", params={"j": j}) for j in each]
    heads += [Column("contribution", params={"j": j}) for j in each]
    matrix = Table("contributions", tuple(heads), tuple((i, *p[i], *sent[i]) for i in each))
    metrics = (
        Metric("reference_loss", values["reference_loss"], "correct"),
        Metric("loss", values["loss"], "implemented"),
        Metric("max_abs_difference", values["max_abs_difference"]),
    )
    tables = (documents, matrix)
    return Result(values, _verdict(inputs, values), notices, metrics, tables, (_plot(kept, full),))


def _plot(kept: Any, full: Any) -> Plot:
    """Both gradients of every document: where they fall on one point, nothing was lost."""
    marks = (
        Mark("dot", "full_gradient", list(enumerate(full.tolist())), "correct"),
        Mark("dot", "kept_gradient", list(enumerate(kept.tolist())), "implemented"),
    )
    axis = Axis("linear", (-0.5, kept.size - 0.5))
    alt = {"difference": float(np.abs(kept - full).max())}
    return Plot("gradients", marks, axis, Axis(), alt, height=180)
