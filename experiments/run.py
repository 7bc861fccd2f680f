"""One experiment, from its ranks to its record."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from experiments import claims, registry
from experiments.environment import VARIABLES, describe
from experiments.errors import BadRequest, RunFailed
from experiments.record import FOLDER, ROOT, SCHEMA, Record, file_sha256, plain, seal, write


@dataclass(frozen=True)
class Request:
    """What the command line asks for; `world_size` 0 is the experiment's own."""

    name: str
    backend: str = "gloo"
    world_size: int = 0
    timeout: float = 60.0
    port: int = 0
    package: str = "experiments"


@dataclass(frozen=True)
class Finished:
    """A record that is not yet written, and the bytes of its tensors file."""

    record: Record
    tensors: bytes | None


def is_joining() -> bool:
    """Whether another launcher (torchrun) started this process as one rank."""
    return all(key in os.environ for key in ("RANK", "WORLD_SIZE", "MASTER_ADDR"))


def resolve_world_size(request: Request, allowed: tuple[int, ...]) -> int:
    """The world size of a run; BadRequest for one that the experiment is not made for."""
    size = request.world_size or allowed[0]
    if size not in allowed:
        sizes = ", ".join(map(str, allowed))
        raise BadRequest(
            f"{request.name}: --world-size {size}: this experiment runs at world size {sizes}"
        )
    return size


def _checked(request: Request, module: ModuleType) -> int:
    from experiments.harness import require_devices

    size = resolve_world_size(request, module.SETTINGS.world_sizes)
    if request.timeout <= 0:
        raise BadRequest(f"--timeout {request.timeout:g}: must be more than 0 seconds")
    require_devices(request.backend, size)
    return size


def execute(request: Request) -> Finished:
    """Run every rank on this machine and return the record of it, unwritten.

    Raises:
        BadRequest: an unknown name, no torch, too few devices, a world size it is not made for.
        RunFailed: a rank died or hung, or a claim does not hold.
    """
    module = registry.load(request.name, request.package)
    size = _checked(request, module)
    from experiments.harness import Job
    from experiments.launch import launch

    job = Job(module.__name__, 0, size, 0, request.backend, request.timeout)
    with ProgressBar(request.name) as bar:
        outputs = launch(job, bar.show, request.port)
    return assemble(request, module, size, outputs)


def run(request: Request, folder: Path = FOLDER) -> Path:
    """Run an experiment and write its record; nothing is written unless every rank finished."""
    finished = execute(request)
    return write(finished.record, folder, finished.tensors)


def join(request: Request, folder: Path = FOLDER) -> Path | None:
    """Be one rank of a group that torchrun started; rank 0 writes the record.

    Returns:
        The record's path on rank 0, None on the others.
    """
    os.environ.update(VARIABLES)
    module = registry.load(request.name, request.package)
    from experiments import harness

    size, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
    if request.world_size not in (0, size):
        raise BadRequest(
            f"--world-size {request.world_size}: the group has {size} ranks; leave it out"
        )
    request = Request(**{**request.__dict__, "world_size": size})
    _check_group(request, module)
    local = int(os.environ.get("LOCAL_RANK", rank))
    job = harness.Job(module.__name__, rank, size, local, request.backend, request.timeout)
    try:
        store = harness.connect(job)
    except Exception as error:
        raise BadRequest(_no_store(error)) from error
    try:
        with ProgressBar(request.name) as bar:
            harness.run_rank(job, module, store, bar.show)
    except Exception as error:
        raise RunFailed(
            f"rank {rank} of {size} failed: {type(error).__name__}: {error}".partition("\n")[0]
            + "; nothing was written"
        ) from error
    return _conclude(request, module, job, store, folder)


