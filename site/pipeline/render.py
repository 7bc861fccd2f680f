"""Render: resolved pages become the files of the site; the assets are handed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.cache import TextCache, content_key
from pipeline.cases import CaseBook
from pipeline.check import so_far
from pipeline.code import PROJECT, code_digest, digest
from pipeline.errors import BuildError, Finding
from pipeline.fill import Filler, script_json
from pipeline.lazy import Lazy
from pipeline.model import Assets, BoundPage, Language, Rendered, Resolved
from pipeline.shell import BUILD_PLACEHOLDER, CSP, Filled, Shell, without_links
from pipeline.views import RecordView
from pipeline.words import Words

Publish = Callable[[Resolved], Assets]
TEMPLATES = PROJECT / "site" / "templates"
PRELOADED = ("serif.woff2", "sans.woff2")


def render(resolved: Resolved, publish: Publish) -> Rendered:
    """The step. `publish` bundles scripts, styles and fonts for what the book says."""
    try:
        assets = publish(resolved)
    except BuildError as error:  # what is wrong with the content is told all the same
        raise BuildError(*error.findings, *so_far(resolved)) from error
    renderer = Renderer(resolved, assets)
    pages = renderer.pages()
    return Rendered(resolved, renderer.assets, pages, renderer.files(), renderer.findings())


def environment(cache: Path | None) -> Environment:
    """Templates that escape by default and refuse a name that is not there.

    Without a folder to keep them in they are read again whenever they change.
    """
    compiled = cache / "templates" if cache else None
    if compiled:
        compiled.mkdir(parents=True, exist_ok=True)
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=compiled is None,
        bytecode_cache=FileSystemBytecodeCache(str(compiled)) if compiled else None,
    )


class Renderer:
    """All pages of a build, or one of them; what a page does not need is not made.

    Pages whose context was rendered before come from the cache.
    """

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

    def pages(self) -> dict[str, str]:
        """Every page by its path in the site, with the placeholder for the build's hash."""
        contexts = {path: self.context(path) for path in self.paths()}
        store = TextCache(self.book.options.cache / "pages.sqlite")
        code = content_key(code_digest(), digest(TEMPLATES.rglob("*.html")), _strings(self.words))
        keys = {
            path: content_key(code, name, context) for path, (name, context) in contexts.items()
        }
        kept = store.get_many(keys.values())
        pages = {}
        fresh = {}
        for path, (name, context) in contexts.items():
            pages[path] = kept.get(keys[path]) or self._page(name, context)
            if keys[path] not in kept:
                fresh[keys[path]] = pages[path]
        store.put_many(fresh)
        return pages

    def _page(self, template: str, context: Mapping[str, Any]) -> str:
        words = self.words.get(context["page"].get("language", ""))
        strings = self.book.strings
        return self.environment.get_template(template).render(t=words, strings=strings, **context)

    def page(self, path: str) -> str:
        """One page by its path, with the placeholder. Raises KeyError for a path without one."""
        return self._page(*self.context(path))

    def paths(self) -> list[str]:
        """The path of every page."""
        chapters = [f"{language}/{slug}/index.html" for slug, language in self.filled]
        homes = [f"{language}/index.html" for language in self.languages]
        return [*chapters, *homes, "index.html", "404.html"]

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


def _strings(words: Mapping[str, Words]) -> str:
    return json.dumps({name: item.strings for name, item in words.items()}, sort_keys=True)


__all__: Sequence[str] = ("BUILD_PLACEHOLDER", "Renderer", "render")
