"""The model of `language_model` and `transformer_update`: a decoder-only transformer.

Pre-LayerNorm, vocabulary 387, width 96, 2 layers, 4 heads, FFN 384; biases in attention, FFN and
LayerNorm, a final LayerNorm, a separate output matrix without bias, sinusoidal positions: 298,176
parameters in 28 tensors. calculators/transformer_model.py writes the same function in numpy.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

VOCABULARY, WIDTH, LAYERS, HEADS, FFN = 387, 96, 2, 4, 384
CONTEXT = 96
NUM_PARAMETERS = 298_176
IGNORE_INDEX = -100
INITIAL_STD = 0.02


def positions(length: int, width: int) -> Tensor:
    """Sinusoidal positions (length, width): sines in the first half, cosines in the second."""
    rates = torch.exp(torch.arange(width // 2) * (-math.log(10000.0) / (width // 2)))
    angles = torch.arange(length)[:, None] * rates[None, :]
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)


class Block(nn.Module):
    """x + attention(norm(x)), then x + ffn(norm(x))."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.attention_output = nn.Linear(WIDTH, WIDTH)
        self.ffn_norm = nn.LayerNorm(WIDTH)
        self.ffn_in = nn.Linear(WIDTH, FFN)
        self.ffn_out = nn.Linear(FFN, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention_output(self.attend(self.attention_norm(x)))
        hidden = nn.functional.gelu(self.ffn_in(self.ffn_norm(x)), approximate="tanh")
        return x + self.ffn_out(hidden)

    def attend(self, x: Tensor) -> Tensor:
        """Causal self-attention of (B, T, C), before the output projection."""
        batch, length, _ = x.shape
        parts = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1)
        return (weights @ v).transpose(1, 2).reshape(batch, length, WIDTH)


class Transformer(nn.Module):
    """Token ids (B, T) to logits (B, T, V)."""

    positions: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.final_norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("positions", positions(CONTEXT, WIDTH), persistent=False)
        total = sum(parameter.numel() for parameter in self.parameters())
        if total != NUM_PARAMETERS:
            raise AssertionError(f"{total} parameters, expected {NUM_PARAMETERS}")

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.token_embedding(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.output(self.final_norm(x))
        return logits


def initialise(model: Transformer) -> None:
    """Normal matrices (std 0.02), unit LayerNorm weights, zero biases, from torch's global seed."""
    for parameter in model.parameters():
        if parameter.dim() >= 2:
            nn.init.normal_(parameter, std=INITIAL_STD)


def loss_sum(model: nn.Module, tokens: Tensor, labels: Tensor) -> Tensor:
    """Sum of the cross-entropy over labels other than IGNORE_INDEX: tokens, labels (B, T)."""
    logits = model(tokens).flatten(0, 1)
    return nn.functional.cross_entropy(
        logits, labels.flatten(), ignore_index=IGNORE_INDEX, reduction="sum"
    )


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """AdamW's groups: tensors of two or more dimensions are decayed, vectors are not."""
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
