"""The Chromium of the tests: which one, and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SYSTEM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# No request but those of the page under test.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


def playwright_chromium() -> str | None:
    """The browser that `playwright install chromium` fetched, if it did."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        path = started.chromium.executable_path
    return path if Path(path).exists() else None


def executable() -> str:
    """The path of a Chromium. RuntimeError says what to do when there is none."""
    found = next(filter(None, map(shutil.which, SYSTEM)), None)
    if found is None and MAC.exists():
        found = str(MAC)
    if found is None:
        found = playwright_chromium()
    if found is None:
        raise RuntimeError("no Chromium; run `make browser`, which installs one")
    return found


def arguments() -> list[str]:
    """Command-line arguments; root may start Chromium only without its sandbox."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*ARGUMENTS, *(["--no-sandbox"] if is_root else [])]
