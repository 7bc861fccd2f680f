"""Offline after one visit; an update that never mixes two builds."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from pipeline import bundle
from tests.browser.server import Host, Serving
from tests.browser.support import CHAPTER, START, Calculator, Guard, go_offline, open_live

OTHER = "en/adamw/"
KEPT = """async ([path, wanted]) => {
  for (let i = 0; i < 600; i += 1) {
    for (const name of await caches.keys()) {
      const keys = await (await caches.open(name)).keys();
      if (keys.some(({ url }) => new URL(url).pathname.endsWith(path)) === wanted) return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}"""
BUILDS = """async () => (await caches.keys()).filter((name) => name.includes(":build-"))"""


@pytest.fixture
def movable(built: Path, tmp_path: Path) -> Iterator[Host]:
    """A host whose site a test may replace by another build."""
    folder = tmp_path / "published"
    shutil.copytree(built, folder)
    with Serving(folder) as serving:
        yield serving


def rebuild(host: Host, word: str) -> str:
    """Publish another build: every page says `word`, scripts and bundles have other names."""
    folder = host.folder
    manifest = (folder / "build.json").read_text("utf-8")
    old = re.findall(r'"build":"(\w+)"', manifest)[0]
    new = old[::-1] if old[::-1] != old else f"{old[1:]}0"
    for path in folder.rglob("index.html"):
        text = path.read_text("utf-8").replace(old, new)
        path.write_text(text.replace("<h1>", f"<h1>{word} "), "utf-8")
    _rename(folder, "assets/main-", ".js")
    _rename(folder, "assets/worker-", ".js")
    # Every record is another one, under the name of the one before.
    records = sorted(folder.glob("records/*.json"))
    bodies = [path.read_bytes() for path in records]
    for path, body in zip(records, bodies[1:] + bodies[:1], strict=True):
        path.write_bytes(body)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("build.json", "sw.js")
    }
    listed = {path: bundle.entry(data) for path, data in files.items()}
    (folder / "build.json").write_bytes(bundle.build_manifest(listed, new))
    worker = (folder / "sw.js").read_text("utf-8")
    assert old in worker
    (folder / "sw.js").write_text(worker.replace(old, new), "utf-8")
    return new


def _rename(folder: Path, stem: str, suffix: str) -> None:
    """Give a hashed file another name wherever it is named; the old one is gone."""
    path = next(folder.glob(f"{stem}*{suffix}"))
    fresh = path.with_name(f"{path.stem[:-4]}NEW0{suffix}")
    path.rename(fresh)
    for other in [*folder.rglob("index.html"), *folder.glob("assets/*.js")]:
        text = other.read_text("utf-8")
        if path.name in text:
            other.write_text(text.replace(path.name, fresh.name), "utf-8")


def wait_kept(page: Page, path: str, *, is_kept: bool = True) -> None:
    assert page.evaluate(KEPT, [path, is_kept]), path


def test_offline_after_one_visit(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("ERR_", "Failed to fetch", "Failed to load resource", "service worker")
    # As on a phone: a second worker would pass all files by the service worker once more.
    page.add_init_script("Object.defineProperty(navigator, 'deviceMemory', { value: 4 })")
    ledger = open_live(page, host.url + CHAPTER)
    shown = ledger.result.inner_html()
    wait_kept(page, "pyodide.asm.wasm")
    wait_kept(page, OTHER)
    go_offline(page, host)
    page.reload()
    ledger.wait()
    assert ledger.result.inner_html() == shown
    ledger.set("counts", 2, "1")
    assert "0.5" in ledger.verdict.inner_text()
    page.goto(host.url + OTHER)
    assert page.locator("wiki-calculator").first.is_visible()
    Calculator(page, "adamw_step").wait()


def test_offline_from_a_host_without_compression(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("ERR_", "Failed to fetch", "Failed to load resource", "service worker")
    host.compresses = False
    ledger = open_live(page, host.url + CHAPTER)
    wait_kept(page, ".wasm.gz")
    wait_kept(page, OTHER)
    go_offline(page, host)
    page.reload()
    ledger.wait()


def test_page_that_was_not_kept_says_so(page: Page, host: Host, guard: Guard) -> None:
    guard.allows("ERR_", "503", "Failed to fetch", "Failed to load resource")
    open_live(page, host.url + CHAPTER)
    wait_kept(page, "pyodide.asm.wasm")
    go_offline(page, host)
    page.goto(f"{host.url}zh-cn/glossary/")
    assert page.locator("html").get_attribute("lang") == "zh-cn"
    assert page.locator("h1").is_visible()
    page.locator("a").click()
    page.wait_for_url(f"{host.url}zh-cn/")


def test_update_never_mixes_two_builds(
    page: Page, context: BrowserContext, movable: Host, guard: Guard
) -> None:
    guard.origin = movable.origin
    guard.allows("404", "Failed to load resource")
    ledger = open_live(page, movable.url + CHAPTER)
    wait_kept(page, "pyodide.asm.wasm")
    wait_kept(page, OTHER)
    wait_kept(page, "records/adamw_update.gloo.json")
    [old_cache] = page.evaluate(BUILDS)
    old = build_of(page)
    new = rebuild(movable, "NEWER")
    # The server has the old build's files no more; who reads it keeps all of it.
    page.reload()
    ledger.wait()
    assert build_of(page) == old
    page.goto(movable.url + OTHER)
    assert build_of(page) == old
    second = context.new_page()
    second.goto(movable.url + CHAPTER)
    second_ledger = Calculator(second)
    second_ledger.wait()
    notice = second.locator(".update-notice button")
    notice.wait_for(timeout=START)
    assert build_of(second) == old
    # The new one is ready, and waits until a reader asks for it.
    second.reload()
    assert build_of(second) == old
    second_ledger.wait()
    notice.click(timeout=START)
    second.locator("h1", has_text="NEWER").first.wait_for()
    second_ledger.wait()
    assert build_of(second) == new
    assert "NEW0" in (second.locator("script[type=module]").get_attribute("src") or "")
    # The first page is still the old one, and alive.
    assert build_of(page) == old
    first_ledger = Calculator(page, "adamw_step")
    first_ledger.set("theta", 2)
    check_record(page)
    assert old_cache in page.evaluate(BUILDS)
    page.goto(movable.url + CHAPTER)
    assert build_of(page) == new
    ledger.wait()
    wait_gone(page, old_cache)


def wait_gone(page: Page, cache: str) -> None:
    """Until the caches of a build that no page is of are removed."""
    for _ in range(200):
        if cache not in page.evaluate(BUILDS):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{cache} is still there")


def test_old_page_gets_its_own_record(page: Page, movable: Host, guard: Guard) -> None:
    guard.origin = movable.origin
    open_live(page, movable.url + CHAPTER)
    name = page.locator("wiki-record").first.get_attribute("name")
    wait_kept(page, f"records/{name}.json")
    page.reload()
    record = movable.folder / f"records/{name}.json"
    other = next(p for p in (movable.folder / "records").glob("*.json") if p != record)
    record.write_bytes(other.read_bytes())
    check_record(page)


def check_record(page: Page) -> None:
    """The page's first record is the one it was built with."""
    page.locator("wiki-record [data-action=check]").first.click()
    page.locator("wiki-record [data-message][data-outcome=match]").first.wait_for()


def test_page_of_a_newer_build_is_not_kept_among_the_old(
    page: Page, movable: Host, guard: Guard
) -> None:
    guard.origin = movable.origin
    open_live(page, movable.url + CHAPTER)
    wait_kept(page, OTHER)
    [old_cache] = page.evaluate(BUILDS)
    new = rebuild(movable, "NEWER")
    # No page in the other language was kept, so it comes from the network, whole and new.
    page.goto(f"{movable.url}zh-cn/glossary/")
    assert build_of(page) == new
    page.locator("h1", has_text="NEWER").wait_for()
    # Once the old service worker has judged it, it has the new one fetched.
    is_there = "async (build) => (await caches.keys()).some((name) => name.endsWith(build))"
    page.wait_for_function(is_there, arg=new, timeout=START)
    keys = "async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)"
    assert not [url for url in page.evaluate(keys, old_cache) if url.endswith("zh-cn/glossary/")]


def build_of(page: Page) -> str:
    return page.locator('meta[name="wiki-build"]').get_attribute("content") or ""
