"""The same Markdown and formulas in other builders, as they install from the package index."""

from __future__ import annotations

import re
import shutil
import subprocess
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import cost
from tests.bench.wiki import FORMULAS, formula, prose, slug_of

PACKAGES = ("mkdocs-material==9.8.2", "Sphinx==9.0.4", "myst-parser==5.2.0", "zensical==0.0.73")
LANGUAGES = ("en", "zh-cn")
MKDOCS = """site_name: Bench
theme: {name: material}
plugins: [search]
markdown_extensions:
  - pymdownx.arithmatex: {generic: true}
"""
SPHINX = """project = "Bench"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
"""
INDEX = "# Bench\n\n```{toctree}\n:glob:\n\nen/*\nzh-cn/*\n```\n"


@dataclass(frozen=True)
class Peer:
    """A builder: its name, how it is set up in a folder of Markdown, the command that builds."""

    name: str
    set_up: Callable[[Path], None]
    command: tuple[str, ...]
    output: str


def installed(folder: Path) -> Path:
    """An environment with all builders; its folder of commands. Raises `cost.FailedError`."""
    commands = folder / "bin"
    mark = folder / "-".join(["installed", *(re.sub(r"\W+", "", name) for name in PACKAGES)])
    if not mark.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(commands / "pip"), "--disable-pip-version-check", "--quiet", "install"]
        done = subprocess.run([*pip, *PACKAGES], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise cost.FailedError(f"pip: {done.stderr.strip().splitlines()[-1]}")
        mark.touch()
    return commands


def page(number: int, language: str) -> str:
    """A chapter of `tests.bench.wiki` without what only this project knows."""
    more = prose(number, f"{language} more", range(FORMULAS // 2, FORMULAS))
    questions = "\n".join(f"{index}. How many tokens? {index} and three." for index in (1, 2, 3))
    return (
        f"# Chapter {number}\n\nWhat does $L_{{{number}}}$ become?\n\n## Situation {number}\n\n"
        f"{prose(number, language, range(FORMULAS // 2))}\n\n## Run\n\n"
        f"$$\n{formula(number, 1)}\n$$\n\n## Limits\n\n{more}\n\n## Checklist\n\n"
        f"- Count once in chapter {number}.\n\n## Exercises\n\n{questions}\n"
    )


def make(folder: Path, chapters: int) -> Path:
    """The Markdown of a wiki with so many chapters in each of two languages, in `folder`/docs."""
    docs = folder / "docs"
    for language in LANGUAGES:
        (docs / language).mkdir(parents=True)
        for number in range(1, chapters + 1):
            path = docs / language / f"{slug_of(number)}.md"
            path.write_text(page(number, language), "utf-8")
    return folder


def _mkdocs(folder: Path) -> None:
    (folder / "docs/index.md").write_text("# Bench\n", "utf-8")
    (folder / "mkdocs.yml").write_text(MKDOCS, "utf-8")


def _sphinx(folder: Path) -> None:
    (folder / "docs/index.md").write_text(INDEX, "utf-8")
    (folder / "docs/conf.py").write_text(SPHINX, "utf-8")


PEERS = (
    Peer("MkDocs-Material", _mkdocs, ("mkdocs", "build", "--quiet"), "site"),
    Peer("Sphinx + MyST", _sphinx, ("sphinx-build", "-q", "-j", "auto", "docs", "site"), "site"),
    Peer("Zensical", _mkdocs, ("zensical", "build"), "site"),
)


@dataclass(frozen=True)
class Contestant:
    """A builder at work: `clean` builds with nothing kept, `edited` after an edit of one page."""

    name: str
    sets_formulas: bool
    clean: Callable[[], cost.Cost]
    edited: Callable[[int], cost.Cost]


def contestant(peer: Peer, commands: Path, folder: Path, chapters: int) -> Contestant:
    """A peer with its Markdown in `folder`. Its runs raise `cost.FailedError`."""
    root = make(folder / peer.name.split()[0].lower(), chapters)
    peer.set_up(root)
    command = [str(commands / peer.command[0]), *peer.command[1:]]
    path = root / "docs/en" / f"{slug_of(2)}.md"

    def clean() -> cost.Cost:
        for name in (peer.output, ".cache"):
            cost.put_aside(root / name)
        return edited(None)

    def edited(number: int | None) -> cost.Cost:
        if number is not None:
            path.write_text(f"{path.read_text('utf-8')}\nEdit {number}.\n", "utf-8")
        found = cost.of(command, root)
        pages = len(list((root / peer.output).rglob("*.html")))
        if pages < 2 * chapters:
            raise cost.FailedError(f"{peer.name}: {pages} pages for {chapters} chapters")
        return found

    return Contestant(peer.name, False, clean, edited)


def versions() -> Sequence[str]:
    """The builders with their versions."""
    return [name.replace("==", " ") for name in PACKAGES]
