"""A decoder-only transformer in numpy, forward and backward written out by hand.

Pre-LayerNorm, width E = 96, H = 4 heads, FFN 384, two layers, sinusoidal positions, V = 387; the
same function as experiments/transformer.py computes in torch. One window at a time: tokens (T,).
Matrices are stored as torch stores them, (outputs, inputs), so a linear layer is x W^T + b.

    x   = token[t] + position
    x  += A(LN(x)) W_o^T + b_o          A: softmax(q k^T / sqrt(E / H), causal) v, per head
    x  += gelu(LN(x) W_1^T + b_1) W_2^T + b_2
    logits = LN(x) W_out^T

`loss_and_gradient` returns the sum of -log p over the supervised suffix and its gradient in all 28
tensors. Every backward function takes the gradient of its output and returns that of its inputs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

HEADS = 4
EPSILON = 1e-5  # of LayerNorm, as in torch
GELU = math.sqrt(2 / math.pi)
Parameters = dict[str, Any]


def positions(length: int, width: int) -> Any:
    """Sinusoidal positions (T, E): sines in the first half, cosines in the second."""
    rates = np.exp(np.arange(width // 2) * (-math.log(10000.0) / (width // 2)))
    angles = np.arange(length)[:, None] * rates[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def layer_norm(x: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axis, and what backward needs."""
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    normal = centred * scale
    return normal * weight + bias, (normal, scale, weight)


def layer_norm_backward(grad: Any, saved: Any) -> tuple[Any, Any, Any]:
    """Gradients of x, weight and bias."""
    normal, scale, weight = saved
    inner = grad * weight
    mean = inner.mean(axis=-1, keepdims=True)
    along = (inner * normal).mean(axis=-1, keepdims=True)
    return (inner - mean - normal * along) * scale, (grad * normal).sum(0), grad.sum(0)


def gelu(x: Any) -> tuple[Any, Any]:
    """x / 2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its derivative."""
    tanh = np.tanh(GELU * (x + 0.044715 * x**3))
    slope = GELU * (1 + 3 * 0.044715 * x**2) * (1 - tanh**2)
    return 0.5 * x * (1 + tanh), 0.5 * (1 + tanh) + 0.5 * x * slope


def softmax(scores: Any) -> Any:
    """exp(s) / sum exp(s) over the last axis."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def split_heads(x: Any) -> Any:
    """(T, E) -> (H, T, E/H)."""
    return x.reshape(x.shape[0], HEADS, -1).transpose(1, 0, 2)


def join_heads(x: Any) -> Any:
    """(H, T, E/H) -> (T, E)."""
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)


def attention(qkv: Any) -> tuple[Any, Any]:
    """Causal self-attention of the joint projection (T, 3E), before the output matrix."""
    q, k, v = (split_heads(part) for part in np.split(qkv, 3, axis=1))
    length = qkv.shape[0]
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    p = softmax(np.where(np.triu(np.ones((length, length), dtype=bool), 1), -np.inf, scores))
    return join_heads(p @ v), (q, k, v, p)


def attention_backward(grad: Any, saved: Any) -> Any:
    """Gradient of the joint projection."""
    q, k, v, p = saved
    out = split_heads(grad)
    grad_p = out @ v.transpose(0, 2, 1)
    grad_scores = p * (grad_p - (grad_p * p).sum(axis=-1, keepdims=True)) / math.sqrt(q.shape[-1])
    parts = (grad_scores @ k, grad_scores.transpose(0, 2, 1) @ q, p.transpose(0, 2, 1) @ out)
    return np.concatenate([join_heads(part) for part in parts], axis=1)


def forward(parameters: Parameters, tokens: Any) -> tuple[Any, Any]:
    """Logits (T, V) of one window, and what `backward` needs."""
    table = parameters["token_embedding.weight"]
    x = table[tokens] + positions(len(tokens), table.shape[1])
    saved: list[Any] = []
    layers = sum(name.endswith(".qkv.weight") for name in parameters)
    for layer in range(layers):
        x, kept = block_forward(parameters, f"blocks.{layer}.", x)
        saved.append(kept)
    normal, kept = layer_norm(x, *_pair(parameters, "final_norm"))
    return normal @ parameters["output.weight"].T, (tokens, saved, kept, normal)


def _pair(parameters: Parameters, name: str) -> tuple[Any, Any]:
    return parameters[f"{name}.weight"], parameters[f"{name}.bias"]


def _linear(parameters: Parameters, name: str, x: Any) -> Any:
    weight, bias = _pair(parameters, name)
    return x @ weight.T + bias


def block_forward(parameters: Parameters, prefix: str, x: Any) -> tuple[Any, Any]:
    """One block on (T, E)."""
    a, norm_a = layer_norm(x, *_pair(parameters, prefix + "attention_norm"))
    mixed, heads = attention(_linear(parameters, prefix + "qkv", a))
    x = x + _linear(parameters, prefix + "attention_output", mixed)
    f, norm_f = layer_norm(x, *_pair(parameters, prefix + "ffn_norm"))
    hidden, slope = gelu(_linear(parameters, prefix + "ffn_in", f))
    x = x + _linear(parameters, prefix + "ffn_out", hidden)
    return x, (a, norm_a, mixed, heads, f, norm_f, hidden, slope)


def _linear_backward(
    parameters: Parameters, gradient: Parameters, name: str, x: Any, grad: Any
) -> Any:
    """Store the gradients of a linear layer's weight and bias; return that of its input."""
    gradient[f"{name}.weight"] = grad.T @ x
    gradient[f"{name}.bias"] = grad.sum(0)
    return grad @ parameters[f"{name}.weight"]


