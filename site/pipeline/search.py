"""The search index, made by Pagefind from the finished pages: one for each language."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

# The binary itself: the package's own start in Python costs more than indexing a chapter.
from pagefind_bin_extended import get_executable  # type: ignore[import-untyped]

from pipeline.errors import BuildError, Finding

TIMEOUT = 120.0
TIMEOUT_OF_A_PAGE = 0.05
ENTRY = "pagefind-entry.json"
# Pagefind brings an interface of its own; the site has one, and needs the index alone.
UNUSED = ("*-ui*", "*highlight*", "*playground*")
_BUILD = re.compile(r'<meta name="wiki-build" content="(\w+)">')


def index(folder: Path) -> None:
    """Index the pages of the site in `folder`, into pagefind/BUILD/.

    The folder is named by the build: its files have plain names, and a page of one build must
    not search the index of another. Raises `BuildError` with Pagefind's own last line.
    """
    pages = sorted(folder.rglob("*.html"))
    build = next(iter(_BUILD.findall(pages[0].read_text("utf-8"))), "") if pages else ""
    if not build:
        return
    place = f"pagefind/{build}"
    command = [str(get_executable()), "--site", str(folder), "--output-subdir", place]
    limit = TIMEOUT + len(pages) * TIMEOUT_OF_A_PAGE
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(_failure(f"no index within {limit:g} s")) from None
    if done.returncode != 0:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise BuildError(_failure(said[-1] if said else ""))
    for pattern in UNUSED:
        for path in (folder / place).glob(pattern):
            path.unlink()
    _settle(folder / place / ENTRY)


def _failure(said: str) -> Finding:
    rule = "every page can be searched for"
    return Finding("site", 1, "search index", said, rule, "run `make site`")


def _settle(entry: Path) -> None:
    """Pagefind lists the languages in any order; equal sites must be equal files."""
    listed = json.loads(entry.read_text("utf-8"))
    entry.write_text(json.dumps(listed, ensure_ascii=False, sort_keys=True), "utf-8")
