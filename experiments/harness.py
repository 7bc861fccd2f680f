"""What one rank of an experiment sees, and how it joins the others.

An experiment module declares

    SETTINGS = Settings(config={...}, calculators=("shared_encoder",))
    CLAIMS = (allclose(...), ...)

    def run(context: Context) -> dict: ...         # on every rank; its own output
    def report(outputs: list[dict]) -> dict: ...   # once; `results` out of every rank's output

and runs with single-threaded, deterministic torch, so that the same machine repeats the bits.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import safetensors.torch
import torch
import torch.distributed as dist

from experiments.errors import BadRequest
from experiments.record import plain, sha256

CHUNK = 1 << 20  # bytes a store value may hold
DEFAULT_TIMEOUT = 60.0
Progress = Callable[[int, int, str], None]
DTYPES = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Settings:
    """What an experiment declares of itself.

    Attributes:
        config: the constants of the experiment; `run` reads them from `context.config`.
        world_sizes: the world sizes it makes sense at, the default first.
        calculators: names of calculators whose values it is compared with (sources).
        files: other source or data files that decide the result, from the root (sources).
        tolerances: path prefix in `results` or `tensors` -> {"rtol", "atol"} or
            {"bits_of_this_machine": true}; the longest prefix counts.
        quick: part of `verify --quick`.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    world_sizes: tuple[int, ...] = (2,)
    dtype: str = "float64"
    seed: int = 0
    calculators: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tolerances: Mapping[str, Any] = field(
        default_factory=lambda: {"results": {"rtol": 1e-9, "atol": 1e-12}}
    )
    quick: bool = False


@dataclass(frozen=True)
class Job:
    """One rank's part of a run; passed to the rank as JSON."""

    module: str
    rank: int
    world_size: int
    local_rank: int
    backend: str
    timeout: float
    port: int = 0  # of the launcher's store on loopback; 0 joins the group of the environment

    def to_json(self) -> str:
        """The job as one argument of a command line."""
        return json.dumps(self.__dict__)


@dataclass
class Context:
    """What `run` gets: who it is, where its tensors live, and how to say that it is alive."""

    rank: int
    local_rank: int
    world_size: int
    backend: str
    device: torch.device
    dtype: torch.dtype
    seed: int
    config: Mapping[str, Any]
    signal: Progress
    kept: dict[str, torch.Tensor] = field(default_factory=dict)
    _last_signal: float = 0.0

    def progress(self, done: int, total: int, label: str = "") -> None:
        """Say that `done` of `total` steps are behind; this also restarts the time limit."""
        now = time.monotonic()
        if now - self._last_signal > 0.1 or done == total:
            self._last_signal = now
            self.signal(done, total, label)

    def keep(self, name: str, tensor: torch.Tensor) -> None:
        """Write a tensor to the record's tensors file; one name, one rank."""
        self.kept[name] = tensor.detach().to("cpu").contiguous().clone()

    def tensor(self, values: Any) -> torch.Tensor:
        """A tensor of this run's dtype on this rank's device."""
        return torch.tensor(values, dtype=self.dtype, device=self.device)


def connect(job: Job) -> dist.Store:
    """The store of the run: the launcher's, or the one of the group in the environment."""
    limit = timedelta(seconds=job.timeout)
    if job.port:
        return dist.TCPStore("127.0.0.1", job.port, is_master=False, timeout=limit)
    store, _, _ = next(iter(dist.rendezvous("env://", timeout=limit)))
    return store