def _norm_backward(gradient: Parameters, name: str, grad: Any, saved: Any) -> Any:
    grad_x, gradient[f"{name}.weight"], gradient[f"{name}.bias"] = layer_norm_backward(grad, saved)
    return grad_x


def block_backward(
    parameters: Parameters, gradient: Parameters, prefix: str, grad: Any, saved: Any
) -> Any:
    """Gradient of a block's input; those of its tensors go into `gradient`."""
    a, norm_a, mixed, heads, f, norm_f, hidden, slope = saved
    back = _linear_backward(parameters, gradient, prefix + "ffn_out", hidden, grad) * slope
    back = _linear_backward(parameters, gradient, prefix + "ffn_in", f, back)
    grad = grad + _norm_backward(gradient, prefix + "ffn_norm", back, norm_f)
    back = _linear_backward(parameters, gradient, prefix + "attention_output", mixed, grad)
    back = attention_backward(back, heads)
    back = _linear_backward(parameters, gradient, prefix + "qkv", a, back)
    return grad + _norm_backward(gradient, prefix + "attention_norm", back, norm_a)


def backward(parameters: Parameters, saved: Any, grad_logits: Any) -> Parameters:
    """The gradient of every tensor from that of the logits (T, V)."""
    tokens, blocks, final, normal = saved
    gradient: Parameters = {"output.weight": grad_logits.T @ normal}
    grad = _norm_backward(gradient, "final_norm", grad_logits @ parameters["output.weight"], final)
    for layer in reversed(range(len(blocks))):
        grad = block_backward(parameters, gradient, f"blocks.{layer}.", grad, blocks[layer])
    table = np.zeros_like(parameters["token_embedding.weight"])
    np.add.at(table, tokens, grad)  # a token that occurs twice adds twice
    gradient["token_embedding.weight"] = table
    return {name: gradient[name] for name in parameters}


def loss_and_gradient(parameters: Parameters, row: Any, suffix: int) -> tuple[float, Parameters]:
    """Sum of -log p over the last `suffix` labels of a window (T + 1 tokens), and its gradient."""
    tokens, labels = np.asarray(row[:-1]), np.asarray(row[1:])
    logits, saved = forward(parameters, tokens)
    p = softmax(logits)
    supervised = np.arange(len(tokens)) >= len(tokens) - suffix
    at = np.arange(len(tokens)), labels
    top = logits.max(axis=-1)
    log_sum = top + np.log(np.exp(logits - top[:, None]).sum(axis=-1))
    loss = float((log_sum - logits[at])[supervised].sum())
    p[at] -= 1
    return loss, backward(parameters, saved, p * supervised[:, None])
