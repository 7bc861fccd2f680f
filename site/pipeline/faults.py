"""Any error of other people's code as a finding: the file and the line where it went wrong."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from jinja2 import TemplateSyntaxError

from pipeline.errors import BuildError, Finding

ESBUILD_ERROR = re.compile(r"^✘ \[ERROR\] ", re.MULTILINE)
ESBUILD_PLACE = re.compile(r"^ +(\S[^\n]*?):(\d+):\d+:\n +\d+ │ ?([^\n]*)", re.MULTILINE)
SKIPPED = ("site-packages", "/lib/python", "<")


def findings(error: BaseException, root: Path, action: str) -> tuple[Finding, ...]:
    """What `error` says, with its place below `root`; `action` is what to do about it."""
    if isinstance(error, BuildError):
        return error.findings
    file, line = _place(error)
    text = str(getattr(error, "msg", "") or error)
    rule = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return (Finding(relative(file, root), line, "error", source_line(file, line), rule, action),)


def of_esbuild(said: str, folder: str, action: str) -> tuple[Finding, ...]:
    """What esbuild calls errors, each at its own line; at `folder` where it names no line."""
    found = []
    for part in ESBUILD_ERROR.split(said)[1:]:
        rule, _, rest = part.partition("\n")
        place = ESBUILD_PLACE.search(rest)
        file, line, source = (place[1], int(place[2]), place[3]) if place else (folder, 1, "")
        found.append(Finding(file, line, "error", source.strip(), rule.strip(), action))
    return tuple(found) or (Finding(folder, 1, "esbuild", said.strip(), "it failed", action),)


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
        return line_text(file.read_text("utf-8", errors="replace"), line)
    except OSError:
        return ""


def line_text(text: str, line: int) -> str:
    """A line of a text, '' where there is none."""
    lines = text.split("\n")
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
