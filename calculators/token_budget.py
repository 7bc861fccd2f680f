"""Tokens per update: B x T x K x R, and the number of micro-steps K that a budget asks for.

    tokens_per_forward = B T R        K = tokens_per_update / (B T R), an integer or an error

B = micro_batch_size (sequences), T = sequence_length (tokens), R = world_size, all counts per rank
except the budget, which is global.
"""

from __future__ import annotations

from dataclasses import dataclass

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table


@dataclass(frozen=True)
class Inputs:
    """micro_batch_size B, sequence_length T, world_size R, tokens_per_update the budget."""

    micro_batch_size: int = fields.integer(64, minimum=1, maximum=10**6, slider=(1, 128))
    sequence_length: int = fields.integer(
        1024, minimum=1, maximum=10**7, slider=(64, 8192), step=64
    )
    world_size: int = fields.integer(8, minimum=1, maximum=10**6, slider=(1, 64))
    tokens_per_update: int = fields.integer(
        524288, minimum=1, maximum=10**12, slider=(8192, 4194304), step=8192, unit="tokens"
    )


def compute(inputs: Inputs) -> Result:
    """Micro-steps per update, or the two nearest budgets that divide."""
    forward = inputs.micro_batch_size * inputs.sequence_length * inputs.world_size
    steps, rest = divmod(inputs.tokens_per_update, forward)
    lower = steps * forward
    below = max(lower, forward)  # a budget of 0 tokens is no budget
    nearest = [below, below + forward] if rest else [lower]
    values = {
        "tokens_per_forward": forward,
        "grad_accum_steps": None if rest else steps,
        "tokens_per_update_exact": None if rest else steps * forward,
        "nearest_budgets": nearest,
    }
    notices: tuple[Message, ...] = ()
    params = {"forward": forward, "budget": inputs.tokens_per_update, "steps": steps,
              "nearest": nearest}  # fmt: skip
    if rest:
        notices = (Message("budget_not_divisible", params),)
    metrics = (
        Metric("grad_accum_steps", values["grad_accum_steps"], "correct"),
        Metric("tokens_per_forward", forward),
        Metric("tokens_per_update_exact", values["tokens_per_update_exact"]),
    )
    names = ("micro_batch_size", "sequence_length", "world_size")
    rows = [(Message(name), getattr(inputs, name)) for name in names]
    rows.append((Message("grad_accum_steps"), values["grad_accum_steps"]))
    rows.append((Message("product"), values["tokens_per_update_exact"]))
    table = Table("factors", (Column("factor"), Column("value")), tuple(rows))
    verdict = Message("not_divisible" if rest else "divides", params)
    return Result(values, verdict, notices, metrics, (table,))
