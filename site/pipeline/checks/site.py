"""Checks of what will be published: links, ids, headings, foreign addresses, sizes."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import unescape
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote

from pipeline.errors import Finding, suggest
from pipeline.model import Assets, Rendered

MAX_FIRST_VIEW = 150_000
# Patterns that begin with fixed text are found many times faster than with a choice.
_ID = re.compile(r' id="([^"]*)"')
_ADDRESSES = (re.compile(r' href="([^"]*)"'), re.compile(r'src="([^"]*)"'))
_H1 = re.compile(r"<h1[\s>]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//")
_ELSEWHERE = re.compile(r'="((?:https?:)?//[^"]*)"')
_NAMESPACE = ("xmlns", "value")
_LINKS = ("<a ", "<cite ")
_FOREIGN_CSS = re.compile(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')]*)""")
_FOREIGN_JS = re.compile(r"""(?:import\(|from\s?|fetch\(|importScripts\()["'](https?://[^"']*)""")
_SCRIPT = re.compile(r"<script(?![^>]*(?:src=|application/json))[^>]*>")
_STYLE = re.compile(r"<style[\s>]")
_HANDLER = re.compile(r'on[a-z]+="')
_NAN = re.compile(r'\s(?:d|x|y|[cr][xy]?|[xy][12]|points|transform|width|height|value)="[^"]*NaN')
_STATIC_IMPORT = re.compile(r"""(?:from|import)\s?["']\./([\w.-]+\.js)["']""")
FONT_CLASSES = {
    "katex": "KaTeX_Main-Regular",
    "mathnormal": "KaTeX_Math-Italic",
    "mathbf": "KaTeX_Main-Bold",
    "mathbb": "KaTeX_AMS-Regular",
    "mathcal": "KaTeX_Caligraphic-Regular",
    "small-op": "KaTeX_Size1-Regular",
    "large-op": "KaTeX_Size2-Regular",
    "size1": "KaTeX_Size1-Regular",
    "size2": "KaTeX_Size2-Regular",
    "size3": "KaTeX_Size3-Regular",
    "size4": "KaTeX_Size4-Regular",
}


def pages(rendered: Rendered) -> Iterator[Finding]:
    """Every page has one h1, no id twice, no foreign part, and links that lead somewhere."""
    ids = {path: _ID.findall(html) for path, html in rendered.pages.items()}
    site = Site(rendered, {path: frozenset(names) for path, names in ids.items()})
    for path, html in rendered.pages.items():
        heads = len(_H1.findall(html))
        if heads != 1:
            yield Finding(
                path,
                1,
                "page with several titles",
                f"{heads} h1",
                "a page has one h1",
                "mend its template",
            )
        for name, count in Counter(ids[path]).items():
            if count > 1 and name not in site.repeated(path):
                yield Finding(
                    site.source(path),
                    1,
                    "id used twice on the page",
                    name,
                    "an id is used once",
                    "rename one of them",
                )
        yield from _foreign(path, html)
        yield from site.links(path, html)


def _foreign(path: str, html: str) -> Iterator[Finding]:
    """The first part of each kind that a page may not have."""
    value = next(_loaded_from_elsewhere(html), None)
    if value:
        rule = "a page loads nothing from elsewhere"
        yield Finding(path, 1, "foreign part", value, rule, "serve it from the site")
    value = next(_inline(html), None)
    if value:
        rule = "the policy of the page refuses it"
        yield Finding(path, 1, "inline script or style", value, rule, "put it in a file")
    found = _NAN.search(html) if "NaN" in html else None
    if found:
        rule = "an undefined value is not drawn"
        yield Finding(path, 1, "NaN in the page", found.group(), rule, "mend the calculator")


def _loaded_from_elsewhere(html: str) -> Iterator[str]:
    """Foreign addresses in tags other than links, which a reader follows and a page does not."""
    for found in _ELSEWHERE.finditer(html):
        tag = html.rfind("<", 0, found.start())
        name = html[tag : found.start()].rpartition(" ")[2]
        if not html.startswith(_LINKS, tag) and not name.startswith(_NAMESPACE):
            yield found.group(1)


def _inline(html: str) -> Iterator[str]:
    for pattern in (_SCRIPT, _STYLE):
        yield from (found.group() for found in pattern.finditer(html))
    for found in _HANDLER.finditer(html):
        # A handler is an attribute: it stands after a space and inside a tag.
        tag = html.rfind("<", 0, found.start())
        if html[found.start() - 1].isspace() and ">" not in html[tag : found.start()]:
            yield found.group()


