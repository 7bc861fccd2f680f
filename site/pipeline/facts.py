"""Facts of a page: all that the checks of a site ask of its HTML, read once and kept with it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from posixpath import normpath
from urllib.parse import unquote

# Patterns that begin with fixed text are found many times faster than with a choice.
_ID = re.compile(r' id="([^"]*)"')
_ADDRESSES = (re.compile(r' href="([^"]*)"'), re.compile(r'src="([^"]*)"'))
_H1 = re.compile(r"<h1[\s>]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//")
_ELSEWHERE = re.compile(r'="((?:https?:)?//[^"]*)"')
_NAMESPACE = ("xmlns", "value")
_LINKS = ("<a ", "<cite ")
_SCRIPT = re.compile(r"<script(?![^>]*(?:src=|application/json))[^>]*>")
_STYLE = re.compile(r"<style(?:\s[^>]*)?>")
_HANDLER = re.compile(r'on[a-z]+="')
_NAN = re.compile(r'\s(?:d|x|y|[cr][xy]?|[xy][12]|points|transform|width|height|value)="[^"]*NaN')

ANYWHERE = "404.html"
TOP, UP = "language/page", "../../"  # any folder two deep, and the way from it to the top

Wrong = tuple[str, str, str, str]


@dataclass(frozen=True)
class Link:
    """A link within the site: as the page writes it, the path it means, the id behind its #."""

    href: str
    target: str
    fragment: str


@dataclass(frozen=True)
class Facts:
    """A page's titles, ids (and those used twice), links, and parts that no page may have.

    `targets` are all the paths that its links mean, `within` the links to a place on a page.
    """

    heads: int
    ids: frozenset[str]
    repeated: tuple[str, ...]
    wrong: tuple[Wrong, ...]
    links: tuple[Link, ...]
    targets: frozenset[str]
    within: tuple[Link, ...]


def of(path: str, html: str) -> Facts:
    """The facts of the page at `path`."""
    ids = Counter(_ID.findall(html))
    # One page is sent for any address there is not: from there its links lead up.
    links = () if path == ANYWHERE else tuple(_links(path, html))
    return Facts(
        heads=len(_H1.findall(html)),
        ids=frozenset(ids),
        repeated=tuple(name for name, count in ids.items() if count > 1),
        wrong=tuple(_wrong(html)),
        links=links,
        targets=frozenset(link.target for link in links),
        within=tuple(link for link in links if link.fragment),
    )


def _links(path: str, html: str) -> Iterator[Link]:
    folder = path.rpartition("/")[0]
    for raw in dict.fromkeys(raw for pattern in _ADDRESSES for raw in pattern.findall(html)):
        # From the top every page of a depth goes the same way: most links are of this kind.
        start = TOP if raw.startswith(UP) and folder.count("/") == 1 else folder
        link = _link(start, raw)
        if link is not None:
            yield link if link.target else replace(link, target=path)


@lru_cache(maxsize=65_536)
def _link(folder: str, raw: str) -> Link | None:
    """A link as a page in `folder` means it, its target empty for that page; None if foreign."""
    href = unescape(raw)
    if _SCHEME.match(href):
        return None
    place, _, fragment = href.partition("#")
    # What follows a question mark is a calculator's state.
    return Link(href, _target(folder, unquote(place)), unquote(fragment.partition("?")[0]))


def _target(folder: str, place: str) -> str:
    """The path in the site that a relative address on a page in `folder` means."""
    if not place:
        return ""
    target = normpath(f"{folder}/{place}").lstrip("/")
    if place.endswith("/") or place in (".", ".."):
        return "index.html" if target == "." else f"{target}/index.html"
    return target


def _wrong(html: str) -> Iterator[Wrong]:
    """The first part of each kind that a page may not have: what, value, rule, what to do."""
    value = next(_loaded_from_elsewhere(html), None)
    if value:
        rule = "a page loads nothing from elsewhere"
        yield "foreign part", value, rule, "serve it from the site"
    value = next(_inline(html), None)
    if value:
        rule = "the policy of the page refuses it"
        yield "inline script or style", value, rule, "put it in a file"
    found = _NAN.search(html) if "NaN" in html else None
    if found:
        rule = "an undefined value is not drawn"
        yield "NaN in the page", found.group(), rule, "mend the calculator"


def _loaded_from_elsewhere(html: str) -> Iterator[str]:
    """Foreign addresses in tags other than links, which a reader follows and a page does not."""
    for found in _ELSEWHERE.finditer(html):
        tag = html.rfind("<", 0, found.start())
        name = html[tag : found.start()].rpartition(" ")[2]
        if not html.startswith(_LINKS, tag) and not name.startswith(_NAMESPACE):
            yield found.group(1)


def csp_hash(text: str) -> str:
    """What allows a script or a style that stands in its page, as a policy spells it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _inline(html: str) -> Iterator[str]:
    for pattern in (_SCRIPT, _STYLE):
        for found in pattern.finditer(html):
            content = html[found.end() :].partition("</")[0]
            if csp_hash(content) not in html:
                yield found.group()
    for found in _HANDLER.finditer(html):
        # A handler is an attribute: it stands after a space and inside a tag.
        tag = html.rfind("<", 0, found.start())
        if html[found.start() - 1].isspace() and ">" not in html[tag : found.start()]:
            yield found.group()
