"""Gradient accumulation: micro-batch means weighted by their share are the whole batch.

Claim: a mean over 2 and a mean over 3 sequences of equal length, weighted 2/5 and 3/5, give the
gradient of one batch of 5 to rounding; weighted 1/2 and 1/2 they do not. The same holds for an MLP
in 4 micro-steps, for 2 DDP ranks with 2 of 4 sequences each, and for 2 and 3 valid tokens.

Result keys: `gpt.share_weights` and `gpt.equal_weights` (5 sequences of a tiny GPT as 2 + 3):
`weights`, `loss`, `max_abs_error`, `relative_error`, `cosine` (against the whole batch);
`gpt.whole_batch`: `loss`, `grad_norm`, `parameters`. `mlp.whole_batch`: `loss`, `grad_norm`;
`mlp.four_micro_steps`: `loss`, `max_abs_error`. `ddp.whole_batch`: `loss`, `grad_norm`;
`ddp.two_ranks`: `losses`, `mean_loss`, `max_abs_error`, `ranks_agree`. `ragged_tokens` (2 and 3
valid tokens in two micro-steps of the GPT): `valid_tokens`, `token_shares.max_abs_error`,
`equal_weights.max_abs_error`, `equal_weights.relative_error`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from experiments.claims import allclose, bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings

IGNORE_INDEX = -100

SETTINGS = Settings(
    config={"vocabulary": 17, "width": 16, "heads": 2, "layers": 2, "context": 8, "sequences": 5}
    | {"split": [2, 3], "mlp": [16, 32, 1], "mlp_samples": 4, "valid_tokens": [2, 3]},
    tolerances={
        "results": {"rtol": 1e-9, "atol": 1e-12},
        "results.gpt.share_weights.max_abs_error": {"rtol": 0.0, "atol": 1e-15},
    },
    quick=True,
)

CLAIMS = (
    allclose("shares_are_the_whole_batch", "gpt.share_weights.max_abs_error", 0.0, 1e-15),
    differs_by_at_least("equal_weights_are_not", "gpt.equal_weights.max_abs_error", 0.0, 1e-3),
    allclose("mlp_micro_steps_are_the_batch", "mlp.four_micro_steps.max_abs_error", 0.0, 1e-14),
    allclose("two_ranks_are_the_batch", "ddp.two_ranks.max_abs_error", 0.0, 1e-15),
    bitwise_equal("ranks_end_equal", "ddp.two_ranks.ranks_agree", True),
    allclose("token_shares_are_right", "ragged_tokens.token_shares.max_abs_error", 0.0, 1e-15),
    differs_by_at_least(
        "means_of_ragged_micro_steps_are_not",
        "ragged_tokens.equal_weights.max_abs_error",
        0.0,
        1e-3,
    ),
)


class Block(nn.Module):
    """Pre-LayerNorm attention and feed-forward."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ffn = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        parts = self.qkv(self.norm_1(x)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.ffn(self.norm_2(x))


class TinyGPT(nn.Module):
    """Tokens (B, T) -> logits (B, T, V)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        width = config["width"]
        self.token = nn.Embedding(config["vocabulary"], width)
        self.position = nn.Embedding(config["context"], width)
        blocks = [Block(width, config["heads"]) for _ in range(config["layers"])]
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config["vocabulary"], bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.token(tokens) + self.position(positions))))


def token_loss(model: nn.Module, tokens: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the valid labels."""
    logits = model(tokens).flatten(0, 1)
    return nn.functional.cross_entropy(logits, labels.flatten(), ignore_index=IGNORE_INDEX)


def flat_gradient(model: nn.Module) -> Tensor:
    """All gradients as one vector, in parameter order."""
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def accumulate(model: nn.Module, parts: list[tuple[Any, float]]) -> tuple[float, Tensor]:
    """Weighted sum of the parts' losses, and its gradient, one backward a part."""
    model.zero_grad()
    total = 0.0
    for loss_of_part, weight in parts:
        loss = weight * loss_of_part()
        loss.backward()
        total += loss.item()
    return total, flat_gradient(model)


def errors(gradient: Tensor, reference: Tensor) -> dict[str, float]:
    """How far a gradient is from the reference."""
    gap = gradient - reference
    cosine = nn.functional.cosine_similarity(gradient, reference, dim=0)
    return {
        "max_abs_error": gap.abs().max().item(),
        "relative_error": (gap.norm() / reference.norm()).item(),
        "cosine": cosine.item(),
    }


