"""Each module here is one visit: after its first page, Python starts warm.

These are tests of what a page does once Python answers. Tests of how it starts, of what is stored
or of what a server did begin with nothing, one folder up.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.server import Host, Serving
from tests.browser.support import DESK


@pytest.fixture(scope="module")
def host(built: Path) -> Iterator[Host]:
    with Serving(built) as serving:
        yield serving


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    visit = browser.new_context(viewport=DESK)
    yield visit
    visit.close()
