"""A GPT's tensors by dimension: which AdamW decays, and what its state costs in memory.

Tensors of two or more dimensions are decayed, vectors are not (a convention of GPT-style training).
Per layer: qkv (3E x E), attention output (E x E), FFN in (4E x E), FFN out (E x 4E), two LayerNorm
weights; with `bias` also four biases (3E, E, 4E, E) and two LayerNorm biases. Plus token table
(V x E), position table (C x E), final LayerNorm, and an output matrix (V x E) unless it is tied.
Source: the public GPT-2 124M layout.
"""

from __future__ import annotations

from dataclasses import dataclass

from calculators import fields
from calculators.contract import Column, Message, Metric, Result, Table


@dataclass(frozen=True)
class Inputs:
    """layers, width E, vocabulary V, context C; tied: output matrix is the token table."""

    layers: int = fields.integer(12, minimum=1, maximum=1000, slider=(1, 96))
    width: int = fields.integer(768, minimum=1, maximum=10**5, slider=(64, 8192), step=64)
    vocabulary: int = fields.integer(50304, minimum=1, maximum=10**7, slider=(256, 200000))
    context: int = fields.integer(1024, minimum=1, maximum=10**7, slider=(128, 32768), step=128)
    tied: bool = fields.flag(True)
    bias: bool = fields.flag(True)
    bytes_per_value: int = fields.integer(4, minimum=1, maximum=16, slider=(1, 8), unit="B")


def compute(inputs: Inputs) -> Result:
    """Counts of tensors and parameters in both groups, and the bytes of a training state."""
    tensors = model_tensors(inputs)
    decayed = [(count, size) for _, count, size, dims in tensors if dims >= 2]
    undecayed = [(count, size) for _, count, size, dims in tensors if dims < 2]
    total = sum(count * size for count, size in decayed + undecayed)
    one = total * inputs.bytes_per_value
    table_size = inputs.vocabulary * inputs.width
    values = {
        "decayed_tensors": sum(count for count, _ in decayed),
        "decayed_parameters": sum(count * size for count, size in decayed),
        "undecayed_tensors": sum(count for count, _ in undecayed),
        "undecayed_parameters": sum(count * size for count, size in undecayed),
        "total_parameters": total,
        "tied_counted_twice": total + table_size if inputs.tied else total,
        "bytes": {"parameters": one, "gradients": one, "m": one, "v": one},
    }
    metrics = tuple(
        Metric(key, values[key], role)
        for key, role in (
            ("total_parameters", "correct"), ("tied_counted_twice", "implemented"),
            ("decayed_parameters", "neutral"), ("undecayed_parameters", "neutral"),
        )
    )  # fmt: skip
    rows = tuple(
        (
            Message(name),
            count,
            size,
            count * size,
            Message("decayed" if dims >= 2 else "not_decayed"),
        )
        for name, count, size, dims in tensors
    )
    columns = tuple(Column(key) for key in ("tensor", "count", "size", "parameters", "group"))
    state = Table(
        "bytes",
        (Column("part"), Column("bytes")),
        (*((Message(part), one) for part in ("parameters", "gradients", "m", "v")),
         (Message("sum"), 4 * one)),
    )  # fmt: skip
    tables = (Table("tensors", columns, rows), state)
    return Result(values, _verdict(inputs, values, table_size, 4 * one), (), metrics, tables)


def model_tensors(inputs: Inputs) -> list[tuple[str, int, int, int]]:
    """(kind, how many, values in each, dimensions) of every kind of tensor."""
    layers, width = inputs.layers, inputs.width
    tensors = [
        ("token_table", 1, inputs.vocabulary * width, 2),
        ("position_table", 1, inputs.context * width, 2),
        ("qkv", layers, 3 * width * width, 2),
        ("attention_output", layers, width * width, 2),
        ("ffn_in", layers, 4 * width * width, 2),
        ("ffn_out", layers, 4 * width * width, 2),
        ("norm_weight", 2 * layers + 1, width, 1),
    ]
    if not inputs.tied:
        tensors.append(("output_matrix", 1, inputs.vocabulary * width, 2))
    if inputs.bias:
        tensors += [
            ("norm_bias", 2 * layers + 1, width, 1),
            ("qkv_bias", layers, 3 * width, 1),
            ("width_bias", 2 * layers, width, 1),
            ("ffn_bias", layers, 4 * width, 1),
        ]
    return tensors


def _verdict(inputs: Inputs, values: dict[str, object], table_size: int, state: int) -> Message:
    params = {"total": values["total_parameters"], "state": state, "twice": table_size}
    return Message("tied" if inputs.tied else "untied", params)
