"""The recorded transformer for the page: the record's tensors cut in two, and its windows.

The page fetches the weights when its calculator is first used, and the optimizer's state (twice as
large) only when that is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from calculators import transformer_data
from pipeline.code import RECORDS
from pipeline.prune import touch
from pipeline.repack import compressed

PLACES = {
    "weights": f"{RECORDS}/{transformer_data.WEIGHTS.name}",
    "state": f"{RECORDS}/{transformer_data.STATE.name}",
    "windows": f"{RECORDS}/{transformer_data.WINDOWS.name}",
}


def data_files(cache: Path) -> dict[str, tuple[bytes, dict[str, bytes]]]:
    """Each data file by its name, with its compressed forms; none without the two records."""
    paths = (
        transformer_data.WEIGHTS,
        transformer_data.MODEL_RECORD,
        transformer_data.UPDATE_RECORD,
    )
    if not all(path.is_file() for path in paths):
        return {}
    data = transformer_data.WEIGHTS.read_bytes()
    windows = json.dumps(transformer_data.page_windows(), ensure_ascii=False, sort_keys=True)
    bodies = {
        "weights": cut(data, lambda name: not name.startswith(transformer_data.PREFIX)),
        "state": cut(data, lambda name: name.startswith(transformer_data.PREFIX)),
        "windows": windows.encode(),
    }
    return {name: (body, _variants(body, cache)) for name, body in bodies.items()}


def cut(data: bytes, is_wanted: Callable[[str], bool]) -> bytes:
    """A safetensors file with the wanted tensors of another: same header form, offsets anew."""
    size = int.from_bytes(data[:8], "little")
    header: Mapping[str, Any] = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    kept: dict[str, Any] = {}
    pieces: list[bytes] = []
    position = 0
    for name in sorted(name for name in header if name != "__metadata__" and is_wanted(name)):
        start, end = header[name]["data_offsets"]
        pieces.append(body[start:end])
        kept[name] = {**header[name], "data_offsets": [position, position + end - start]}
        position += end - start
    text = json.dumps(kept, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # tensors start at a multiple of 8
    return len(text).to_bytes(8, "little") + text + b"".join(pieces)


def _variants(body: bytes, cache: Path) -> dict[str, bytes]:
    """The compressed forms, kept by content: brotli at its best takes seconds."""
    folder = cache / "model" / hashlib.sha256(body).hexdigest()
    touch(folder)
    names = ("br", "gz")
    if not all((folder / name).is_file() for name in names):
        _keep(folder, compressed(body).items())
    return {name: (folder / name).read_bytes() for name in names}


def _keep(folder: Path, forms: Iterable[tuple[str, bytes]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in forms:
        fresh = folder / f"{name}.part"
        fresh.write_bytes(data)
        fresh.replace(folder / name)
