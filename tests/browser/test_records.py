"""A record is held to account in the page: its canonical JSON is hashed again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, Guard


def check(page: Page) -> tuple[Locator, str]:
    """Press the button of the page's first record; its outcome."""
    card = page.locator("wiki-record").first
    card.locator("[data-action=check]").click()
    outcome = card.locator("[data-message][data-outcome]:not([data-outcome=''])")
    outcome.wait_for()
    return outcome, outcome.inner_text()


def name_of(page: Page) -> str:
    return page.locator("wiki-record").first.get_attribute("name") or ""


def test_record_matches_its_hash(page: Page, host: Host, built: Path) -> None:
    page.goto(host.url + CHAPTER)
    outcome, text = check(page)
    assert outcome.get_attribute("data-outcome") == "match"
    record = json.loads((built / f"records/{name_of(page)}.json").read_text("utf-8"))
    assert record["record_sha256"] in text


def test_every_record_of_the_site_matches(page: Page, host: Host) -> None:
    page.goto(f"{host.url}en/records/")
    cards = page.locator("wiki-record")
    assert cards.count() > 5
    for i in range(cards.count()):
        cards.nth(i).locator("[data-action=check]").click()
        cards.nth(i).locator("[data-message][data-outcome=match]").wait_for()


def test_one_changed_byte_is_seen(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)

    def change(data: bytes) -> bytes:
        at = data.index(b'"seed"') + data[data.index(b'"seed"') :].index(b":") + 1
        while not data[at : at + 1].isdigit():
            at += 1
        return data[:at] + (b"8" if data[at : at + 1] != b"8" else b"9") + data[at + 1 :]

    host.changed[f"records/{name_of(page)}.json"] = change
    outcome, text = check(page)
    assert outcome.get_attribute("data-outcome") == "mismatch"
    assert "does not match" in text


def test_only_the_content_counts_not_its_spelling(page: Page, host: Host) -> None:
    page.goto(host.url + CHAPTER)
    host.changed[f"records/{name_of(page)}.json"] = lambda data: json.dumps(
        dict(reversed(json.loads(data).items())), indent=7
    ).encode()
    outcome, _ = check(page)
    assert outcome.get_attribute("data-outcome") == "match"


def test_sound_record_of_another_build_is_told_apart(page: Page, host: Host, built: Path) -> None:
    page.goto(host.url + CHAPTER)
    own = name_of(page)
    other = next(path for path in sorted((built / "records").glob("*.json")) if path.stem != own)
    host.changed[f"records/{own}.json"] = lambda _: other.read_bytes()
    outcome, text = check(page)
    assert outcome.get_attribute("data-outcome") == "mismatch"
    assert "not the one this page was built with" in text


@pytest.mark.parametrize(
    ("reply", "said"), [(None, "could not be fetched"), (b"{", "could not be read")]
)
def test_record_that_cannot_be_had(
    reply: bytes | None, said: str, page: Page, host: Host, guard: Guard
) -> None:
    guard.allows("404")
    page.goto(host.url + CHAPTER)
    if reply is None:
        host.missing.add(f"records/{name_of(page)}.json")
    else:
        host.changed[f"records/{name_of(page)}.json"] = lambda _: reply
    _, text = check(page)
    assert said in text


def test_numpy_in_the_page_computes_what_the_run_measured(page: Page, host: Host) -> None:
    page.goto(f"{host.url}en/records/")
    card = page.locator('wiki-record[name="contrastive_gather.gloo"]')
    card.locator("[data-action=recompute]").click()
    card.locator("[data-message][data-outcome=computed]").wait_for(timeout=60_000)
    lines = card.locator("[data-message]").inner_text().splitlines()
    assert len(lines) >= 5
    assert all(float(line.rsplit(" ", 1)[1]) < 1e-12 for line in lines), lines
