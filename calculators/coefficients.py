"""The coefficients of update_ledger: what each cell's gradient sum is multiplied by, and why.

mass: R rows of W_rk, the valid tokens of a cell or the sum of their weights. A coefficient is None
where the trainer or the objective divides by nothing.
"""

from __future__ import annotations

import math
from typing import Any

Grid = list[list[float | None]]


def correct_coefficients(objective: str, mass: list[list[Any]], total: float) -> Grid:
    """What each cell's gradient sum is multiplied by in the objective; None where undefined."""
    if objective == "token_mean":
        return [[1 / total for _ in row] for row in mass]
    cells = sum(w > 0 for row in mass for w in row)
    return [[1 / (cells * w) if w else None for w in row] for row in mass]


def effective_coefficients(
    mass: list[list[Any]], total: float, reduction: str, factors: tuple[str, ...], collective: str
) -> Grid:
    """What the trainer multiplies each cell's gradient sum by; None for a mean over nothing."""
    world_size, steps = len(mass), max(map(len, mass))
    constant = {"divide_by_grad_accum_steps": 1 / steps, "divide_by_world_size": 1 / world_size,
                "multiply_by_world_size": world_size,
                "divide_by_global_valid_tokens": 1 / total}  # fmt: skip
    common = math.prod(constant[f] for f in factors if f in constant)
    common /= world_size if collective == "average" else 1
    grid: Grid = []
    for row in mass:
        rank_total = math.fsum(row)
        by_rank = "divide_by_rank_valid_tokens" in factors
        times_cell = "multiply_by_micro_step_valid_tokens" in factors
        grid.append(
            [_cell(w, common, reduction, rank_total if by_rank else 1, times_cell) for w in row]
        )
    return grid


def _cell(
    w: float, common: float, reduction: str, divisor: float, times_cell: bool
) -> float | None:
    if (reduction == "mean" and w == 0) or divisor == 0:
        return None
    return common * (1 / w if reduction == "mean" else 1) / divisor * (w if times_cell else 1)


def update(mass: list[list[Any]], means: Any, coefficients: Grid) -> float:
    """sum_rk c_rk W_rk m_rk; a cell without a coefficient adds nothing."""
    cells = zip(mass, means, coefficients, strict=True)
    return math.fsum(
        c * w * mean for rows in cells for w, mean, c in zip(*rows, strict=True) if c is not None
    )


def is_defined(coefficients: Grid) -> bool:
    """Whether every cell has a coefficient; one undefined loss makes the whole update NaN."""
    return all(c is not None for row in coefficients for c in row)


def token_weights(counts: Any, mass: list[list[Any]], effective: Grid) -> Grid | None:
    """Share of the update that one token of each cell has; None for a cell without tokens."""
    if not is_defined(effective):
        return None
    pulls = [
        [c * w / n if n and c is not None else None for n, w, c in zip(*rows, strict=True)]
        for rows in zip(counts, mass, effective, strict=True)
    ]
    counted = zip(counts, pulls, strict=True)
    whole = math.fsum(n * p for rows in counted for n, p in zip(*rows, strict=True) if p)
    return [[None if p is None else p / whole for p in row] for row in pulls] if whole else None


def repair_factor(mass: list[list[Any]], correct: Grid, effective: Grid) -> float | None:
    """The one number that turns every effective coefficient into the correct one, if there is."""
    if not is_defined(effective):
        return None
    ratios = []
    for rows in zip(mass, correct, effective, strict=True):
        for w, c, e in zip(*rows, strict=True):
            if not w:
                continue
            if not e or c is None:
                return None
            ratios.append(c / e)
    if not all(math.isclose(ratio, ratios[0], rel_tol=1e-12) for ratio in ratios):
        return None
    near = round(ratios[0])
    return float(near) if math.isclose(ratios[0], near, rel_tol=1e-12) else ratios[0]
