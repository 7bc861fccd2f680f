"""Experiments are found by file: a module of the package with a top-level `def run(context)`."""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from experiments.errors import BadRequest
from experiments.record import FOLDER, ROOT

TORCH = "2.13.0"


@dataclass(frozen=True)
class Entry:
    """What can be known of an experiment without torch: its name, file and docstring."""

    name: str
    path: Path
    doc: str

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]


def _entry(path: Path) -> Entry | None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    for function in functions:
        arguments = [argument.arg for argument in function.args.args]
        if function.name == "run" and arguments == ["context"]:
            return Entry(path.stem, path, ast.get_docstring(tree) or "")
    return None


def entries(package: str = "experiments") -> dict[str, Entry]:
    """Every experiment of a package by name, in alphabetical order."""
    folder = ROOT.joinpath(*package.split("."))
    found = (_entry(path) for path in sorted(folder.glob("*.py")))
    return {entry.name: entry for entry in found if entry is not None}


def check_name(name: str, package: str = "experiments") -> Entry:
    """The experiment of that name; BadRequest suggests the nearest."""
    known = entries(package)
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "`python -m experiments list` names them"
    raise BadRequest(f"experiment {name!r} is unknown; {hint}")


def require_torch() -> None:
    """BadRequest when torch cannot be imported."""
    try:
        importlib.import_module("torch")
    except ImportError as error:
        raise BadRequest(
            f"torch cannot be imported ({error}); experiments need torch {TORCH}: "
            "pip install -r requirements/experiments.txt"
        ) from error


def load(name: str, package: str = "experiments") -> ModuleType:
    """Import an experiment; BadRequest for an unknown name or a machine without torch."""
    check_name(name, package)
    require_torch()
    return importlib.import_module(f"{package}.{name}")


def record_path(name: str, backend: str, folder: Path = FOLDER) -> Path:
    """Where an experiment's record lies."""
    return folder / f"{name}.{backend}.json"
