"""What a changed file is: which part of the book in memory it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from calculators import contract

# Only a new process runs other code: a change to these starts the server again.
CODE = frozenset({"site/pipeline", "site/node", "build.py", "calculators"})
TABLES = {
    "content/glossary.toml": "terms",
    "content/sources.toml": "sources",
    "content/experiments.toml": "experiments",
    "content/recompute.toml": "recompute",
}
WHOLE = "content/locales.toml"
ORDER = "content/summary.toml"


@dataclass
class Changes:
    """Changed files by what they are; `names` are those that messages show."""

    names: list[str] = field(default_factory=list)
    chapters: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)
    calculators: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """Whether none of the files matters to the site."""
        return not self.names


def sort(paths: Iterable[Path], root: Path, project: Path) -> Changes:
    """The changes that files below `root` (the content) and `project` (the site) are."""
    found = Changes()
    for path in sorted(set(paths)):
        if path.name.startswith(".") or path.name.endswith(".part"):
            continue  # what editors and this project write beside a file first
        for base, take in ((root, _of_content), (project, _of_site)):
            if path.is_relative_to(base):
                name = path.relative_to(base).as_posix()
                if take(found, name):
                    found.names.append(name)
                    break
    return found


def _of_content(found: Changes, name: str) -> bool:
    pieces = name.split("/")
    match pieces:
        case ["content", "cases", file] if not file.endswith((".md", ".svg")):
            found.tables.add("cases")
        case ["content", slug, file] if file.endswith((".md", ".svg")):
            found.chapters.add(slug)
        case ["content", slug] if "." not in slug:
            found.chapters.add(slug)
        case ["content", _] if name in TABLES:
            found.tables.add(TABLES[name])
        case ["content", _] if name in (WHOLE, ORDER):
            found.parts.add("whole" if name == WHOLE else "order")
        case ["experiments", "records", file] if file.endswith(".json"):
            found.records.add(file.removesuffix(".json"))
        case ["experiments", file] if file.endswith(".py"):
            found.parts.add("behind")
        case _:
            return False
    return True


def _of_site(found: Changes, name: str) -> bool:
    match name.split("/"):
        case ["site", ("templates" | "styles" | "icons") as part, *_]:
            found.parts.add(part)
        case ["site", "scripts", file] if file.startswith("plot"):
            found.parts |= {"scripts", "plots"}
        case ["site", "scripts", *_]:
            found.parts.add("scripts")
        case ["site", "strings", _]:
            found.parts.add("strings")
        case ["calculators", "strings", _]:
            found.parts.add("sentences")
        case ["calculators", file] if file.endswith(".py") and _is_calculator(file):
            found.calculators.add(file.removesuffix(".py"))
        case pieces if {name, pieces[0], "/".join(pieces[:2])} & CODE:
            if not name.endswith((".py", ".mjs")):
                return False
            found.parts.add("code")
        case _:
            return False
    return True


def _is_calculator(file: str) -> bool:
    return file.removesuffix(".py") not in contract.LIBRARY
