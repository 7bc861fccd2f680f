"""A small language model, trained on this book's prose by two data-parallel ranks.

Claim: after 800 AdamW updates of 16 windows each the held-out loss is lower than at the start,
and both ranks hold the same bits. Its weights and optimizer state are where `transformer_update`
starts.

Result keys: `num_parameters`, `num_tensors`, `tokens` {`train`, `held_out`}, `losses` (training
loss of every 20th update, from update 0), `held_out_loss` {`before`, `after`}, `steps`,
`ranks_agree` (every tensor), `parameters_sha256` (per rank, over the names and bytes of all
tensors), `tokenizer` {`merges`, `tokens` (text of every token id)}, `sample` (text that the trained
model writes, greedily, after `prompt`), `prompt`. Tensors (float32, exact when widened): NAME,
`adamw.exp_avg.NAME`, `adamw.exp_avg_sq.NAME`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from experiments import corpus
from experiments.claims import bitwise_equal, differs_by_at_least
from experiments.harness import Context, Settings
from experiments.transformer import (
    CONTEXT,
    Transformer,
    initialise,
    loss_sum,
    parameter_groups,
)

SETTINGS = Settings(
    config={
        "updates": 800,
        "windows_per_rank": 8,
        "learning_rate": 2e-3,
        "warmup_updates": 40,
        "betas": [0.9, 0.95],
        "epsilon": 1e-8,
        "weight_decay": 0.1,
        "prompt": "The gradient of ",
    },
    dtype="float32",
    seed=11,
    files=("experiments/transformer.py", "experiments/corpus.py", "experiments/data/corpus.txt"),
    tolerances={
        # 800 float32 updates amplify the last bits of a processor: what must repeat is the
        # training, not its digits.
        "results": {"rtol": 0.05, "atol": 0.05},
        "results.parameters_sha256": {"bits_of_this_machine": True},
        "results.sample": {"bits_of_this_machine": True},
        "tensors": {"bits_of_this_machine": True},
    },
)

CLAIMS = (
    bitwise_equal("the_model_has_298176_parameters", "num_parameters", 298_176),
    bitwise_equal("ranks_end_equal", "ranks_agree", True),
    bitwise_equal("every_update_was_made", "steps", 800),
    differs_by_at_least("training_lowers_the_held_out_loss", "held_out_loss.after",
                        "held_out_loss.before", 2.0),
)  # fmt: skip


def batch(ids: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """Windows of CONTEXT tokens at `starts` and the labels that follow: two (B, T)."""
    index = starts[:, None] + torch.arange(CONTEXT + 1)
    rows = ids[index]
    return rows[:, :-1], rows[:, 1:]


def held_out_loss(model: Transformer, ids: Tensor) -> float:
    """Mean loss over the held-out text, cut into whole windows."""
    starts = torch.arange(0, len(ids) - CONTEXT - 1, CONTEXT)
    with torch.no_grad():
        total = loss_sum(model, *batch(ids, starts))
    return float(total) / (len(starts) * CONTEXT)


def train(context: Context, model: Transformer, ids: Tensor) -> tuple[Any, list[float]]:
    """The updates of this rank; returns its optimizer and the losses of every 20th update."""
    config = context.config
    devices = [context.local_rank] if context.backend == "nccl" else None
    parallel = DistributedDataParallel(model, device_ids=devices)
    optimizer = torch.optim.AdamW(
        parameter_groups(model, config["weight_decay"]),
        lr=config["learning_rate"], betas=tuple(config["betas"]), eps=config["epsilon"],
    )  # fmt: skip
    draw = torch.Generator().manual_seed(context.seed)
    each, losses = config["windows_per_rank"], []
    for update in range(config["updates"]):
        rate = config["learning_rate"] * min(1.0, (update + 1) / config["warmup_updates"])
        for group in optimizer.param_groups:
            group["lr"] = rate
        high = len(ids) - CONTEXT - 1
        starts = torch.randint(high, (each * context.world_size,), generator=draw)
        own = starts[context.rank * each : (context.rank + 1) * each]
        tokens, labels = (part.to(context.device) for part in batch(ids, own))
        # Every window has CONTEXT labels, so the mean of the ranks' means is the token mean.
        loss = loss_sum(parallel, tokens, labels) / (each * CONTEXT)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 20 == 0:
            losses.append(loss.item())
        context.progress(update + 1, config["updates"], f"loss {loss.item():.3f}")
    return optimizer, losses


def parameters_sha256(model: Transformer) -> str:
    """SHA-256 over the name and bytes of every tensor, in order."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(name.encode() + parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def write_on(model: Transformer, tokenizer: Any, prompt: str, length: int = 60) -> str:
    """The prompt and the model's greedy continuation."""
    ids = list(tokenizer.encode(prompt).ids)
    device = next(model.parameters()).device
    with torch.no_grad():
        for _ in range(length):
            logits = model(torch.tensor([ids[-CONTEXT:]], device=device))
            ids.append(int(logits[0, -1].argmax()))
    return str(tokenizer.decode(ids))


def keep(context: Context, model: Transformer, optimizer: torch.optim.AdamW) -> None:
    """Put the weights and both moments of every tensor into the record's tensors file."""
    for name, parameter in model.named_parameters():
        context.keep(name, parameter)
        for moment in ("exp_avg", "exp_avg_sq"):
            context.keep(f"adamw.{moment}.{name}", optimizer.state[parameter][moment])


def run(context: Context) -> dict[str, Any]:
    """Train on this rank; rank 0 keeps the tensors."""
    text = corpus.CORPUS.read_text("utf-8")
    tokenizer = corpus.train_tokenizer(text)
    ids, held_out = map(torch.tensor, corpus.tokens(tokenizer, text))
    model = Transformer().to(context.device)
    initialise(model)
    before = held_out_loss(model, held_out)
    optimizer, losses = train(context, model, ids)
    if context.rank == 0:
        keep(context, model, optimizer)
    steps = {int(state["step"]) for state in optimizer.state.values()}
    return {
        "num_parameters": sum(p.numel() for p in model.parameters()),
        "num_tensors": len(list(model.parameters())),
        "tokens": {"train": len(ids), "held_out": len(held_out)},
        "losses": losses,
        "held_out_loss": {"before": before, "after": held_out_loss(model, held_out)},
        "steps": steps.pop() if len(steps) == 1 else None,
        "parameters_sha256": parameters_sha256(model),
        "tokenizer": vocabulary(tokenizer),
        "prompt": context.config["prompt"],
        "sample": write_on(model, tokenizer, context.config["prompt"]),
    }


def vocabulary(tokenizer: Any) -> dict[str, Any]:
    """The merges in order and the text of every token id (bytes alone are shown as <0xNN>)."""
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    texts = []
    for index in range(tokenizer.get_vocab_size()):
        text = tokenizer.decode([index], skip_special_tokens=False)
        texts.append(tokenizer.id_to_token(index) if "\ufffd" in text or not text else text)
    return {"merges": merges, "tokens": texts}


def report(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Rank 0's results, the mean of the ranks' losses, and whether they end equal."""
    hashes = [output["parameters_sha256"] for output in outputs]
    by_update = zip(*(output["losses"] for output in outputs), strict=True)
    return {
        **outputs[0],
        "losses": [sum(losses) / len(losses) for losses in by_update],
        "parameters_sha256": hashes,
        "ranks_agree": len(set(hashes)) == 1,
    }
