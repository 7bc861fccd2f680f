"""Checks of the rendered site: what only templates, scripts or calculators could break."""

from __future__ import annotations

from dataclasses import replace as changed
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.errors import BuildError, Finding
from pipeline.model import Assets, Parsed, Rendered
from pipeline.render import render
from tests import wikis


def with_page(rendered: Rendered, old: str, new: str) -> list[str]:
    """What is wrong when the home page says `new` for `old`."""
    html = rendered.pages["en/index.html"].decode()
    assert old in html
    pages = {**rendered.pages, "en/index.html": html.replace(old, new, 1).encode()}
    found = check(changed(rendered, pages=pages, facts={})).findings
    return [str(item) for item in found]


@pytest.fixture
def rendered(tmp_path: Path) -> Rendered:
    return render(wikis.resolved(wikis.copied(tmp_path)), wikis.assets)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (
            '</main><img src="https://example.org/dot.gif">',
            "en/index.html:1: foreign part 'https://example.org/dot.gif': a page loads nothing "
            "from elsewhere; serve it from the site",
        ),
        (
            '</main><link rel="stylesheet" href="//example.org/a.css">',
            "en/index.html:1: foreign part '//example.org/a.css': a page loads nothing from "
            "elsewhere; serve it from the site",
        ),
        (
            "</main><script>x()</script>",
            "en/index.html:1: inline script or style '<script>': the policy of the page refuses "
            "it; put it in a file",
        ),
        (
            # The hash that the page names is another script's.
            "</main><meta content=\"'sha256-mZ9HbLaSXcuwBS4lRTIJn5bbvG+3iRxGxdR0bQSxYbs='\">"
            "<script>y()</script>",
            "en/index.html:1: inline script or style '<script>': the policy of the page refuses "
            "it; put it in a file",
        ),
        (
            '</main><svg><path d="M0 NaN"/></svg>',
            "en/index.html:1: NaN in the page 'd=\"M0 NaN': an undefined value is not drawn; mend "
            "the calculator",
        ),
        (
            "</main><h1>Second</h1>",
            "en/index.html:1: page with several titles '2 h1': a page has one h1; mend its "
            "template",
        ),
        (
            '</main><p id="text"></p>',
            "en/index.html:1: id used twice on the page 'text': an id is used once; rename one "
            "of them",
        ),
        (
            '</main><a href="../en/alpha/#gone">x</a>',
            "en/index.html:1: link to nowhere '../en/alpha/#gone': en/alpha/index.html has no id "
            "gone; did you mean 'ex-one'?",
        ),
    ],
)
def test_a_broken_site_goes_red(rendered: Rendered, new: str, expected: str) -> None:
    assert with_page(rendered, "</main>", new) == [expected]


def with_asset(rendered: Rendered, path: str, data: bytes) -> list[str]:
    """What is wrong with an asset."""
    assets = Assets(rendered.assets.urls, {**rendered.assets.files, path: data})
    found = check(changed(rendered, assets=assets)).findings
    return [str(item) for item in found]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("assets/main.css", b"a{background:url(https://example.org/a.png)}"),
        ("assets/main.css", b'@import "https://example.org/a.css";'),
        ("assets/main.js", b'import("https://example.org/a.js")'),
        ("assets/main.js", b'fetch("https://example.org/a.json")'),
    ],
)
def test_an_asset_that_loads_from_elsewhere_goes_red(
    rendered: Rendered, path: str, data: bytes
) -> None:
    (message,) = with_asset(rendered, path, data)
    assert message.startswith(f"{path}:1: foreign part 'https://example.org/")


def test_a_first_view_over_its_budget_is_an_error_on_pages_of_text(rendered: Rendered) -> None:
    noise = b"wOF2" + bytes(range(256)) * 700
    files = {**rendered.assets.files, "assets/main.css": noise}
    assets = changed(rendered.assets, files=files)
    found = check(changed(rendered, assets=assets)).findings
    assert {item.what for item in found} == {"first view too large"}
    assert {item.file: item.level for item in found} == {
        path: "error" if path.count("/") > 1 else "warning" for path in rendered.pages
    }


def test_assets_that_cannot_be_made_hide_nothing_else(tmp_path: Path) -> None:
    root = wikis.copied(tmp_path)
    wikis.replace(root / "content/alpha/en.md", "{cite}`manual`", "{cite}`manuel`")

    def publish(_: Parsed) -> Assets:
        raise BuildError(Finding("site/scripts", 1, "esbuild", "x", "scripts must bundle", "mend"))

    with pytest.raises(BuildError) as caught:
        render(wikis.resolved(root), publish)
    assert [item.what for item in caught.value.findings] == ["esbuild", "unknown source"]
