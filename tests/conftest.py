"""Fixtures that more than one part of the tests shares."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Before numpy is imported: this process and those it starts add in one order, as the build does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests import browsers

# How long one example takes says something of the machine, not of the code. Where a commit is
# judged, the examples are the same every time; elsewhere each run looks for new ones.
settings.register_profile("shared_machine", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("shared_machine")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """The one Playwright of the session; a second one in the same thread cannot start."""
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium: the one CHROMIUM names, the system's, or the one Playwright has installed."""
    path = os.environ.get("CHROMIUM") or browsers.system()
    running = playwright.chromium.launch(executable_path=path, args=browsers.arguments())
    yield running
    running.close()