class Site:
    """The paths and ids of a site, to follow links in."""

    def __init__(self, rendered: Rendered, ids: Mapping[str, frozenset[str]]) -> None:
        parsed = rendered.resolved.parsed
        self.rendered, self.ids = rendered, ids
        self.planned = {f"{language}/{slug}/index.html" for slug, language in parsed.documents}
        self.lines = {
            f"{language}/{slug}/index.html": (item.file, dict(item.links))
            for (slug, language), item in parsed.documents.items()
        }
        self.noted: dict[str, frozenset[str]] = {}
        for item in parsed.findings:
            if item.what == "id used twice":
                self.noted[item.file] = self.noted.get(item.file, frozenset()) | {item.value}
        self.paths = {*rendered.pages, *rendered.files, *self.planned, "build.json", "sw.js"}

    def source(self, path: str) -> str:
        """The file that a page is made from, or the page where it has none."""
        return self.lines.get(path, (path, {}))[0]

    def repeated(self, path: str) -> frozenset[str]:
        """The ids of a page that its text is known to use twice (or not to have)."""
        return self.noted.get(self.source(path), frozenset()) | {""}

    def links(self, path: str, html: str) -> Iterator[Finding]:
        """Links of the page `path` that lead nowhere."""
        for raw in dict.fromkeys(raw for pattern in _ADDRESSES for raw in pattern.findall(html)):
            href = unescape(raw)
            problem = None if _SCHEME.match(href) else self._problem(path, href)
            if problem:
                file, lines = self.lines.get(path, (path, {}))
                yield Finding(file, lines.get(href, 1), "link to nowhere", href, *problem)

    def _problem(self, path: str, href: str) -> tuple[str, str] | None:
        place, _, fragment = href.partition("#")
        fragment = fragment.partition("?")[0]  # what follows is a calculator's state
        target = _target(path, unquote(place)) if place else path
        if target not in self.paths:
            return f"the site has no {target}", suggest(target, self.planned, "pages")
        if fragment and target in self.ids and unquote(fragment) not in self.ids[target]:
            return f"{target} has no id {fragment}", suggest(fragment, self.ids[target], "ids")
        return None


@lru_cache(maxsize=65_536)
def _target(path: str, place: str) -> str:
    """The path in the site that a relative address on the page `path` means."""
    target = normpath(f"{path.rpartition('/')[0]}/{place}").lstrip("/")
    if place.endswith("/") or place in (".", ".."):
        return "index.html" if target == "." else f"{target}/index.html"
    return target


def assets(rendered: Rendered) -> Iterator[Finding]:
    """Scripts and styles load nothing from elsewhere."""
    for path, data in rendered.assets.files.items():
        pattern = {".css": _FOREIGN_CSS, ".js": _FOREIGN_JS}.get(Path(path).suffix)
        if pattern and path.startswith("assets/"):
            found = pattern.search(data.decode(errors="replace"))
            if found:
                yield Finding(
                    path,
                    1,
                    "foreign part",
                    found.group(1),
                    "a page loads nothing from elsewhere",
                    "serve it from the site",
                )


def budgets(rendered: Rendered) -> Iterator[Finding]:
    """The first view of a page, without the runtime, stays under its budget."""
    shared = sum(_packed(rendered.assets.files[path]) for path in _shared(rendered.assets))
    fonts = _fonts(rendered.assets)
    for path, html in rendered.pages.items():
        # Markup packs to a third or better: most pages need no closer look.
        if shared + sum(fonts.values()) + len(html) // 3 < MAX_FIRST_VIEW:
            continue
        used = sum(size for name, size in fonts.items() if name in html)
        total = shared + used + _packed(html.encode())
        if total > MAX_FIRST_VIEW:
            yield Finding(
                path,
                1,
                "first view too large",
                f"{total} bytes",
                f"at most {MAX_FIRST_VIEW} compressed, fonts included",
                "shorten the page or split it",
                # A map grows with its book: it is told of, but stops none.
                "error" if path.count("/") > 1 else "warning",
            )


def _shared(assets: Assets) -> list[str]:
    """What every page loads at once: style, scripts and the scripts these name."""
    wanted = [
        assets.urls[name] for name in ("main.css", "theme.js", "main.js") if name in assets.urls
    ]
    for path in wanted:
        if path.endswith(".js"):
            text = assets.files[path].decode()
            names = [f"assets/{name}" for name in _STATIC_IMPORT.findall(text)]
            wanted += [name for name in names if name in assets.files and name not in wanted]
    preloaded = [path for name, path in assets.urls.items() if name.endswith(".woff2")]
    return [*wanted, *(path for path in preloaded if "italic" not in path)]


def _fonts(assets: Assets) -> dict[str, int]:
    """Class of a formula to the size of the font it needs."""
    sizes = {Path(path).name.rpartition("-")[0]: len(data) for path, data in assets.files.items()}
    return {name: sizes.get(font, 0) for name, font in FONT_CLASSES.items()}


def _packed(data: bytes) -> int:
    if data[:4] == b"wOF2":
        return len(data)
    return len(zlib.compress(data, 6))
