"""The tiny wiki of tests/wiki: copies of it to break, and the steps run on them without Node."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.bind import bind
from pipeline.check import check
from pipeline.load import load
from pipeline.model import Assets, Book, Checked, Options, Parsed, Resolved
from pipeline.parse import parse
from pipeline.render import render
from pipeline.shelf import Shelf
from pipeline.tex import Formula

WIKI = Path(__file__).parent / "wiki"
PROJECT = WIKI.parents[1]


def copied(folder: Path) -> Path:
    """A copy of the wiki in `folder` that a test may break."""
    root = folder / "wiki"
    shutil.copytree(WIKI, root)
    return root


def options(root: Path, **changes: Any) -> Options:
    """Options for a wiki, its cache and output beside it."""
    given = {"out": root / "dist", "cache": root / ".cache", **changes}
    return Options(root=root, **given)


def replace(path: Path, old: str, new: str) -> None:
    """Change the one place of a file that says `old`."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path} says {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new), "utf-8")


def formulas(wanted: Iterable[Formula]) -> Mapping[Formula, str]:
    """Formulas as their own TeX."""
    return {item: f'<span class="katex">{len(item.tex)}</span>' for item in wanted}


def plots(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Plots as their keys."""
    return [f'<svg data-key="{spec["key"]}"></svg>' for spec in specs]


def assets(_: Parsed) -> Assets:
    """The assets that templates name, empty."""
    names = ("main.css", "main.js", "theme.js", "icon.svg")
    files = {f"assets/{name}": b"" for name in names}
    return Assets({name: f"assets/{name}" for name in names}, files)


def loaded(root: Path, **changes: Any) -> Book:
    """The wiki, loaded."""
    return load(options(root, **changes))


def parsed(root: Path, **changes: Any) -> Parsed:
    """The wiki, parsed."""
    return parse(loaded(root, **changes), formulas)


def resolved(root: Path, **changes: Any) -> Resolved:
    """The wiki, bound."""
    return bind(parsed(root, **changes), plots)


def checked(root: Path, **changes: Any) -> Checked:
    """The wiki, checked: all steps but the writing, with the pages that earlier calls have kept."""
    read = parsed(root, **changes)
    shelf = Shelf(read, assets)
    rendered = render(bind(read, plots, shelf.kept), assets, shelf.put)
    shelf.close()
    return check(rendered)


def messages(root: Path, **changes: Any) -> list[str]:
    """Everything that is wrong with a wiki, as it is printed."""
    return [str(item) for item in checked(root, **changes).findings]
