"""Pin every package with its hashes, from site.in and experiments.in.

Makes site.txt, experiments.txt, torch-cpu.txt and cuda.txt; see the head of each. Needs `uv` on
the path. The pins hold for every platform and for Python 3.11 and newer.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

TORCH_CPU = "2.13.0+cpu"
TORCH_CPU_MARKER = (
    "python_version == '3.11' and sys_platform == 'linux' and platform_machine == 'x86_64'"
)
TORCH_CPU_SHA256 = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
CUDA = re.compile(r"(nvidia|cuda)-|triton==")

SITE_HEADER = """\
# What builds, serves and tests the site, pinned with hashes. Made from site.in by update.py.
# Install: pip install --require-hashes -r requirements/site.txt
"""
EXPERIMENTS_HEADER = """\
# What the experiments need besides site.txt, pinned with hashes. Made by update.py.
#
# torch 2.13.0 comes in two kinds. The CPU build, 2.13.0+cpu, needs nothing but what is listed
# here. The public build for Linux is a CUDA build and needs the gigabytes of cuda.txt as well.
# So `make` goes in three steps, each with `pip install --no-deps --require-hashes -r`:
#   1. torch-cpu.txt     where pip is set up to find a CPU build; else this fails and is passed over
#   2. experiments.txt   complete by itself, hence --no-deps; takes torch only if step 1 did not
#   3. cuda.txt          only if the torch that is there now asks for it
"""
TORCH_CPU_HEADER = """\
# The CPU build of torch, for where pip is set up to find one. Made by update.py.
# The public index does not have it; see the head of experiments.txt.
"""
CUDA_HEADER = """\
# What the CUDA build of torch 2.13.0 needs besides experiments.txt. Made by update.py.
# `make` installs it only where that build was installed; see the head of experiments.txt.
"""


def compile_pins(name: str, *options: str) -> list[str]:
    """The requirements of NAME.in with all they need: one text per package, hashes included."""
    command = [
        "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header",
        "--no-annotate", "--no-emit-index-url", "--python-version=3.11", *options, f"{name}.in",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True)
    return re.split(r"\n(?=[^\s])", done.stdout.strip())


def with_cpu_wheel(pins: list[str]) -> list[str]:
    """The pins, with the CPU build's hash among those of torch."""
    extra = f" \\\n    --hash=sha256:{TORCH_CPU_SHA256}"
    return [pin + extra if pin.startswith("torch==") else pin for pin in pins]


def write(name: str, header: str, pins: list[str]) -> None:
    """Replace NAME.txt."""
    (FOLDER / f"{name}.txt").write_text("\n".join([header, *pins, ""]), "utf-8")


def main() -> int:
    """Make all files."""
    write("site", SITE_HEADER, compile_pins("site"))
    pins = with_cpu_wheel(compile_pins("experiments", "--constraint=site.txt"))
    write("experiments", EXPERIMENTS_HEADER, [pin for pin in pins if not CUDA.match(pin)])
    pin = f"torch=={TORCH_CPU} ; {TORCH_CPU_MARKER} \\\n    --hash=sha256:{TORCH_CPU_SHA256}"
    write("torch-cpu", TORCH_CPU_HEADER, [pin])
    write("cuda", CUDA_HEADER, [pin for pin in pins if CUDA.match(pin)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
