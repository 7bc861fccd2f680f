"""Grids: answers computed with the page, for readers whose Python is not there yet or cannot run.

Which states have one is said in `pipeline/states.py`. An answer is the text that the page's own
Python would give, `calculators.page.respond`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import brotli

from calculators import page
from pipeline import faults
from pipeline.cache import TextCache, content_key
from pipeline.code import PROJECT, calculator_digest, code_digest
from pipeline.errors import Finding
from pipeline.holes import CalculatorHole
from pipeline.model import BoundPage, Resolved
from pipeline.states import Inputs, axes, reads_data, states
from pipeline.views import CalculatorView

FOLDER = "grids"
FILE = "grids.sqlite"
MOST_BYTES = 500_000
# At its best brotli takes ten times as long, for a sixth less.
QUALITY = 9

Spec = Mapping[str, Any]


def body(spec: Spec) -> bytes:
    """The grid of a place as the page reads it; empty where the rule gives none.

    `states`: what differs from the place's inputs, and the answer as indices into `pieces`.
    """
    if reads_data(spec["name"]) or not axes(spec["name"], spec["inputs"]):
        return b""
    for combined in (True, False):
        found = _packed(spec, states(spec["name"], spec["inputs"], combined=combined))
        if len(found) <= MOST_BYTES:
            return found
    return b""


def _packed(spec: Spec, wanted: Sequence[Inputs]) -> bytes:
    pieces: dict[str, int] = {}
    listed = []
    for inputs in wanted:
        changes = {key: value for key, value in inputs.items() if value != spec["inputs"][key]}
        row = [pieces.setdefault(piece, len(pieces)) for piece in cut(answer(spec, inputs))]
        listed.append([changes, row])
    packed = {"pieces": list(pieces), "states": listed}
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":")).encode()


def answer(spec: Spec, inputs: Inputs) -> str:
    """What `respond` says to the request that the page would make."""
    request = {key: spec[key] for key in ("language", "show", "hide", "plot")}
    return page.respond(json.dumps({**request, "calculator": spec["name"], "inputs": inputs}))


def cut(text: str) -> list[str]:
    """Where HTML's tags, JSON's names and its lists of points begin: the answers share most of it.

    A NUL marks the places, for JSON holds none.
    """
    for edge, mark in (("<", "\0<"), ("], ", "], \0"), (', "', ', \0"')):
        text = text.replace(edge, mark)
    return [piece for piece in text.split("\0") if piece]


# -- the step ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """A grid's file in the site (empty path: none), its forms by suffix, and what it varies."""

    path: str
    forms: Mapping[str, bytes]
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Laid:
    """The pages, their calculators knowing their grids; the grids' files; what went wrong.

    `keys` are the keys of the grids of each page, by which their cache has them.
    """

    resolved: Resolved
    files: Mapping[str, bytes]
    findings: tuple[Finding, ...]
    keys: Mapping[tuple[str, str], tuple[str, ...]]


def lay(resolved: Resolved) -> Laid:
    """Give every calculator of these pages its grid; pages that are kept bring theirs."""
    layer = Layer(resolved.parsed.book.options.cache)
    for kept in resolved.kept.values():
        layer.take(kept.grids)
    places = [*_places(resolved.pages.values()), *resolved.home.values()]
    layer.make(view.spec for view in places)
    pages = {place: layer.page(item) for place, item in resolved.pages.items()}
    home = {language: layer.view(view) for language, view in resolved.home.items()}
    files = {
        f"{grid.path}{suffix}": data
        for grid in layer.grids.values()
        if grid.path
        for suffix, data in grid.forms.items()
    }
    keys = {place: layer.keys(item) for place, item in resolved.pages.items()}
    return Laid(replace(resolved, pages=pages, home=home), files, tuple(layer.findings), keys)


def _places(pages: Iterable[BoundPage]) -> Iterator[CalculatorView]:
    for item in pages:
        for hole, view in zip(item.document.holes, item.views, strict=True):
            if isinstance(view, CalculatorView) and _is_wanted(hole):
                yield view


