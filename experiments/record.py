"""The record of a run: one JSON file whose hash covers every field, beside the tensors it keeps.

Reading and checking need `rfc8785` and the standard library only, so that the site is built
without torch. Numbers that JSON lacks are the strings "nan", "inf" and "-inf".
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import rfc8785

from experiments.errors import RunFailed

SCHEMA = 1
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "experiments" / "records"
HEX = re.compile(r"[0-9a-f]{64}")


class RecordError(ValueError):
    """A record file that cannot be used; the message starts with its path."""


@dataclass(frozen=True)
class Record:
    """One run. `record_sha256` is the SHA-256 of the canonical JSON of all the other fields."""

    schema: int
    experiment: str
    backend: str
    world_size: int
    dtype: str
    seed: int
    command: str
    environment: dict[str, Any]
    sources: dict[str, str]
    tolerances: dict[str, Any]
    config: dict[str, Any]
    results: dict[str, Any]
    ranks: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    tensors: dict[str, Any] | None
    recorded_at: str
    record_sha256: str

    @property
    def name(self) -> str:
        """`NAME.BACKEND`, as pages and file names spell it."""
        return f"{self.experiment}.{self.backend}"

    def body(self) -> dict[str, Any]:
        """Every field that the hash covers."""
        return {key: value for key, value in asdict(self).items() if key != "record_sha256"}

    def lookup(self, path: str) -> Any:
        """The value at `results.a.b[0]`; KeyError names the first part that is missing."""
        return lookup({**self.body(), "record_sha256": self.record_sha256}, path)


def lookup(value: Any, path: str) -> Any:
    """The value under a dotted path with `[index]` for lists; KeyError says what is missing."""
    walked = ""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[int(index)] if index else value[key]
        except (KeyError, IndexError, TypeError):
            there = ", ".join(map(str, value)) if isinstance(value, Mapping) else repr(value)[:80]
            raise KeyError(
                f"{path}: no {index or key} under {walked or 'the record'} (it holds: {there})"
            ) from None
        walked = f"{walked}[{index}]" if index else f"{walked}.{key}".lstrip(".")
    return value


def plain(value: Any) -> Any:
    """The value as JSON can hold it: tuples become lists, non-finite numbers strings."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in a record")


def canonical(value: Any) -> bytes:
    """Canonical JSON (RFC 8785)."""
    return rfc8785.dumps(value)


def sha256(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of a value."""
    return hashlib.sha256(canonical(value)).hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def seal(body: Mapping[str, Any]) -> Record:
    """The record of a body: its values made plain and its hash added."""
    clean = plain(body)
    return Record(**clean, record_sha256=sha256(clean))


def renewal_command(record: Record) -> str:
    """The command that writes this record anew."""
    return f"python -m experiments run {record.experiment} --backend {record.backend}"


def _reject_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON; a record spells it as a string")


def _expected(kind: str) -> type | tuple[type, ...]:
    name = kind.split("[")[0].strip()
    types: dict[str, type] = {"int": int, "str": str, "dict": dict, "list": list}
    return (types[name], type(None)) if "None" in kind else types[name]


def load(path: Path) -> Record:
    """Read a record.

    RecordError for a file that cannot be read, is not JSON, or has other fields or types.
    The hashes are checked by `problems`.
    """
    try:
        data = json.loads(path.read_text("utf-8"), parse_constant=_reject_constant)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RecordError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(data, dict):
        raise RecordError(f"{path}: holds a {type(data).__name__}, a record is an object")
    declared = {field.name: str(field.type) for field in fields(Record)}
    for key in declared:
        if key not in data:
            raise RecordError(f"{path}: field {key} is missing; write the record anew")
    for key, value in data.items():
        if key not in declared:
            raise RecordError(f"{path}: field {key} is unknown; write the record anew")
        if not isinstance(value, _expected(declared[key])) or isinstance(value, bool):
            raise RecordError(f"{path}: field {key} is {value!r:.60}, expected {declared[key]}")
    if data["schema"] != SCHEMA:
        raise RecordError(f"{path}: schema is {data['schema']}, this code reads {SCHEMA}")
    return Record(**data)


def problems(record: Record, root: Path = ROOT, folder: Path | None = None) -> list[str]:
    """What is wrong with a record, one sentence each; empty when it can be trusted.

    Args:
        record: what `load` returned.
        root: the checkout that `sources` are relative to.
        folder: where the tensors file lies; `root`/experiments/records when absent.
    """
    found = []
    actual = sha256(record.body())
    if actual != record.record_sha256:
        found.append(
            f"{record.name}: the body hashes to {actual[:12]}…, record_sha256 is "
            f"{record.record_sha256[:12]}…: the file was changed after the run; restore it or run "
            f"`{renewal_command(record)}`"
        )
    found += _stale_sources(record, root)
    if record.tensors is not None:
        at = folder or root / "experiments" / "records"
        found += _tensor_problems(record, record.tensors, at)
    return found


def _stale_sources(record: Record, root: Path) -> list[str]:
    found = []
    for name, recorded in record.sources.items():
        path = root / name
        now = file_sha256(path) if path.is_file() else "no such file"
        if now != recorded:
            found.append(
                f"{record.name}: stale: {name} is {now[:12]}, the run used {recorded[:12]}; run "
                f"`{renewal_command(record)}`"
            )
    return found


def _tensor_problems(record: Record, tensors: Mapping[str, Any], folder: Path) -> list[str]:
    path = folder / str(tensors.get("file"))
    now = file_sha256(path) if path.is_file() else "no such file"
    if now == tensors.get("sha256"):
        return []
    recorded = str(tensors.get("sha256"))
    return [
        f"{record.name}: tensors: {path.name} is {now[:12]}, the run wrote {recorded[:12]}; "
        f"restore it or run `{renewal_command(record)}`"
    ]


def pretty(value: Any, indent: int = 0) -> str:
    """JSON with one short list per line, so that a change of one number is a small diff."""
    pad = " " * (indent + 1)
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or not value:
        return flat
    if isinstance(value, list):
        if len(flat) + indent <= 96:
            return flat
        items = [pad + pretty(item, indent + 1) for item in value]
        return "[\n" + ",\n".join(items) + "\n" + " " * indent + "]"
    items = [
        f"{pad}{json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + 1)}"
        for key, item in value.items()
    ]
    return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"


def write(record: Record, folder: Path = FOLDER, tensors: bytes | None = None) -> Path:
    """Write a record (and its tensors file) whole or not at all.

    Each file is written beside its place, flushed to disk, and renamed only when both are
    complete. RunFailed says what the system refused; the old record stays.
    """
    path = folder / f"{record.name}.json"
    contents = {path: (pretty(asdict(record)) + "\n").encode()}
    if tensors is not None:
        contents = {folder / f"{record.name}.safetensors": tensors, **contents}
    staged: dict[Path, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target, data in contents.items():
            _stage(target, data, staged)
        for target in contents:
            staged[target].replace(target)
    except OSError as error:
        raise RunFailed(
            f"{path}: cannot be written ({error.strerror or error}); nothing was written, an old "
            "record stays; make room or choose another --out"
        ) from error
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
    return path


def _stage(target: Path, data: bytes, staged: dict[Path, Path]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    staged[target] = Path(name)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    staged[target].chmod(0o644)
