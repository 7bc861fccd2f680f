"""What is wrong, where, and what to do: every message of the build has this one form."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Level = Literal["error", "warning"]
MAX_SHOWN = 80


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong: what, its value, the rule it breaks, what to do about it.

    `cause` is the place (FILE:LINE) of what is wrong where many findings follow from one thing.
    """

    file: str
    line: int
    what: str
    value: str
    rule: str
    action: str
    level: Level = "error"
    cause: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"

    @property
    def message(self) -> str:
        """The message without its place."""
        value = f" {shorten(self.value)!r}" if self.value else ""
        return f"{self.what}{value}: {self.rule}; {self.action}"

    def as_github(self) -> str:
        """The same as a workflow annotation, which lands on the line of the change."""
        text = self.message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        return f"::{self.level} file={self.file},line={self.line}::{text}"


class BuildError(Exception):
    """A build that cannot go on: holds the findings that say why."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings


class FindingError(Exception):
    """What is wrong, before it is known where that shows: what, value, rule, what to do.

    `place` is the file and line where that is known, `cause` as findings have it.
    """

    place: tuple[str, int] | None = None
    cause = ""

    def __init__(self, what: str, value: str, rule: str, action: str) -> None:
        super().__init__(what)
        self.parts = (what, value, rule, action)


def shorten(text: str, limit: int = MAX_SHOWN) -> str:
    """`text` on one line, cut in the middle when it is long."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    half = limit // 2 - 1
    return f"{line[:half]} … {line[-half:]}"


def as_warnings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same findings, none of which stops a build."""
    return tuple(replace(item, level="warning") for item in findings)


def suggest(
    name: str, known: Iterable[str], kind: str = "", cutoff: float = 0.6, otherwise: str = ""
) -> str:
    """What to do about a name that does not exist: the nearest one, else `otherwise`.

    Without that it is where to look: among the things of this `kind`.
    """
    near = nearest(name, known, cutoff)
    if near:
        return f"did you mean {near!r}?"
    return otherwise or (f"use one of the {kind} there are" if kind else "use one that exists")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that `name` seems to be meant as, '' where none is near."""
    near = difflib.get_close_matches(name[:MAX_SHOWN], list(known), n=1, cutoff=cutoff)
    return near[0] if near else ""


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any of the findings stops the build."""
    return any(item.level == "error" for item in findings)
