"""BatchNorm sees the batch it is given: one batch, or the same values in micro-batches.

    y = (x - mean) / sqrt(variance + epsilon), mean and biased variance over the values it sees

values: (n,) one feature over n samples, n from 1 to 64, cut into `split` consecutive pieces as
equal as they can be. Source: torch.nn.BatchNorm1d in training mode, without the affine part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table
from calculators.specs import InputError


@dataclass(frozen=True)
class Inputs:
    """values: the feature; split: micro-batches; epsilon: added to the variance."""

    values: tuple[float, ...] = fields.vector(
        (1.0, 2.0, 3.0, 10.0), fields.real(-1e6, 1e6, slider=(-10, 20)), max_length=64
    )
    split: int = fields.integer(2, minimum=1, maximum=64, slider=(1, 8))
    epsilon: float = fields.number(
        1e-5, minimum=0, maximum=1e3, step=1e-6, slider=(1e-6, 1), logarithmic=True
    )

    def __post_init__(self) -> None:
        if self.split > len(self.values):
            raise InputError("split", "split_too_fine", came=self.split, total=len(self.values))


def compute(inputs: Inputs) -> Result:
    """Statistics and outputs of the whole batch and of the micro-batches."""
    x = np.array(inputs.values)
    pieces = np.array_split(x, inputs.split)
    full = normalised(x, inputs.epsilon)
    split = np.concatenate([normalised(piece, inputs.epsilon) for piece in pieces])
    defined = bool(np.isfinite(full).all() and np.isfinite(split).all())
    values: dict[str, Any] = {
        "full_mean": float(x.mean()),
        "full_variance": float(x.var()),
        "split_means": [float(piece.mean()) for piece in pieces],
        "split_variances": [float(piece.var()) for piece in pieces],
        "full_output": full if np.isfinite(full).all() else None,
        "split_output": split if np.isfinite(split).all() else None,
        "max_abs_difference": float(np.abs(full - split).max()) if defined else None,
    }
    metrics = (
        Metric("full_mean", values["full_mean"], "correct"),
        Metric("split_means", values["split_means"], "implemented"),
        Metric("max_abs_difference", values["max_abs_difference"]),
    )
    notices = () if defined else (Message("no_variance"),)
    owners = np.repeat(np.arange(len(pieces)), [piece.size for piece in pieces])
    outputs = [_or_blank(values[key], x.size) for key in ("full_output", "split_output")]
    table = Table(
        "values",
        (Column("sample"), Column("micro_batch"), Column("value"),
         Column("full_output", "correct"), Column("split_output", "implemented")),
        tuple(zip(range(x.size), owners.tolist(), x.tolist(), *outputs, strict=True)),
    )  # fmt: skip
    return Result(values, _verdict(inputs, values), notices, metrics, (table,))


def normalised(x: Any, epsilon: float) -> Any:
    """(x - mean) / sqrt(var + epsilon): (n,) -> (n,)."""
    return (x - x.mean()) / np.sqrt(x.var() + epsilon)


def _or_blank(output: Any, size: int) -> list[Any]:
    return [None] * size if output is None else list(output.tolist())


def _verdict(inputs: Inputs, values: dict[str, Any]) -> Message:
    difference = values["max_abs_difference"]
    if difference is None:
        return Message("undefined")
    if difference <= 1e-12:
        return Message("same")
    return Message("different", {"difference": difference, "split": inputs.split})
