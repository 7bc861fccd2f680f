"""Plots: a spec from a calculator or a record to markup, drawn by the module that the page uses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.cache import TextCache, content_key
from pipeline.node import NodeError, NodeProgram

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "site" / "node" / "plot.mjs"
TIMEOUT = 30.0


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
    version = _version(program)
    keys = [_key(version, index, spec) for index, spec in enumerate(specs)]
    store = TextCache(cache / "plots.sqlite")
    known = store.get_many(keys)
    missing = {key: index for index, key in enumerate(keys) if key not in known}
    with NodeProgram(program, timeout=timeout) as node:
        drawn = draw_with(node, specs, list(missing.values()))
    fresh = dict(zip(missing, drawn, strict=True))
    store.put_many(fresh)
    return [known.get(key) or fresh[key] for key in keys]


def _key(version: str, index: int, spec: Mapping[str, Any]) -> str:
    try:
        return content_key(version, spec)
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


def _version(program: Path) -> str:
    """Everything besides the spec that decides what a plot looks like."""
    modules = ROOT / "node_modules"
    packages = [modules / "@observablehq/plot", modules / "linkedom"]
    releases = [
        json.loads((path / "package.json").read_text("utf-8"))["version"] for path in packages
    ]
    sources = [program, *sorted((ROOT / "site" / "scripts").glob("plot*.js"))]
    return content_key(releases, [path.read_text("utf-8") for path in sources])
