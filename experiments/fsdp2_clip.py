"""The sharded clipping case through FSDP2: `fully_shard` and torch's `clip_grad_norm_`."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from experiments.harness import Context

REFUSALS = (RuntimeError, NotImplementedError, ValueError, TypeError)


def with_fsdp2(context: Context) -> dict[str, Any]:
    """The gradients 3 and 4 of a fully sharded module, clipped by torch; or why it refuses."""
    mesh = init_device_mesh(context.device.type, (context.world_size,))
    try:
        module = fully_shard(nn.Linear(1, 2, bias=False, device=context.device), mesh=mesh)
        backward(module, context)
        shard = module.weight.grad.to_local()
        local_norm = shard.norm().item()
        norm = nn.utils.clip_grad_norm_(module.parameters(), context.config["max_norm"])
        applied = module.weight.grad.to_local().flatten().tolist()
    except REFUSALS as error:
        return {"fsdp2": {"reason": first_line(error)}, "fsdp2_mixed": {"reason": "not tried"}}
    found = {"norm": norm.full_tensor().item(), "local_norm": local_norm, "applied": applied}
    return {"fsdp2": found, "fsdp2_mixed": mixed(module, context)}


def backward(module: nn.Module, context: Context) -> None:
    """Give the two weights the unscaled gradients of the sharded case."""
    rows = context.config["cases"]["sharded"]["scaled_gradients"]
    targets = context.tensor([[row[0] / context.config["scale"] for row in rows]])
    (module(context.tensor([[1.0]])) * targets).sum().backward()


def mixed(module: nn.Module, context: Context) -> dict[str, Any]:
    """Clip a sharded and a plain replicated parameter together, as torch allows or refuses."""
    module.zero_grad()
    backward(module, context)
    replica = nn.Parameter(context.tensor([0.0]))
    replica.grad = context.tensor([12.0])
    try:
        norm = nn.utils.clip_grad_norm_([*module.parameters(), replica], context.config["max_norm"])
    except REFUSALS as error:
        return {"reason": first_line(error)}
    return {"norm": float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)}


def first_line(error: Exception) -> str:
    """What torch said, without its stack."""
    return f"{type(error).__name__}: {error}".partition("\n")[0][:160]


def one_process(context: Context) -> dict[str, Any]:
    """The same gradients in one process, clipped by torch."""
    module = nn.Linear(1, 2, bias=False, device=context.device)
    backward(module, context)
    norm = nn.utils.clip_grad_norm_(module.parameters(), context.config["max_norm"])
    return {"norm": norm.item(), "applied": module.weight.grad.tolist()}
