"""The digest of the code that made something: part of the key of everything that is kept."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

PIPELINE = Path(__file__).resolve().parent
PROJECT = PIPELINE.parents[1]
TEMPLATES = PROJECT / "site" / "templates"
RECORDS = Path("experiments") / "records"
ASIDE = frozenset({"serve.py", "serving", "new.py", "skeletons"})
READS_RECORDS = frozenset({"transformer_data"})
_FROM = re.compile(r"\bfrom calculators import (\([^)]*\)|[^\n]*)")
_MODULE = re.compile(r"\bcalculators\.(\w+)")
_NAME = re.compile(r"\w+")
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
    """The calculator's file, every module of the folder it imports, and all the sentences.

    With them the records, where one of these modules reads them.
    """
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
    files += (folder / "strings").glob("*.toml")
    if READS_RECORDS & seen:
        files += (path for path in (folder.parent / RECORDS).glob("*") if path.is_file())
    return digest(files)


@lru_cache(maxsize=256)
def imported(source: str) -> tuple[str, ...]:
    """The modules of `calculators` that a source imports, or whatever looks like one."""
    names = [name for listed in _FROM.findall(source) for name in _NAME.findall(listed)]
    return tuple(names + _MODULE.findall(source))
