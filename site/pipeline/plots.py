"""Plots: a spec from a calculator or a record to markup, drawn by the module that the page uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.cache import TextCache, content_key
from pipeline.node import NodeError, NodeProgram

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "site" / "node" / "plot.mjs"
TIMEOUT = 30.0
_CANVAS = r'(data-plot="{key}">.*?<div class="plot-canvas"[^>]*>)(</div>)'


class PlotError(Exception):
    """A plot that cannot be drawn; `index` is its place among the specs."""

    def __init__(self, index: int, spec: Mapping[str, Any], message: str) -> None:
        super().__init__(f"plot {spec.get('key', '')!r}: {message}")
        self.index = index
        self.spec = spec
        self.message = message


def draw_all(
    specs: Sequence[Mapping[str, Any]],
    cache: Path = ROOT / ".cache",
    *,
    program: Path = PROGRAM,
    timeout: float = TIMEOUT,
) -> list[str]:
    """The markup of each spec, in order: what `plotMarkup` of plot.js returns."""
    made_by = version(program)
    keys = [_key(made_by, index, spec) for index, spec in enumerate(specs)]
    store = TextCache(cache / "plots.sqlite")
    known = store.get_many(keys)
    missing = {key: index for index, key in enumerate(keys) if key not in known}
    with NodeProgram(program, timeout=timeout) as node:
        drawn = draw_with(node, specs, list(missing.values()))
    fresh = dict(zip(missing, drawn, strict=True))
    store.put_many(fresh)
    return [known.get(key) or fresh[key] for key in keys]


def _key(made_by: str, index: int, spec: Mapping[str, Any]) -> str:
    try:
        return content_key(made_by, spec)
    except ValueError:
        raise PlotError(index, spec, "its numbers must be finite; leave such points out") from None


def draw_with(
    node: NodeProgram, specs: Sequence[Mapping[str, Any]], indices: Sequence[int]
) -> list[str]:
    """The markup of the specs at `indices`. Nothing is kept. Raises `PlotError`."""
    try:
        answers = node.request([specs[index] for index in indices])
    except NodeError as error:
        if error.index is None:
            raise
        index = indices[error.index]
        raise PlotError(index, specs[index], str(error)) from error
    for index, answer in zip(indices, answers, strict=True):
        if "error" in answer:
            raise PlotError(index, specs[index], answer["error"]["message"])
    return [answer["ok"] for answer in answers]


def version(program: Path = PROGRAM) -> str:
    """Everything besides the spec that decides what a plot looks like."""
    modules = ROOT / "node_modules"
    packages = [modules / "@observablehq/plot", modules / "linkedom"]
    releases = [
        json.loads((path / "package.json").read_text("utf-8"))["version"] for path in packages
    ]
    sources = [program, *sorted((ROOT / "site" / "scripts").glob("plot*.js"))]
    return content_key(releases, [path.read_text("utf-8") for path in sources])


def placed(html: str, key: str, svg: str) -> str:
    """A calculator's result with the drawing of one of its plots in its place."""
    pattern = re.compile(_CANVAS.format(key=re.escape(key)), re.DOTALL)
    return pattern.sub(lambda found: found.group(1) + svg + found.group(2), html, count=1)


def declared(name: str, key: str) -> tuple[str, int]:
    """The file of a calculator and the line of it that declares a plot; the first if none does."""
    file = f"calculators/{name}.py"
    lines = (ROOT / file).read_text("utf-8", errors="replace").split("\n")
    found = (at for at, line in enumerate(lines, start=1) if f'"{key}"' in line)
    return file, next(found, 1)