def _is_wanted(hole: Any) -> bool:
    return isinstance(hole, CalculatorHole) and hole.grid


class Layer:
    """Grids of places by what they depend on: equal places share one."""

    def __init__(self, cache: Path) -> None:
        self.store = TextCache(cache / FILE)
        self.grids: dict[str, Grid] = {}
        self.findings: list[Finding] = []
        self.digests: dict[str, str] = {}

    def make(self, specs: Iterable[Spec]) -> None:
        """The grids of these places, from the cache where nothing they depend on has changed."""
        wanted = {self._key(spec): spec for spec in specs}
        kept = self.store.get_many(wanted)
        fresh: dict[str, str] = {}
        for key, spec in wanted.items():
            if key not in kept:
                made = self._made(spec)
                if made is None:
                    continue
                kept[key] = fresh[key] = _kept(spec, made)
            self.grids[key] = _grid(json.loads(kept[key]))
        self.store.put_many(fresh)

    def take(self, texts: Mapping[str, str]) -> None:
        """Grids as the cache has them, by their keys."""
        for key, text in texts.items():
            if key not in self.grids:
                self.grids[key] = _grid(json.loads(text))

    def keys(self, item: BoundPage) -> tuple[str, ...]:
        """The keys of a page's grids."""
        return tuple(dict.fromkeys(self._key(view.spec) for view in _places([item])))

    def _key(self, spec: Spec) -> str:
        name = spec["name"]
        if name not in self.digests:
            self.digests[name] = calculator_digest(name)
        place = [spec[key] for key in ("name", "inputs", "language", "show", "hide", "plot")]
        return content_key(code_digest(), self.digests[name], place)

    def _made(self, spec: Spec) -> bytes | None:
        try:
            return body(spec)
        except Exception as error:  # a calculator is other people's code: its fault is a finding
            action = "mend the calculator, or say `:grid: off`"
            (found,) = faults.findings(error, PROJECT, action)
            what = f"{spec['name']} fails in a state beside that of {spec['id']}"
            cause = f"{found.file}:{found.line}"
            self.findings.append(replace(found, what=what, cause=cause))
            return None

    def page(self, item: BoundPage) -> BoundPage:
        """The page with grids where its places want them."""
        views = tuple(
            self.view(view) if isinstance(view, CalculatorView) and _is_wanted(hole) else view
            for hole, view in zip(item.document.holes, item.views, strict=True)
        )
        return replace(item, views=views)

    def view(self, view: CalculatorView) -> CalculatorView:
        """A calculator that knows its grid, if it has one."""
        grid = self.grids.get(self._key(view.spec))
        if grid is None or not grid.path:
            return view
        told = {"file": grid.path, "inputs": list(grid.inputs)}
        return replace(view, spec={**view.spec, "grid": told})


def _kept(spec: Spec, made: bytes) -> str:
    """A grid and its compressed forms, as they stand in the cache."""
    if not made:
        return json.dumps({"path": "", "body": "", "packed": {}, "inputs": []})
    name = f"{spec['name']}-{hashlib.sha256(made).hexdigest()[:12]}.json"
    varied = {key for changes, _ in json.loads(made)["states"] for key in changes}
    packed = {
        ".br": brotli.compress(made, quality=QUALITY),
        ".gz": gzip.compress(made, compresslevel=9, mtime=0),
    }
    kept = {
        "path": f"{FOLDER}/{spec['language']}/{name}",
        "body": made.decode(),
        "packed": {suffix: base64.b64encode(data).decode() for suffix, data in packed.items()},
        "inputs": [key for key in spec["inputs"] if key in varied],
    }
    return json.dumps(kept, ensure_ascii=False)


def _grid(kept: Mapping[str, Any]) -> Grid:
    packed = {suffix: base64.b64decode(text) for suffix, text in kept["packed"].items()}
    return Grid(kept["path"], {"": kept["body"].encode(), **packed}, tuple(kept["inputs"]))
