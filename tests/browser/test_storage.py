"""Storage that is full: the page works, says so in words, keeps things whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, START, Guard, go_offline, open_live
from tests.browser.test_failures import IS_WARM, wait_for_snapshot, wait_unavailable
from tests.browser.test_offline import OTHER, wait_kept

KEPT_FILES = """async () => {
  const found = {};
  for (const name of await caches.keys()) {
    const keys = await (await caches.open(name)).keys();
    found[name] = keys.map(({ url }) => new URL(url).pathname);
  }
  return found;
}"""
USAGE = "async () => (await navigator.storage.estimate()).usage"
REGISTRATIONS = "async () => (await navigator.serviceWorker.getRegistrations()).length"
# Once the service worker has tried to keep the page (`page`) or the book (`language`).
TOLD = """
window.told = {};
navigator.serviceWorker.addEventListener("message", ({ data }) => {
  Object.assign(window.told, data.hasRoom);
});
"""
# Every file that a page cannot be shown without.
SHELL = (".css", ".js")


class Quota:
    """How many bytes this site's origin may keep."""

    def __init__(self, context: BrowserContext, page: Page, host: Host) -> None:
        self.session = context.new_cdp_session(page)
        self.origin = host.origin

    def is_(self, size: int | None) -> None:
        """At most `size` bytes; None: as many as the browser itself allows."""
        size_part = {} if size is None else {"quotaSize": size}
        self.session.send("Storage.overrideQuotaForOrigin", {"origin": self.origin, **size_part})


@pytest.fixture
def quota(context: BrowserContext, page: Page, host: Host) -> Quota:
    return Quota(context, page, host)


def notice(page: Page) -> Locator:
    return page.locator("[data-notice=storage]")


def kept(page: Page) -> dict[str, list[str]]:
    """Paths by cache."""
    found: dict[str, list[str]] = page.evaluate(KEPT_FILES)
    return found


def all_kept(page: Page) -> list[str]:
    return [path for paths in kept(page).values() for path in paths]


def shell_size(built: Path) -> int:
    """Bytes of the styles and scripts, which an install keeps."""
    manifest: dict[str, Any] = json.loads((built / "build.json").read_text("utf-8"))
    return sum(
        entry["bytes"]
        for path, entry in manifest["files"].items()
        if path.startswith("assets/") and path.endswith(SHELL)
    )


def assert_nothing_is_half_kept(page: Page, built: Path) -> None:
    """A kept page has its styles and scripts; what Python starts from is there whole or not."""
    manifest = json.loads((built / "build.json").read_text("utf-8"))
    paths = {path.partition("/same-update/")[2] for path in all_kept(page)}
    pages = {path for path in paths if path.endswith("/")}
    shell = {p for p in manifest["files"] if p.startswith("assets/") and p.endswith(SHELL)}
    assert not pages or shell <= paths
    core = {path for path in paths if path.startswith("runtime/pyodide-")}
    assert core == set() or len(core) >= 5, core


@pytest.mark.parametrize("share", [0, 0.6], ids=["none", "some of its scripts"])
def test_page_lives_where_nothing_can_be_kept(
    share: float, page: Page, host: Host, quota: Quota, guard: Guard, built: Path
) -> None:
    guard.allows("QuotaExceeded", "exceed")
    quota.is_(1 + int(share * shell_size(built)))
    ledger = open_live(page, host.url + CHAPTER)
    notice(page).wait_for(timeout=START)
    assert "no room" in notice(page).inner_text()
    ledger.set("theta", 2)
    assert ledger.message.is_hidden()
    page.wait_for_function("async () => (await caches.keys()).length === 0", timeout=START)
    assert all_kept(page) == []
    assert page.evaluate(REGISTRATIONS) == 0
    # The next visit is like the first one, and like it says so.
    page.reload()
    ledger.wait()
    assert not page.evaluate(IS_WARM)
    notice(page).wait_for(timeout=START)
    assert_nothing_is_half_kept(page, built)


def test_everything_is_kept_once_there_is_room(
    page: Page, host: Host, quota: Quota, guard: Guard
) -> None:
    guard.allows("QuotaExceeded", "exceed")
    quota.is_(1)
    ledger = open_live(page, host.url + CHAPTER)
    notice(page).wait_for(timeout=START)
    quota.is_(None)
    notice(page).get_by_text("Try again").click()
    wait_for_snapshot(page)
    wait_kept(page, "pyodide.asm.wasm")
    wait_kept(page, CHAPTER)
    notice(page).wait_for(state="detached", timeout=START)
    page.reload()
    ledger.wait()
    assert page.evaluate(IS_WARM)
    assert notice(page).count() == 0


def test_room_for_pages_but_not_for_python(
    page: Page, host: Host, quota: Quota, guard: Guard, built: Path
) -> None:
    guard.allows("QuotaExceeded", "exceed", "ERR_", "Failed to")
    quota.is_(shell_size(built) + 2_000_000)
    page.add_init_script(TOLD)
    ledger = open_live(page, host.url + CHAPTER)
    shown = ledger.result.inner_html()
    notice(page).wait_for(timeout=START)
    page.wait_for_function("() => told.page === false && told.language === false", timeout=START)
    assert [path for path in all_kept(page) if path.endswith(CHAPTER)]
    assert "wiki-snapshot" not in kept(page)
    assert_nothing_is_half_kept(page, built)
    notice(page).get_by_text("Close").click()
    assert notice(page).count() == 0
    go_offline(page, host)
    page.reload()
    # Styled, with its scripts, and with the reason why the controls are still.
    assert "could not be fetched" in wait_unavailable(ledger)
    assert ledger.result.inner_html() == shown


def test_full_storage_lets_go_nothing_that_was_whole(
    page: Page, host: Host, quota: Quota, guard: Guard
) -> None:
    guard.allows("QuotaExceeded", "exceed", "ERR_", "Failed to")
    ledger = open_live(page, host.url + CHAPTER)
    wait_kept(page, "pyodide.asm.wasm")
    wait_kept(page, OTHER)
    wait_for_snapshot(page)
    quota.is_(int(page.evaluate(USAGE)))
    page.reload()
    ledger.wait()
    go_offline(page, host)
    page.reload()
    ledger.wait()
    assert page.evaluate(IS_WARM)
    ledger.set("theta", 1)
    assert ledger.control("theta").input_value() == "1"
