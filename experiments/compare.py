"""Run an experiment again and compare it with its record, value by value.

Exact bits differ between processors: what counts is the record's tolerance for each path, and bit
equality is reported as information.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import registry
from experiments.claims import distance, same_bits, within
from experiments.errors import BadRequest, RunFailed
from experiments.record import FOLDER, ROOT, Record, RecordError, load, problems
from experiments.run import Finished, Request, execute

NON_FINITE = {"nan", "inf", "-inf"}


@dataclass(frozen=True)
class Comparison:
    """How a new run compares with a record whose every value is within tolerance."""

    name: str
    num_values: int
    num_machine_bits: int
    largest: float
    largest_at: str
    is_bit_equal: bool

    def sentence(self) -> str:
        """One line for the terminal."""
        if self.is_bit_equal:
            return f"{self.name}: bit-equal ({self.num_values} values)"
        left_out = f", {self.num_machine_bits} machine-dependent" if self.num_machine_bits else ""
        return (
            f"{self.name}: within tolerance ({self.num_values} values{left_out}; largest "
            f"difference {self.largest:.3g} at {self.largest_at or 'no number'})"
        )


def leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every leaf of a nested value with its path."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def tolerance_for(path: str, tolerances: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tolerance of the longest prefix that covers a path; exact when none does."""
    covering = [
        prefix
        for prefix in tolerances
        if path == prefix or path.startswith((f"{prefix}.", f"{prefix}["))
    ]
    return tolerances[max(covering, key=len)] if covering else {"rtol": 0.0, "atol": 0.0}


def as_number(value: Any) -> float | None:
    """The number a leaf stands for, or None for text, booleans and null."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) or value in NON_FINITE:
        return float(value)
    return None


def differs(old: Any, new: Any, tolerance: Mapping[str, Any]) -> bool:
    """Whether two leaves differ by more than a tolerance allows."""
    if tolerance.get("bits_of_this_machine"):
        return False
    left, right = as_number(new), as_number(old)
    if left is None or right is None:
        return not same_bits(old, new)
    return not within(left, right, tolerance["rtol"], tolerance["atol"])


def compare(record: Record, finished: Finished, folder: Path = FOLDER) -> Comparison:
    """Compare a new run with a record; RunFailed names the first value that differs."""
    old = dict(leaves(record.results, "results"))
    new = dict(leaves(finished.record.results, "results"))
    for path in [*old, *new]:
        if path not in old or path not in new:
            where = "the record" if path in old else "the new run"
            raise RunFailed(f"{record.name}: {path} is only in {where}; record it anew")
    largest, at, machine = 0.0, "", 0
    for path, value in old.items():
        tolerance = tolerance_for(path, record.tolerances)
        if differs(value, new[path], tolerance):
            raise RunFailed(
                f"{record.name}: {path} differs: recorded {value!r}, now {new[path]!r}, "
                f"tolerance {dict(tolerance)}"
            )
        machine += bool(tolerance.get("bits_of_this_machine"))
        left, right = as_number(value), as_number(new[path])
        if left is not None and right is not None and distance(left, right) > largest:
            largest, at = distance(left, right), path
    tensor_bits = _compare_tensors(record, finished, folder)
    bits = tensor_bits and same_bits(record.results, finished.record.results)
    return Comparison(record.name, len(old), machine, largest, at, bits)


def _compare_tensors(record: Record, finished: Finished, folder: Path) -> bool:
    if record.tensors is None and finished.tensors is None:
        return True
    if record.tensors is None or finished.tensors is None:
        raise RunFailed(f"{record.name}: tensors are kept by one of both runs; record it anew")
    import safetensors.torch

    old = safetensors.torch.load((folder / record.tensors["file"]).read_bytes())
    new = safetensors.torch.load(finished.tensors)
    if old.keys() != new.keys():
        odd = sorted(old.keys() ^ new.keys())[0]
        raise RunFailed(f"{record.name}: tensors.{odd} is kept by one of both runs")
    for name in sorted(old):
        _compare_tensor(f"tensors.{name}", old[name], new[name], record)
    finished_tensors = finished.record.tensors or {}
    return bool(finished_tensors.get("sha256") == record.tensors["sha256"])


def _compare_tensor(path: str, old: Any, new: Any, record: Record) -> None:
    import torch

    tolerance = tolerance_for(path, record.tolerances)
    if tolerance.get("bits_of_this_machine"):
        return
    bounds = {key: tolerance[key] for key in ("rtol", "atol")}
    if old.shape != new.shape or not torch.allclose(new, old, **bounds, equal_nan=True):
        size = (new - old).abs().max().item() if old.shape == new.shape else "another shape"
        raise RunFailed(f"{record.name}: {path} differs: largest {size}, tolerance {bounds}")


def chosen(names: list[str], every: bool, quick: bool, package: str) -> list[str]:
    """The experiments to verify: those named, all, or the quick ones."""
    known = registry.entries(package)
    for name in names:
        registry.check_name(name, package)
    if names or every:
        return names or list(known)
    if quick:
        return [name for name in known if registry.load(name, package).SETTINGS.quick]
    raise BadRequest("verify: name experiments, or give --all or --quick")


def verify(request: Request, folder: Path = FOLDER) -> Comparison:
    """Check a record's hashes, run its experiment again, and compare.

    Raises:
        BadRequest: there is no record of that backend, or it cannot be read.
        RunFailed: a hash does not match, the run fails, or a value differs.
    """
    path = registry.record_path(request.name, request.backend, folder)
    if not path.is_file():
        raise BadRequest(
            f"{path}: no such record; "
            f"`python -m experiments run {request.name} --backend {request.backend}` makes it"
        )
    try:
        record = load(path)
    except RecordError as error:
        raise BadRequest(str(error)) from error
    wrong = problems(record, ROOT, folder)
    if wrong:
        raise RunFailed(wrong[0])
    again = Request(**{**request.__dict__, "world_size": record.world_size})
    return compare(record, execute(again), folder)
