"""Render: resolved pages become the files of the site; the assets are handed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline import code, facts, grid
from pipeline.cases import CaseBook
from pipeline.check import so_far
from pipeline.errors import BuildError, Finding
from pipeline.facts import Facts, csp_hash
from pipeline.fill import Filler, script_json, set_in_type, spelled
from pipeline.lazy import Lazy
from pipeline.model import Assets, BoundPage, Kept, Language, Parsed, Rendered, Resolved
from pipeline.search import text_of
from pipeline.shell import BUILD_PLACEHOLDER, CSP, Filled, Shell, without_links
from pipeline.views import RecordView
from pipeline.words import Words

Publish = Callable[[Parsed], Assets]
Place = tuple[str, str]
PRELOADED = ("serif.woff2", "sans.woff2")


def render(
    resolved: Resolved,
    publish: Publish,
    keep: Callable[[Place, Kept], None] | None = None,
    search: Callable[[str, str], None] | None = None,
) -> Rendered:
    """The step. `publish` bundles scripts, styles and fonts for what the book says.

    `keep` takes what later builds may use again; `search` takes each page's path and what is
    searched in, in an order that is the same for equal books.
    """
    try:
        assets = publish(resolved.parsed)
    except BuildError as error:  # what is wrong with the content is told all the same
        raise BuildError(*error.findings, *so_far(resolved)) from error
    laid = grid.lay(resolved)
    renderer = Renderer(laid.resolved, assets)
    findings = (*renderer.findings(), *laid.findings)
    sound = _sound(resolved, findings) if keep else frozenset()
    pages: dict[str, bytes] = {}
    known: dict[str, Facts] = {}
    for path, place in renderer.places().items():
        page = resolved.kept.get(place) or renderer.made(path, place)
        if keep and place in sound:
            keep(place, replace(page, grids=dict.fromkeys(laid.keys[place], "")))
        if search:
            search(path, page.text)
        pages[path], known[path] = page.html, page.facts
    files = {**renderer.files(), **laid.files}
    return Rendered(resolved, assets, pages, files, findings, known)


def _sound(resolved: Resolved, others: Iterable[Finding]) -> frozenset[Place]:
    """The pages that are to be made anew and with which nothing is wrong.

    A binding that is wrong, or a plot that cannot be drawn, may be wrong with more pages than the
    one that it is told of: then none is known to be sound.
    """
    if resolved.findings or any(others):
        return frozenset()
    wrong = {item.file for item in resolved.parsed.findings}
    return frozenset(
        place
        for place, page in resolved.pages.items()
        if place not in resolved.kept and page.document.file not in wrong
    )


def environment(cache: Path | None) -> Environment:
    """Templates that escape by default and refuse a name that is not there.

    Without a folder to keep them in they are read again whenever they change.
    """
    compiled = cache / "templates" if cache else None
    if compiled:
        compiled.mkdir(parents=True, exist_ok=True)
    made = Environment(
        loader=FileSystemLoader(code.TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=compiled is None,
        bytecode_cache=FileSystemBytecodeCache(str(compiled)) if compiled else None,
    )
    made.filters["csp_hash"] = csp_hash
    return made


class Renderer:
    """All pages of a build, or one of them; what a page does not need is not made."""

    def __init__(
        self, resolved: Resolved, assets: Assets, templates: Environment | None = None
    ) -> None:
        self.resolved, self.assets = resolved, assets
        self.book = resolved.parsed.book
        self.environment = templates or environment(self.book.options.cache)
        self.words = {name: Words(name, strings) for name, strings in self.book.strings.items()}
        self.languages = {language.id: language for language in self.book.languages}
        self.filled = Lazy(resolved.pages, lambda place: self._filled(resolved.pages[place]))

    @cached_property
    def case_book(self) -> CaseBook:
        """The case book, computed for the page that shows it."""
        return CaseBook(self.book, self.resolved.parsed.documents)

    @cached_property
    def shell(self) -> Shell:
        """What surrounds the pages."""
        return Shell(self.resolved.parsed, self.filled)

    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the bindings of the case book."""
        return tuple(self.case_book.findings)

    def _filled(self, page: BoundPage) -> Filled:
        document, meta = page.document, page.document.meta
        kept = self.resolved.kept.get((document.slug, document.language))
        if kept is not None:
            question, mistake = Markup(kept.question), Markup(kept.mistake)
            return Filled(document, Markup(""), question, (), mistake, ())
        words = self.words[document.language]
        filler = Filler(page, self.resolved.parsed.formulas, self.environment, words)
        toc = [
            {"id": h.id, "level": h.level, "html": without_links(filler.fill(h.html))}
            for h in document.headings
        ]
        return Filled(
            document=document,
            body=filler.fill(document.body) + self._generated(document.slug, document.language),
            question=filler.fill(meta.question_html),
            checks=tuple(filler.fill(item) for item in meta.checks),
            mistake=filler.fill(meta.mistake_html),
            toc=tuple(toc),
        )

    def _generated(self, slug: str, language: str) -> Markup:
        """The part of a reference page that is made from the tables, below its own text."""
        context: dict[str, Any]
        match slug:
            case "glossary":
                context = {
                    "terms": list(self.book.terms.values()),
                    "language": language,
                    "languages": self.book.languages,
                }
            case "sources":
                context = {"sources": list(self.book.sources.values())}
            case "records":
                views = [v for (_, lang), v in self.resolved.records.items() if lang == language]
                context = {"cards": [self._card(view, language) for view in views]}
            case "cases":
                context = {
                    "cases": self.case_book.entries(language),
                    "topics": self.case_book.topics(language),
                }
            case _:
                return Markup("")
        return self._part(slug, self.words[language], **context)

    def _card(self, view: RecordView, language: str) -> Markup:
        anchor = f"record-{view.name}".replace("_", "-").replace(".", "-")
        return self._part("record", self.words[language], id=anchor, record=view, caption="")

    def _part(self, name: str, words: Words, **context: Any) -> Markup:
        template = self.environment.get_template(f"parts/{name}.html")
        return Markup(template.render(t=words, root="../../", **context))

    def made(self, path: str, place: Place) -> Kept:
        """A page made, and what is told of it elsewhere."""
        marked = self._page(*self.context(path))
        html = set_in_type(marked)
        filled = self.filled.get(place)
        if filled is not None:  # the map of the home page needs little of it, and may be long
            self.filled.kept[place] = replace(filled, body=Markup(""), checks=(), toc=())
        return Kept(
            html=html.encode(),
            text=set_in_type(spelled(text_of(marked))),
            question=filled.question if filled else "",
            mistake=filled.mistake if filled else "",
            facts=facts.of(path, html),
        )

    def _page(self, template: str, context: Mapping[str, Any]) -> str:
        words = self.words.get(context["page"].get("language", ""))
        strings = self.book.strings
        return self.environment.get_template(template).render(t=words, strings=strings, **context)

    def page(self, path: str) -> str:
        """One page by its path, with the placeholder. Raises KeyError for a path without one."""
        return set_in_type(self._page(*self.context(path)))

    def paths(self) -> list[str]:
        """The path of every page."""
        return list(self.places())

    def places(self) -> dict[str, Place]:
        """The path of every page, with its slug and language where it has these."""
        found = {
            f"{language}/{slug}/index.html": (slug, language) for slug, language in self.filled
        }
        found |= {f"{language}/index.html": ("", language) for language in self.languages}
        return {**found, "index.html": ("", ""), "404.html": ("", "")}

    def context(self, path: str) -> tuple[str, dict[str, Any]]:
        """The template of a page and what it is filled with. KeyError for a path without one."""
        match path.split("/"):
            case [("index.html" | "404.html") as name]:
                first = self.book.languages[0]
                return name, self._context(self.shell.site(first, "-"), {}, "")
            case [language, "index.html"]:
                return "home.html", self._home(self.languages[language])
            case [language, slug, "index.html"]:
                filled = self.filled[slug, language]
                kind = self.book.chapters[slug].kind
                page = self.shell.page(filled, self.languages[language])
                site = self.shell.site(self.languages[language], slug)
                template = "page.html" if kind == "chapter" else "reference.html"
                return template, self._context(site, page, "../../")
            case _:
                raise KeyError(path)

    def _context(self, site: Any, page: dict[str, Any], root: str) -> dict[str, Any]:
        urls = {name: root + path for name, path in self.assets.urls.items()}
        preload = [urls[name] for name in PRELOADED if name in urls]
        return {
            "site": site,
            "page": page,
            "root": root,
            "assets": urls,
            "preload": preload,
            "csp": CSP,
        }

    def _home(self, language: Language) -> dict[str, Any]:
        view = self.resolved.home.get(language.id)
        html = Markup("")
        if view is not None:
            template = self.environment.get_template("parts/calculator.html")
            html = Markup(
                template.render(
                    t=self.words[language.id],
                    root="../",
                    id=view.spec["id"],
                    name=view.spec["name"],
                    number=1,
                    calculator=view,
                    spec_json=script_json(view.spec),
                    caption="",
                )
            )
        page = {
            **self.shell.common(language, ""),
            "title": language.title,
            "question": language.question,
            "calculator_html": html,
            "toc": [],
        }
        return self._context(self.shell.site(language), page, "../")

    def files(self) -> dict[str, bytes | Path]:
        """Everything that is not a page: assets, records, the manifest of the web app."""
        files: dict[str, bytes | Path] = dict(self.assets.files)
        for record in self.book.records.values():
            files |= {f"records/{name}": path for name, path in record.files.items()}
        files["manifest.webmanifest"] = self._web_manifest()
        return files

    def _web_manifest(self) -> bytes:
        first = self.book.languages[0]
        icon = self.assets.urls.get("icon.svg")
        icons = [{"src": icon, "sizes": "any", "type": "image/svg+xml"}] if icon else []
        body = {
            "name": first.title,
            "description": first.question,
            "start_url": "./",
            "scope": "./",
            "display": "standalone",
            "background_color": "#fbf9f3",
            "theme_color": "#fbf9f3",
            "icons": icons,
        }
        return json.dumps(body, ensure_ascii=False, indent=1).encode()


__all__: Sequence[str] = ("BUILD_PLACEHOLDER", "Renderer", "render")
