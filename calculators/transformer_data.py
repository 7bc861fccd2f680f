"""The recorded model for `transformer_ledger`: weights, AdamW state, windows, token texts.

Read from the records of language_model and transformer_update. In the page the build has cut the
tensors file in two, so that the optimizer's state is fetched only when it is asked for.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "experiments" / "records"
WEIGHTS = FOLDER / "language_model.gloo.safetensors"
STATE = FOLDER / "language_model.gloo.adamw.safetensors"
WINDOWS = FOLDER / "transformer_windows.json"
MODEL_RECORD = FOLDER / "language_model.gloo.json"
UPDATE_RECORD = FOLDER / "transformer_update.gloo.json"
PREFIX = "adamw."


def read_safetensors(path: Path) -> dict[str, Any]:
    """float32 tensors of a safetensors file, widened to float64: name -> array."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    body = memoryview(data)[8 + size :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        flat = np.frombuffer(body[start:end], dtype="<f4")
        tensors[name] = flat.astype(np.float64).reshape(entry["shape"])
    return tensors


@cache
def _all(path: Path) -> dict[str, Any]:
    return read_safetensors(path)


def missing(*, with_state: bool) -> list[str]:
    """Which of `weights`, `state`, `windows` this machine lacks: the page fetches them."""
    found = []
    if not WEIGHTS.exists():
        found.append("weights")
    elif with_state and not STATE.exists() and not _holds_state():
        found.append("state")
    if with_state and "weights" in found and not STATE.exists():
        found.append("state")
    if not WINDOWS.exists() and not UPDATE_RECORD.exists():
        found.append("windows")
    return found


def _holds_state() -> bool:
    return any(name.startswith(PREFIX) for name in _all(WEIGHTS))


@cache
def weights() -> dict[str, Any]:
    """The 28 tensors of the trained model by name, in alphabetical order, float64."""
    tensors = sorted(_all(WEIGHTS).items())
    return {name: tensor for name, tensor in tensors if not name.startswith(PREFIX)}


@cache
def moments() -> tuple[dict[str, Any], dict[str, Any]]:
    """m and v of AdamW after update 800, by tensor."""
    tensors = _all(STATE) if STATE.exists() else _all(WEIGHTS)
    m, v = (
        {name: tensors[f"{PREFIX}{kind}.{name}"] for name in weights()}
        for kind in ("exp_avg", "exp_avg_sq")
    )
    return m, v


@cache
def windows() -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """The four windows (token ids, each with the label that follows) and every token's text."""
    found = json.loads(WINDOWS.read_text("utf-8")) if WINDOWS.exists() else page_windows()
    return tuple(tuple(row) for row in found["windows"]), tuple(found["tokens"])


def page_windows() -> dict[str, Any]:
    """What the page needs of the two records: windows and token texts."""
    update = json.loads(UPDATE_RECORD.read_text("utf-8"))
    model = json.loads(MODEL_RECORD.read_text("utf-8"))
    return {
        "windows": update["results"]["windows"]["tokens"],
        "tokens": model["results"]["tokenizer"]["tokens"],
    }
