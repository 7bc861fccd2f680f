"""Check: everything that was found on the way, and what only the whole site can show."""

from __future__ import annotations

from pipeline.checks import CHECKS
from pipeline.errors import Finding, as_warnings
from pipeline.model import Checked, Rendered, Resolved

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
    unique = dict.fromkeys(found)
    return Checked(rendered, tuple(sorted(unique, key=lambda f: (ORDER[f.level], f))))


def so_far(resolved: Resolved) -> tuple[Finding, ...]:
    """What loading, parsing and binding found."""
    parsed = resolved.parsed
    return (*parsed.book.findings, *parsed.findings, *resolved.findings)