def apply_settings(settings: Settings) -> None:
    """Make torch single-threaded and deterministic, with the experiment's dtype and seed."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.set_default_dtype(DTYPES[settings.dtype])
    torch.manual_seed(settings.seed)


def make_context(
    job: Job, settings: Settings, store: dist.Store, show: Progress | None = None
) -> Context:
    """The rank's context; for nccl it owns the CUDA device of its local rank."""
    device = torch.device("cpu")
    if job.backend == "nccl":
        device = torch.device("cuda", job.local_rank)
        torch.cuda.set_device(device)

    def signal(done: int, total: int, label: str) -> None:
        store.add(f"alive/{job.rank}", 1)
        if job.rank == 0:
            store.set("progress", json.dumps([done, total, label]))
            if show is not None:
                show(done, total, label)

    return Context(
        rank=job.rank,
        local_rank=job.local_rank,
        world_size=job.world_size,
        backend=job.backend,
        device=device,
        dtype=DTYPES[settings.dtype],
        seed=settings.seed,
        config=settings.config,
        signal=signal,
    )


def put(store: dist.Store, key: str, data: bytes) -> None:
    """Store bytes of any length under a key."""
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    for index, chunk in enumerate(chunks):
        store.set(f"{key}/{index}", chunk.hex())
    store.set(key, str(len(chunks)))


def take(store: dist.Store, key: str) -> bytes:
    """The bytes that `put` stored; waits for them."""
    count = int(store.get(key))
    return b"".join(bytes.fromhex(store.get(f"{key}/{index}").decode()) for index in range(count))


def run_rank(job: Job, module: Any, store: dist.Store, show: Progress | None = None) -> None:
    """Join the process group, run, and hand the output over through the store.

    The process group is left open: its owner ends it with `leave`. `show` gets rank 0's progress
    where no launcher reads it from the store.
    """
    settings: Settings = module.SETTINGS
    apply_settings(settings)
    context = make_context(job, settings, store, show)
    device = context.device if job.backend == "nccl" else None
    dist.init_process_group(
        job.backend,
        store=dist.PrefixStore("group", store),
        rank=job.rank,
        world_size=job.world_size,
        # Longer than the launcher's patience, so that it is the launcher who finds the culprit.
        timeout=timedelta(seconds=job.timeout + (30 if job.port else 0)),
        device_id=device,
    )
    store.add(f"alive/{job.rank}", 1)
    output = plain(module.run(context))
    put(store, f"output/{job.rank}", _packed(job.rank, output, context.kept))


def leave() -> None:
    """Leave the process group together with every other rank."""
    dist.barrier()
    dist.destroy_process_group()


def _packed(rank: int, output: Any, kept: dict[str, torch.Tensor]) -> bytes:
    written: dict[str, Any] = {"rank": rank, "output": output, "output_sha256": sha256(output)}
    blob = safetensors.torch.save(kept) if kept else b""
    if blob:
        written["tensors_sha256"] = hashlib.sha256(blob).hexdigest()
    head = json.dumps(written).encode()
    return len(head).to_bytes(8, "big") + head + blob


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """What a rank wrote and the tensors it kept."""
    end = 8 + int.from_bytes(data[:8], "big")
    tensors = safetensors.torch.load(data[end:]) if len(data) > end else {}
    return json.loads(data[8:end]), tensors


def report_failure(store: dist.Store, rank: int, error: BaseException) -> None:
    """Tell the launcher what this rank died of, and that it was the n-th to say so."""
    order = store.add("failures", 1)
    text = "".join(traceback.format_exception(error))
    last = f"{type(error).__name__}: {error}".partition("\n")[0]
    store.set(f"failure/{rank}", json.dumps({"order": order, "error": last, "traceback": text}))


def require_devices(backend: str, needed: int) -> None:
    """BadRequest when nccl lacks devices or torch lacks the backend."""
    if backend != "nccl":
        return
    if not (torch.cuda.is_available() and dist.is_nccl_available()):
        raise BadRequest(
            f"--backend nccl needs {needed} CUDA device{'s' * (needed > 1)}, found 0 "
            f"(torch {torch.__version__}); use --backend gloo or a machine with them"
        )
    found = torch.cuda.device_count()
    if found < needed:
        raise BadRequest(
            f"--backend nccl needs {needed} CUDA devices (one a rank), found {found}; "
            "use --backend gloo, fewer ranks, or torchrun over several machines"
        )
