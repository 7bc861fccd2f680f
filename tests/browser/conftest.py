"""One built site for the session; a fresh context and server for every test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.server import Host, Serving
from tests.browser.support import DESK, Guard

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built once; WIKI_SITE names one that is built already."""
    given = os.environ.get("WIKI_SITE")
    if given:
        return Path(given)
    out = tmp_path_factory.mktemp("site") / "dist"
    command = [sys.executable, str(ROOT / "build.py"), "--out", str(out)]
    subprocess.run(command, check=True, cwd=ROOT, timeout=900)
    return out


@pytest.fixture
def host(built: Path) -> Iterator[Host]:
    with Serving(built) as serving:
        yield serving


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    fresh = browser.new_context(viewport=DESK)
    yield fresh
    fresh.close()


@pytest.fixture
def guard(context: BrowserContext, host: Host) -> Iterator[Guard]:
    """Whatever a test does: no request leaves the origin, nothing is logged as an error."""
    watching = Guard(context, host.origin)
    yield watching
    watching.check()


@pytest.fixture
def page(context: BrowserContext, guard: Guard) -> Iterator[Page]:
    """A page whose every error is an error of the test, unless `guard.allows` it."""
    assert guard.errors == []
    yield context.new_page()
    for opened in context.pages:
        opened.close()
