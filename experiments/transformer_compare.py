"""How `transformer_update` measures two gradients or two updates against each other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Updates:
    """Loss and gradient of the first update, the parameters after it and after all (flat)."""

    loss: float
    grad: dict[str, Tensor]
    first: Tensor
    last: Tensor


def flat(tensors: Any) -> Tensor:
    """All elements in one vector."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def sha256(tensor: Tensor) -> str:
    """SHA-256 (hex) of a tensor's bytes."""
    return hashlib.sha256(tensor.cpu().numpy().tobytes()).hexdigest()


def cosine(left: Tensor, right: Tensor) -> float:
    """The cosine of the angle between two vectors, within [-1, 1]."""
    return max(-1.0, min(1.0, float(left @ right / (left.norm() * right.norm()))))


def compare_gradients(right: dict[str, Tensor], found: dict[str, Tensor]) -> dict[str, Any]:
    """Largest and relative error, cosine, the tensor that is furthest off, errors by decade."""
    a, b = flat(right.values()), flat(found.values())
    gaps = {name: float((found[name] - right[name]).norm() / right[name].norm()) for name in right}
    return {
        "max_abs_error": float((a - b).abs().max()),
        "relative_error": float((a - b).norm() / a.norm()),
        "cosine": cosine(a, b),
        "worst_tensor": max(gaps, key=lambda name: gaps[name]),
        "errors_by_decade": _by_decade((a - b).abs()),
    }


def _by_decade(errors: Tensor) -> list[list[int]]:
    """[d, how many errors lie in [10^d, 10^(d + 1))]; exact zeros are in no decade."""
    decades = errors[errors > 0].log10().floor().to(torch.int64)
    values, counts = decades.unique(return_counts=True)
    return [list(pair) for pair in zip(values.tolist(), counts.tolist(), strict=True)]


def compare_updates(before: Tensor, right: Updates, found: Updates) -> dict[str, Any]:
    """Errors of the first update from the parameters `before`, and the distance after all."""
    step, other = right.first - before, found.first - before
    total = right.last - before
    distance = float((found.last - right.last).norm())
    return {
        "max_abs_error": float((step - other).abs().max()),
        "update_relative_error": float((step - other).norm() / step.norm()),
        "update_cosine": cosine(step, other),
        "after_ten": {"distance": distance, "relative_distance": distance / float(total.norm())},
    }
