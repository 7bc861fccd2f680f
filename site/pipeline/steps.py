"""The six steps of a build, one after the other: load, parse, bind, render, check, write."""

from __future__ import annotations

from functools import partial

from pipeline import assets, plots, search, tex
from pipeline.bind import bind
from pipeline.check import check
from pipeline.errors import Finding
from pipeline.load import load
from pipeline.model import Checked, Options
from pipeline.parse import parse
from pipeline.prune import used
from pipeline.render import render
from pipeline.shelf import Shelf
from pipeline.write import Written, write


def build(options: Options, is_trial: bool = False) -> tuple[tuple[Finding, ...], Written | None]:
    """All findings, and what was written; None when only checked.

    Raises `BuildError` rather than write a site with errors; a trial is written all the same.
    """
    with used(options.cache), used(assets.RUNTIME), search.indexer(options) as index:
        book = load(options)
        publish = assets.publisher(book)
        index.warm(book.languages)
        parsed = parse(book, partial(tex.render_all, cache=options.cache))
        shelf = Shelf(parsed, publish)
        resolved = bind(parsed, partial(plots.draw_all, cache=options.cache), shelf.kept)
        rendered = render(resolved, publish, shelf.put, index.add)
        index.seal()
        shelf.close()
        checked = check(rendered)
        if options.is_check:
            return checked.findings, None
        site = Checked(checked.rendered, ()) if is_trial else checked
        return checked.findings, write(site, index.files)