def gpt(model: nn.Module, tokens: Tensor, labels: Tensor, split: list[int]) -> dict[str, Any]:
    """Five sequences of equal length as 2 + 3, under both weightings."""
    whole_loss, whole = accumulate(model, [(lambda: token_loss(model, tokens, labels), 1.0)])
    parts = list(zip(tokens.split(split), labels.split(split), strict=True))
    found: dict[str, Any] = {
        "whole_batch": {
            "loss": whole_loss,
            "grad_norm": whole.norm().item(),
            "parameters": whole.numel(),
        }
    }
    shares = [size / sum(split) for size in split]
    for name, weights in (("share_weights", shares), ("equal_weights", [1 / len(split)] * 2)):
        pairs = [
            (lambda x=x, y=y: token_loss(model, x, y), weight)
            for (x, y), weight in zip(parts, weights, strict=True)
        ]
        loss, gradient = accumulate(model, pairs)
        found[name] = {"weights": weights, "loss": loss, **errors(gradient, whole)}
    return found


def ragged(model: nn.Module, tokens: Tensor, labels: Tensor, valid: list[int]) -> dict[str, Any]:
    """Two micro-steps with 2 and 3 valid tokens: shares of tokens against equal weights."""
    rows = torch.full_like(labels[:2], IGNORE_INDEX)
    for row, count in enumerate(valid):
        rows[row, -count:] = labels[row, -count:]
    batch = [(lambda: token_loss(model, tokens[:2], rows), 1.0)]
    _, whole = accumulate(model, batch)
    found: dict[str, Any] = {"valid_tokens": valid}
    shares = [count / sum(valid) for count in valid]
    for name, weights in (("token_shares", shares), ("equal_weights", [0.5, 0.5])):
        pairs = [
            (lambda i=i: token_loss(model, tokens[i : i + 1], rows[i : i + 1]), weights[i])
            for i in range(2)
        ]
        found[name] = errors(accumulate(model, pairs)[1], whole)
    return found


def mlp(context: Context) -> dict[str, Any]:
    """Four samples as one batch and as four micro-steps of one."""
    width, hidden, out = context.config["mlp"]
    layers = nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, out)
    model = nn.Sequential(*layers).to(context.device)
    generator = torch.Generator().manual_seed(context.seed + 1)
    count = context.config["mlp_samples"]
    x = torch.randn(count, width, generator=generator).to(context.device)
    y = torch.randn(count, out, generator=generator).to(context.device)

    def loss(rows: slice) -> Tensor:
        return nn.functional.mse_loss(model(x[rows]), y[rows])

    whole_loss, whole = accumulate(model, [(lambda: loss(slice(None)), 1.0)])
    pairs = [(lambda i=i: loss(slice(i, i + 1)), 1 / count) for i in range(count)]
    micro_loss, gradient = accumulate(model, pairs)
    return {
        "whole_batch": {"loss": whole_loss, "grad_norm": whole.norm().item()},
        "four_micro_steps": {"loss": micro_loss, **errors(gradient, whole)},
    }


def ddp(context: Context, model: nn.Module, tokens: Tensor, labels: Tensor) -> dict[str, Any]:
    """Four sequences in one backward, then two of them on each rank."""
    whole_loss, whole = accumulate(model, [(lambda: token_loss(model, tokens, labels), 1.0)])
    devices = [context.local_rank] if context.backend == "nccl" else None
    wrapped = DistributedDataParallel(model, device_ids=devices)
    size = len(tokens) // context.world_size
    own = slice(context.rank * size, (context.rank + 1) * size)
    loss, gradient = accumulate(
        wrapped, [(lambda: token_loss(wrapped, tokens[own], labels[own]), 1.0)]
    )
    return {
        "whole_batch": {"loss": whole_loss, "grad_norm": whole.norm().item()},
        "own": {"loss": loss, "checksum": gradient.sum().item(), **errors(gradient, whole)},
    }


def run(context: Context) -> dict[str, Any]:
    """Every comparison on this rank; only `ddp` needs the other rank."""
    config = context.config
    model = TinyGPT(config).to(context.device)
    generator = torch.Generator().manual_seed(context.seed)
    shape = (config["sequences"], config["context"] + 1)
    data = torch.randint(config["vocabulary"], shape, generator=generator).to(context.device)
    tokens, labels = data[:, :-1], data[:, 1:]
    return {
        "gpt": gpt(model, tokens, labels, config["split"]),
        "ragged_tokens": ragged(model, tokens, labels, config["valid_tokens"]),
        "mlp": mlp(context),
        "ddp": ddp(context, model, tokens[:4], labels[:4]),
    }


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's comparisons, and the two ranks of `ddp` side by side."""
    own = [output["ddp"]["own"] for output in outputs]
    losses = [entry["loss"] for entry in own]
    return {
        **{key: outputs[0][key] for key in ("gpt", "ragged_tokens", "mlp")},
        "ddp": {
            "whole_batch": outputs[0]["ddp"]["whole_batch"],
            "two_ranks": {
                "losses": losses,
                "mean_loss": sum(losses) / len(losses),
                "max_abs_error": max(entry["max_abs_error"] for entry in own),
                "ranks_agree": len({entry["checksum"] for entry in own}) == 1,
            },
        },
    }
