"""Any error of other people's code as a finding: the file and the line where it went wrong."""

from __future__ import annotations

import traceback
from pathlib import Path

from jinja2 import TemplateSyntaxError

from pipeline.errors import BuildError, Finding

SKIPPED = ("site-packages", "/lib/python", "<")


def findings(error: BaseException, root: Path, action: str) -> tuple[Finding, ...]:
    """What `error` says, with its place below `root`; `action` is what to do about it."""
    if isinstance(error, BuildError):
        return error.findings
    file, line = _place(error)
    text = str(getattr(error, "msg", "") or error)
    rule = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return (Finding(relative(file, root), line, "error", source_line(file, line), rule, action),)


def _place(error: BaseException) -> tuple[Path, int]:
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), error.lineno or 1
    if isinstance(error, TemplateSyntaxError):
        return Path(error.filename or error.name or "site/templates"), error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not any(part in frame.filename for part in SKIPPED)]
    templates = [frame for frame in own if frame.filename.endswith(".html")]
    for found in (templates, own, frames):
        if found:
            return Path(found[-1].filename), found[-1].lineno or 1
    return Path("build.py"), 1


def relative(file: Path, root: Path) -> str:
    """`file` as messages name it."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.as_posix()


def source_line(file: Path, line: int) -> str:
    """The text of a line of a file, '' where there is none."""
    try:
        lines = file.read_text("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
