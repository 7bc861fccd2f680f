"""The environment of a run: the variables it sets and what a record says of the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


def loopback_variables() -> dict[str, str]:
    """The environment of a rank on this machine: Gloo keeps to the loopback interface."""
    interface = "lo0" if platform.system() == "Darwin" else "lo"
    return {**os.environ, "GLOO_SOCKET_IFNAME": interface, **VARIABLES}


def processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(backend: str) -> dict[str, Any]:
    """The `environment` field of a record."""
    import numpy as np
    import torch

    accelerator = torch.cuda.get_device_name() if backend == "nccl" else None
    libc = " ".join(platform.libc_ver()).strip()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}" + (f", {libc}" if libc else ""),
        "processor": processor(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "threads": 1,
        "accelerator": accelerator,
    }
