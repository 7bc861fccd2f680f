"""Assets: scripts, styles, fonts, icons and the runtime, bundled once for equal sources."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from pipeline import bundle, fonts, styles, vendor
from pipeline.cache import content_key
from pipeline.code import PROJECT, code_digest, digest
from pipeline.model import Assets, Book, Parsed
from pipeline.prune import touch

SITE = PROJECT / "site"
SHOWN_OF_A_RECORD = ("experiment", "backend", "dtype", "environment", "command", "claims")
RUNTIME = PROJECT / ".cache"  # fetched once, whatever is built from where


def publisher(book: Book) -> Callable[[Parsed], Assets]:
    """`publish` for this book: the runtime, which is large, is read and checked meanwhile."""
    made: Future[bundle.Runtime] = Future()

    def prepare() -> None:
        try:
            made.set_result(_runtime(book))
        except BaseException as error:  # told to whoever asks for the result
            made.set_exception(error)

    threading.Thread(target=prepare, daemon=True).start()
    bundled: list[Assets] = []

    def once(parsed: Parsed) -> Assets:
        if not bundled:
            bundled.append(publish(parsed, made.result))
        return bundled[0]

    return once


def _runtime(book: Book) -> bundle.Runtime:
    languages = [language.id for language in book.languages]
    return bundle.runtime(vendor.runtime(RUNTIME).folder, PROJECT, languages)


def publish(parsed: Parsed, prepared: Callable[[], bundle.Runtime] | None = None) -> Assets:
    """Everything that a page loads, for what this book says in its languages."""
    book = parsed.book
    cache = book.options.cache
    languages = [language.id for language in book.languages]
    runtime = prepared() if prepared else _runtime(book)
    scripts = _kept(
        cache,
        ("scripts", runtime.manifest, _sources("scripts", "strings")),
        lambda: bundle.scripts(PROJECT, runtime.manifest, languages),
    )
    written = fonts.characters(_texts(book))
    formulas = fonts.characters([*parsed.formulas.values(), *_drawn(book)])
    sheet = _kept(
        cache,
        ("styles", written, formulas, _sources("styles")),
        lambda: styles.styles(PROJECT, cache, [written], [formulas]),
    )
    icons = dict(_icons())
    files = {**runtime.files, **scripts.files, **sheet.files}
    files |= dict(icons.values())
    urls = {**scripts.urls, **sheet.urls, **{name: path for name, (path, _) in icons.items()}}
    return Assets(urls, files, scripts.service_worker)


def _sources(*folders: str) -> str:
    """One digest of folders of the site and of the versions of what bundles them."""
    paths = [path for name in folders for path in (SITE / name).rglob("*") if path.is_file()]
    return digest([*paths, PROJECT / "package-lock.json"])


def _kept(cache: Path, parts: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """What `make` gives, kept in a file of its own; one that cannot be read is made again."""
    path = cache / "assets" / content_key(code_digest(), *parts)
    touch(path)
    try:
        return pickle.loads(path.read_bytes())
    except Exception:  # absent or damaged: either way it is made anew
        made = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    fresh.write_bytes(pickle.dumps(made))
    fresh.replace(path)
    return made


def _texts(book: Book) -> Iterator[str]:
    """Every text that a page can show: content, tables, words, records, calculators' words."""
    for chapter in book.chapters.values():
        for text in (*chapter.texts.values(), *chapter.figures.values()):
            yield text.text
    yield repr((book.terms, book.sources, book.parts, book.languages, book.cases, book.experiments))
    yield repr(book.strings)
    # Not a record's results: those that a page shows are bound numbers and sentences of its text.
    for record in book.records.values():
        yield repr({key: record.body[key] for key in SHOWN_OF_A_RECORD if key in record.body})
    for path in sorted((PROJECT / "calculators" / "strings").glob("*.toml")):
        yield path.read_text("utf-8")


def _drawn(book: Book) -> Iterator[str]:
    """The drawings, whose symbols are set in the faces of the formulas."""
    for chapter in book.chapters.values():
        yield from (figure.text for figure in chapter.figures.values())


def _icons() -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Logical name to (published path, content)."""
    for path in sorted((SITE / "icons").iterdir()):
        if path.is_file():
            data = path.read_bytes()
            short = hashlib.sha256(data).hexdigest()[:8].upper()
            yield path.name, (f"assets/{path.stem}-{short}{path.suffix}", data)
