"""Checks of what will be published: links, ids, headings, foreign addresses, sizes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline import facts
from pipeline.errors import Finding, suggest
from pipeline.facts import Facts, Link
from pipeline.model import Assets, Rendered

MAX_FIRST_VIEW = 150_000
_FOREIGN_CSS = re.compile(r"""(?:url\(|@import\s+)["']?((?:https?:)?//[^"')]*)""")
_FOREIGN_JS = re.compile(r"""(?:import\(|from\s?|fetch\(|importScripts\()["'](https?://[^"']*)""")
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
    known = {
        path: rendered.facts.get(path) or facts.of(path, html.decode())
        for path, html in rendered.pages.items()
    }
    site = Site(rendered, known)
    for path, found in known.items():
        if found.heads != 1:
            yield Finding(
                path,
                1,
                "page with several titles",
                f"{found.heads} h1",
                "a page has one h1",
                "mend its template",
            )
        for name in found.repeated:
            if name not in site.noted(path):
                yield Finding(
                    site.source(path),
                    1,
                    "id used twice on the page",
                    name,
                    "an id is used once",
                    "rename one of them",
                )
        for what, value, rule, action in found.wrong:
            yield Finding(path, 1, what, value, rule, action)
        yield from site.links(path)


class Site:
    """The paths and ids of a site, to follow links in."""

    def __init__(self, rendered: Rendered, known: Mapping[str, Facts]) -> None:
        parsed = rendered.resolved.parsed
        self.known = known
        self.documents = {
            f"{language}/{slug}/index.html": item
            for (slug, language), item in parsed.documents.items()
        }
        self.twice: dict[str, set[str]] = {}
        for item in parsed.findings:
            if item.what == "id used twice":
                self.twice.setdefault(item.file, set()).add(item.value)
        self.paths = {*rendered.pages, *rendered.files, *self.documents, "build.json", "sw.js"}

    def source(self, path: str) -> str:
        """The file that a page is made from, or the page where it has none."""
        return self.documents[path].file if path in self.documents else path

    def noted(self, path: str) -> set[str]:
        """The ids of a page that its text is known to use twice (or not to have)."""
        return {"", *self.twice.get(self.source(path), ())}

    def links(self, path: str) -> Iterator[Finding]:
        """Links of the page `path` that lead nowhere."""
        found = self.known[path]
        if path in self.documents and not self.documents[path].body:
            return  # a page that could not be read has no places, and says why
        is_whole = found.targets <= self.paths
        for link in found.within if is_whole else found.links:
            problem = self._problem(link)
            if problem:
                document = self.documents.get(path)
                line = dict(document.links).get(link.href, 1) if document else 1
                yield Finding(self.source(path), line, "link to nowhere", link.href, *problem)

    def _problem(self, link: Link) -> tuple[str, str] | None:
        if link.target not in self.paths:
            return f"the site has no {link.target}", suggest(link.target, self.documents, "pages")
        there = self.known.get(link.target)
        document = self.documents.get(link.target)
        if document is not None and not document.body:
            return None  # what it would hold is not known
        if there is not None and link.fragment and link.fragment not in there.ids:
            rule = f"{link.target} has no id {link.fragment}"
            return rule, suggest(link.fragment, sorted(there.ids), "ids")
        return None


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
        used = sum(size for name, size in fonts.items() if name.encode() in html)
        total = shared + used + _packed(html)
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