def _check_group(request: Request, module: ModuleType) -> None:
    from experiments.harness import require_devices

    resolve_world_size(request, module.SETTINGS.world_sizes)
    require_devices(request.backend, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def _no_store(error: Exception) -> str:
    address = f"{os.environ['MASTER_ADDR']}:{os.environ.get('MASTER_PORT', '')}"
    if "EADDRINUSE" in str(error):
        return f"MASTER_PORT: {address} is taken; choose another port"
    reason = str(error).partition("\n")[0]
    return f"the group's store at {address} cannot be reached ({reason}); is rank 0 running?"


def _conclude(
    request: Request, module: ModuleType, job: Any, store: Any, folder: Path
) -> Path | None:
    """Rank 0 writes the record and says how it went; every rank ends the same way."""
    from experiments import harness

    path: Path | None = None
    verdict = ""
    if job.rank == 0:
        try:
            outputs = [harness.take(store, f"output/{rank}") for rank in range(job.world_size)]
            finished = assemble(request, module, job.world_size, outputs)
            path = write(finished.record, folder, finished.tensors)
        except RunFailed as error:
            verdict = str(error)
        store.set("verdict", verdict or "written")
    verdict = verdict or store.get("verdict").decode()
    harness.leave()
    if verdict != "written":
        raise RunFailed(verdict)
    return path


def assemble(request: Request, module: ModuleType, size: int, packed: list[bytes]) -> Finished:
    """Merge every rank's output into results, check the claims, and seal the record."""
    from experiments import harness

    unpacked = [harness.unpack(data) for data in packed]
    ranks = [written for written, _ in unpacked]
    results = plain(module.report([written["output"] for written in ranks]))
    evaluated = claims.evaluate(module.CLAIMS, results)
    broken = claims.first_broken(evaluated)
    if broken is not None:
        raise RunFailed(_broken_claim(request.name, broken))
    blob, entry = _merge_tensors(request, [tensors for _, tensors in unpacked])
    settings = module.SETTINGS
    record = seal(
        {
            "schema": SCHEMA,
            "experiment": request.name,
            "backend": request.backend,
            "world_size": size,
            "dtype": settings.dtype,
            "seed": settings.seed,
            "command": command_of(request, size),
            "environment": describe(request.backend),
            "sources": source_hashes(module, settings),
            "tolerances": settings.tolerances,
            "config": resolved_config(settings),
            "results": results,
            "ranks": ranks,
            "claims": evaluated,
            "tensors": entry,
            "recorded_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
    )
    return Finished(record, blob)


def command_of(request: Request, size: int) -> str:
    """The command that started this run."""
    asked = f"-m experiments run {request.name} --backend {request.backend}"
    if not is_joining():
        return f"python {asked} --world-size {size}"
    nodes = os.environ.get("GROUP_WORLD_SIZE", "1")
    own = os.environ.get("LOCAL_WORLD_SIZE", str(size))
    return f"torchrun --nnodes={nodes} --nproc-per-node={own} {asked}"


def _broken_claim(name: str, claim: Mapping[str, Any]) -> str:
    bounds = {k: claim[k] for k in ("rtol", "atol", "at_least") if k in claim}
    sides = [
        f"{claim[side].get('path', 'the constant')} = {json.dumps(claim[side]['value'])[:120]}"
        for side in ("left", "right")
    ]
    return (
        f"{name}: claim {claim['name']} does not hold: {sides[0]}, {claim['relation']} "
        f"{bounds or ''} {sides[1]}; nothing was written"
    ).replace("  ", " ")


def _merge_tensors(request: Request, kept: list[dict[str, Any]]) -> tuple[bytes | None, Any]:
    import safetensors.torch

    merged: dict[str, Any] = {}
    for tensors in kept:
        twice = sorted(merged.keys() & tensors.keys())
        if twice:
            raise RunFailed(f"{request.name}: tensor {twice[0]} is kept by two ranks; one may")
        merged.update(tensors)
    if not merged:
        return None, None
    blob = safetensors.torch.save(merged)
    file = f"{request.name}.{request.backend}.safetensors"
    return blob, {"file": file, "sha256": hashlib.sha256(blob).hexdigest(), "names": sorted(merged)}


def source_hashes(module: ModuleType, settings: Any) -> dict[str, str]:
    """SHA-256 of each file that decides the result, by its path from the root."""
    own = Path(str(module.__file__)).resolve().relative_to(ROOT).as_posix()
    names = [own, *(f"calculators/{name}.py" for name in settings.calculators), *settings.files]
    missing = [name for name in names if not (ROOT / name).is_file()]
    if missing:
        raise RunFailed(f"{own}: source {missing[0]} does not exist; nothing was written")
    return {name: file_sha256(ROOT / name) for name in names}


def resolved_config(settings: Any) -> dict[str, Any]:
    """Every setting of the run: the experiment's own and those of the harness."""
    return {
        **settings.config,
        "harness": {
            "threads_per_rank": 1,
            "deterministic_algorithms": True,
            "environment_variables": dict(VARIABLES),
        },
    }


class ProgressBar:
    """A tqdm bar that appears with the first progress of a run, on a terminal only."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bar: Any = None

    def __enter__(self) -> ProgressBar:
        return self

    def show(self, done: int, total: int, label: str) -> None:
        """Show that `done` of `total` steps are behind."""
        if self.bar is None:
            from tqdm import tqdm

            self.bar = tqdm(total=total, desc=self.name, disable=not sys.stderr.isatty())
        self.bar.total = total
        self.bar.update(done - self.bar.n)
        if label:
            self.bar.set_postfix_str(label)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
