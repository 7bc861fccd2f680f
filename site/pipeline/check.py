"""Check: everything that was found on the way, and what only the whole site can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline import tables
from pipeline.checks import CHECKS
from pipeline.errors import Finding, as_warnings
from pipeline.model import Checked, Rendered, Resolved
from pipeline.table import EMPTY, NO_ID, UNKNOWN

UNREADABLE = (
    "not TOML", "not JSON", "not UTF-8", "file cannot be read", "file too large",
    "file outside the project", "control character",
)  # fmt: skip
LACKING = (*UNREADABLE, EMPTY, UNKNOWN, "not a list of tables")
# A page without a head is not built; what only follows from that is not told of others.
HEADLESS = (
    "missing front matter", "front matter is not YAML", "front matter is not a list of fields",
    "front matter too long",
)  # fmt: skip
UNRECORDED = ("unknown record", "recompute of an unknown experiment")
# What one lost or misspelt entry makes wrong wherever it is named.
SHARED = ("unknown record", "unknown term", "unknown source", "unknown calculator")
MANY = 4
FOLLOWING = ("unknown heading", "unknown formula", "stale translation")
# What may only be wrong because the summary does not list what it should.
UNLISTED = (
    "chapter in no part", "calculator without a chapter", "record without a chapter",
    "unknown chapter", "unknown heading", "link to nowhere",
)  # fmt: skip
ORDER = {"error": 0, "warning": 1}


def check(rendered: Rendered) -> Checked:
    """The step: all findings of all steps, in the order of files and lines, each once.

    Nothing stops a draft: it shows what there is of the content, and lists the rest.
    """
    found = [*so_far(rendered.resolved), *rendered.findings]
    for look in CHECKS:
        found += look(rendered)
    if rendered.resolved.parsed.book.options.is_draft:
        found = list(as_warnings(found))
    unique = dict.fromkeys(_by_name(_by_cause(_without_consequences(found))))
    return Checked(rendered, tuple(sorted(unique, key=lambda f: (ORDER[f.level], f))))


def _without_consequences(found: Sequence[Finding]) -> list[Finding]:
    """Without what is only wrong because a file could not be read, or not all of it."""
    unread = {item.file for item in found if item.what in UNREADABLE}
    lacking = {item.file for item in found if item.what in LACKING or item.what.endswith(NO_ID)}
    is_unlisted = any(item.file == tables.SUMMARY and item.what not in UNLISTED for item in found)
    untold = {item.value for item in found if item.what == "chapter without a text"}
    headless = {item.file for item in found if item.what in HEADLESS}
    no_records = {item.value for item in found if item.what == "not a record"}
    no_records |= {name.partition(".")[0] for name in no_records}
    return [
        item
        for item in found
        if not (item.what in UNRECORDED and item.value in no_records)
        and not (item.what == "unknown chapter" and _place(item) in untold)
        and not (item.what in FOLLOWING and item.rule.partition(" ")[0] in headless)
        and not any(f"in {file}" in item.rule for file in lacking)
        and not (item.file in unread and item.what not in UNREADABLE)
        and not (item.file in headless and item.what not in HEADLESS)
        and not (is_unlisted and item.what.rpartition(": ")[2] in UNLISTED)
    ]


def _place(item: Finding) -> str:
    """The page that a finding looks for, as one without a text is told of."""
    return f"{item.value} in {item.rule.rpartition(' in ')[2]}"


def _by_cause(found: Sequence[Finding]) -> list[Finding]:
    """With what follows from one place told there, once, with where it shows."""
    causes: dict[str, list[Finding]] = {}
    for item in dict.fromkeys(found):
        if item.cause:
            causes.setdefault(item.cause, []).append(item)
    told = [item for item in found if not item.cause]
    return told + [_at_cause(cause, shown) for cause, shown in causes.items()]


def _by_name(found: Sequence[Finding]) -> list[Finding]:
    """With a name that is not there told at its first place only where many places use it."""
    named: dict[tuple[str, str], list[Finding]] = {}
    for item in dict.fromkeys(found):
        if item.what in SHARED:
            named.setdefault((item.what, item.value), []).append(item)
    told = [item for item in found if item.what not in SHARED]
    for places in named.values():
        first = min(places)
        if len(places) >= MANY:
            told.append(replace(first, rule=f"{first.rule} ({len(places)} places name it)"))
        else:
            told += places
    return told


def _at_cause(cause: str, shown: Sequence[Finding]) -> Finding:
    file, _, line = cause.rpartition(":")
    first = min(shown, key=lambda item: ORDER[item.level])
    places = sorted({(item.file, item.line) for item in shown} - {(file, int(line))})
    rule = first.rule
    if places:
        at = f"{places[0][0]}:{places[0][1]}"
        many = f"{len(places)} places fail with it, the first" if len(places) > 1 else "it fails"
        rule = f"{rule} ({many} at {at})"
    return replace(first, file=file, line=int(line), rule=rule, cause="")


def so_far(resolved: Resolved) -> tuple[Finding, ...]:
    """What loading, parsing and binding found."""
    parsed = resolved.parsed
    return (*parsed.book.findings, *parsed.findings, *resolved.findings)
