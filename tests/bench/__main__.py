"""`python -m tests.bench build`, `page` or `save`: measure, and write the README."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

KINDS = ("build", "page", "save")


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark. The exit status."""
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [path for path in (str(root), str(root / "site")) if path not in sys.path]
    if not arguments or arguments[0] not in KINDS:
        print(f"usage: python -m tests.bench {{{','.join(KINDS)}}} [--help]", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"tests.bench.{arguments[0]}").main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
