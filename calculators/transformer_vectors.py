"""The recorded transformer's gradients and updates as vectors of 298,176 numbers.

A scheme is a weighted sum of the windows' gradients, so each window's is computed once and kept.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calculators import transformer_data
from calculators.transformer_model import forward, loss_and_gradient, softmax

ROUNDING = 1e-12  # processors differ below it
BETAS, EPSILON, WEIGHT_DECAY, STEPS_BEFORE = (0.9, 0.95), 1e-8, 0.1, 800


@lru_cache(maxsize=16)
def window_gradient(window: int, suffix: int) -> tuple[float, Any]:
    """Loss sum of a window's last `suffix` labels and its gradient as one vector (298176,)."""
    rows, _ = transformer_data.windows()
    parameters = transformer_data.weights()
    if suffix == 0:
        return 0.0, np.zeros(sum(tensor.size for tensor in parameters.values()))
    loss, gradient = loss_and_gradient(parameters, rows[window], suffix)
    return loss, np.concatenate([tensor.ravel() for tensor in gradient.values()])


@lru_cache(maxsize=1)
def slices() -> dict[str, slice]:
    """Where each tensor lies in the vector."""
    found, start = {}, 0
    for name, tensor in transformer_data.weights().items():
        found[name] = slice(start, start + tensor.size)
        start += tensor.size
    return found


def adamw_update(g: Any, rate: float) -> Any:
    """What AdamW adds to the parameters, from the state of update 800: (298176,)."""
    t = STEPS_BEFORE + 1
    theta, m, v, decay = optimizer_state()
    m = BETAS[0] * m + (1 - BETAS[0]) * g
    v = BETAS[1] * v + (1 - BETAS[1]) * g * g
    m_hat, v_hat = m / (1 - BETAS[0] ** t), v / (1 - BETAS[1] ** t)
    return -rate * WEIGHT_DECAY * decay * theta - rate * m_hat / (np.sqrt(v_hat) + EPSILON)


@lru_cache(maxsize=1)
def optimizer_state() -> tuple[Any, Any, Any, Any]:
    """theta, m, v and the decay mask (1 for tensors of two dimensions), as vectors."""
    weights = transformer_data.weights()
    m, v = transformer_data.moments()
    flat = [np.concatenate([t.ravel() for t in part.values()]) for part in (weights, m, v)]
    decay = np.concatenate([np.full(t.size, float(t.ndim >= 2)) for t in weights.values()])
    return flat[0], flat[1], flat[2], decay


def next_tokens(
    window: int, position: int, step: Any, other: Any, count: int
) -> list[dict[str, Any]]:
    """The `count` likeliest next tokens at a position, before and after either update."""
    rows, texts = transformer_data.windows()
    context = rows[window][: position + 1]
    weights = transformer_data.weights()
    columns = []
    for change in (np.zeros_like(step), step, other):
        moved = {
            name: tensor + change[part].reshape(tensor.shape)
            for (name, tensor), part in zip(weights.items(), slices().values(), strict=True)
        }
        columns.append(softmax(forward(moved, np.array(context))[0][-1]))
    before, right, used = columns
    order = np.argsort(-np.maximum(np.maximum(before, right), used), kind="stable")
    actual = rows[window][position + 1]
    return [
        {"token": texts[i], "is_actual": bool(i == actual), "before": float(before[i]),
         "correct": float(right[i]), "implemented": float(used[i])}
        for i in order[:count].tolist()
    ]  # fmt: skip


def tensor_gaps(g: Any, h: Any) -> dict[str, float]:
    """Relative distance of the two gradients, tensor by tensor."""
    return {name: distance(h[part], g[part]) for name, part in slices().items()}


def norm(x: Any) -> float:
    """Euclidean norm of a vector."""
    return float(np.sqrt(x @ x))


def cosine(x: Any, y: Any) -> float:
    """Cosine of the angle between two vectors; 1 when one of them is zero."""
    size = norm(x) * norm(y)
    return max(-1.0, min(1.0, float(x @ y) / size)) if size else 1.0


def distance(found: Any, right: Any) -> float:
    """|found - right| / |right|; what is mere rounding counts as no distance."""
    relative = norm(found - right) / max(norm(right), 1e-300)
    return relative if relative > ROUNDING else 0.0


def angle_degrees(x: Any, y: Any) -> float:
    """Angle between two vectors; one that rounding alone would give counts as none."""
    gap = 1 - cosine(x, y)
    return math.degrees(math.acos(1 - gap)) if gap > ROUNDING else 0.0
