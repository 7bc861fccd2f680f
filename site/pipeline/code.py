"""The digest of the code that made something: part of the key of everything that is kept."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

PIPELINE = Path(__file__).resolve().parent
PROJECT = PIPELINE.parents[1]
ASIDE = frozenset({"serve.py", "serving", "new.py", "skeletons"})
_PACKAGES = ("markdown-it-py", "mdit-py-plugins", "Pygments", "Jinja2", "PyYAML", "numpy")


def digest(paths: Iterable[Path]) -> str:
    """One hash of the names and contents of files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(f"{path.name}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


@cache
def code_digest() -> str:
    """The pipeline's own code and the packages that shape its output."""
    versions = " ".join(f"{name}={version(name)}" for name in _PACKAGES)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    sources = [path for path in PIPELINE.rglob("*.py") if not _is_aside(path)]
    return f"{digest(sources)} {python} {versions}"


def _is_aside(path: Path) -> bool:
    """Whether a module of the pipeline shapes no page: the editor's server and the skeletons."""
    return path.relative_to(PIPELINE).parts[0] in ASIDE


def calculator_digest(name: str, folder: Path = PROJECT / "calculators") -> str:
    """The calculator's file, every module of the folder it imports, and all the sentences."""
    library = {"page", "render", "controls", "plots", "contract", "text", "numbers"}
    seen: set[str] = set()
    waiting = [name, *library]
    while waiting:
        module = waiting.pop()
        path = folder / f"{module}.py"
        if module not in seen and path.exists():
            seen.add(module)
            waiting += imported(path.read_text("utf-8"))
    files = [folder / f"{module}.py" for module in seen]
    return digest([*files, *sorted((folder / "strings").glob("*.toml"))])


@lru_cache(maxsize=256)
def imported(source: str) -> tuple[str, ...]:
    """The modules of `calculators` that a source imports."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("calculators"):
            inner = (node.module or "").partition(".")[2]
            found += [inner] if inner else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [a.name.partition(".")[2] for a in node.names if "calculators." in a.name]
    return tuple(found)
