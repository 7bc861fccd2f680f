"""Whether the installed torch asks for packages of CUDA: exit status 0 if it does, 3 if not."""

from __future__ import annotations

import importlib.metadata
import sys


def main() -> int:
    """The exit status."""
    needs = importlib.metadata.requires("torch") or []
    return 0 if any(need.startswith(("nvidia-", "cuda-", "triton")) for need in needs) else 3


if __name__ == "__main__":
    sys.exit(main())
