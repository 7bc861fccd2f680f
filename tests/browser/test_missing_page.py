"""The page for addresses that lead nowhere: from any depth it leads to the book."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.server import Host
from tests.browser.support import Guard

PLACES = [
    "typo", "typo/", "en/typo", "en/denominator/typo", "en/no/such/page", "zh-cn/no/such/page/",
    "no/such/place/at/all", "en/en/typo",
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_leads_to_the_book_from_any_depth(place: str, page: Page, host: Host, guard: Guard) -> None:
    guard.allows(r"Failed to load resource.*404")
    answer = page.goto(host.url + place)
    assert answer
    assert answer.status == 404
    links = page.locator("a[data-language]")
    links.first.wait_for()
    own = "zh-cn" if place.startswith("zh-cn") else "en"
    assert links.evaluate_all("all => all.map((link) => link.href)") == [
        f"{host.url}{language}/" for language in sorted(("en", "zh-cn"), key=lambda id: id != own)
    ]
    assert page.locator("[data-up]").is_hidden()
    links.first.click()
    page.wait_for_url(f"{host.url}{own}/")
    assert page.locator("wiki-calculator").first.is_visible()


@pytest.mark.parametrize("place", PLACES)
def test_leads_up_to_the_book_without_scripts(place: str, browser: Browser, host: Host) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(host.url + place)
    assert page.locator("[data-found]").is_hidden()
    colour = page.locator("main").evaluate("element => getComputedStyle(element).display")
    assert colour == "grid"
    for _ in range(place.count("/") + 2):
        if page.locator("link[rel=manifest], main.choose").count():
            break
        # The nearest folder that is another address than this one.
        hops = page.locator("[data-up] a").evaluate_all("all => all.map((link) => link.href)")
        page.goto(next(hop for hop in hops if hop != page.url))
    assert re.fullmatch(rf"{re.escape(host.url)}((en|zh-cn)/(\w+/)?)?", page.url), page.url
    context.close()


def test_keeps_the_reader_s_colours(page: Page, host: Host, guard: Guard) -> None:
    guard.allows(r"Failed to load resource.*404")
    background = "getComputedStyle(document.body).backgroundColor"
    page.goto(f"{host.url}en/typo")
    light = page.evaluate(background)
    page.evaluate("localStorage.setItem('same-update-theme', 'dark')")
    page.reload()
    assert page.evaluate(background) != light


def test_a_place_without_a_book_above_it_says_so(page: Page, host: Host, guard: Guard) -> None:
    guard.allows(r"Failed to load resource.*404")
    host.missing.add("build.json")
    with page.expect_response(f"{host.origin}/build.json"):
        page.goto(f"{host.url}en/typo")
    assert page.locator("[data-up]").is_visible()
    assert page.locator("[data-found]").is_hidden()
