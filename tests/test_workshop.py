"""The workshop of the editor's server: what a change makes anew, and what is said of errors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from experiments import record as records_of
from pipeline import bundle, load, parse, render
from pipeline.model import BoundPage, Document, Text
from pipeline.serving import terminal
from pipeline.serving.bundles import KEPT, SITE, Bundler
from pipeline.serving.changes import Changes, sort
from pipeline.serving.workshop import Workshop
from tests import wikis

ALPHA = "en/alpha/index.html"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


@pytest.fixture(scope="module")
def bundler() -> Iterator[Bundler]:
    """One bundler for all workshops: what it bundles is the site's own."""
    made = Bundler(["en", "zh-cn"])
    yield made
    made.close()


@pytest.fixture
def workshop(root: Path, bundler: Bundler) -> Iterator[Workshop]:
    """A workshop on the tiny wiki, opened."""
    made = opened(root, bundler)
    yield made
    close(made)


def opened(root: Path, bundler: Bundler) -> Workshop:
    made = Workshop(wikis.options(root))
    made.bundler = bundler
    made.open()
    return made


def close(workshop: Workshop) -> None:
    """End its programs, but for the bundler that all share."""
    workshop.bundler = Bundler([])
    workshop.close()


def save(workshop: Workshop, file: str, old: str, new: str) -> Changes:
    """Change a file of the wiki, and have the workshop take it."""
    root = workshop.holdings.options.root
    wikis.replace(root / file, old, new)
    changes = sort([root / file], root, wikis.PROJECT)
    workshop.change(changes)
    return changes


def seen(workshop: Workshop, path: str = ALPHA) -> str:
    page = workshop.page(path)
    assert page is not None
    return page


def told(workshop: Workshop) -> list[str]:
    return [str(item) for item in workshop.findings()]


# What a change makes anew.


def test_a_page_of_the_workshop_is_the_page_of_a_build(workshop: Workshop, root: Path) -> None:
    built = wikis.checked(root).rendered.pages
    html = built["zh-cn/beta/index.html"].decode()
    body = html.split('<div class="prose">')[1].split("<wiki-")[0]
    first = body.split('class="katex"')[0]
    assert first in seen(workshop, "zh-cn/beta/index.html")
    assert set(workshop.renderer.paths() if workshop.renderer else ()) == set(built)


def test_what_is_being_edited_has_no_answers_computed_in_advance(
    workshop: Workshop, root: Path
) -> None:
    assert b'"grid":' in wikis.checked(root).rendered.pages[ALPHA]
    assert "data-spec" in seen(workshop)
    assert '"grid":' not in seen(workshop)


def test_a_changed_text_is_parsed_and_its_page_rendered_and_no_other(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(workshop), seen(workshop, "en/beta/index.html")
    parsed: list[str] = []
    filled: list[str] = []
    document, fill = parse.document, render.Renderer._filled

    def count_document(text: Text, slug: str, language: str) -> Document:
        parsed.append(f"{language}/{slug}")
        return document(text, slug, language)

    def count_filled(self: render.Renderer, page: BoundPage) -> object:
        filled.append(f"{page.document.language}/{page.document.slug}")
        return fill(self, page)

    monkeypatch.setattr(parse, "document", count_document)
    monkeypatch.setattr(render.Renderer, "_filled", count_filled)
    save(workshop, "content/alpha/en.md", "A trap with", "Another trap with")
    assert "Another trap with" in seen(workshop)
    seen(workshop, "en/beta/index.html")
    assert (parsed, filled) == (["en/alpha"], ["en/alpha"])


def test_a_new_title_is_on_the_pages_that_name_it(workshop: Workshop) -> None:
    before = seen(workshop, "en/beta/index.html")
    save(workshop, "content/alpha/en.md", "title: Alpha", "title: Aleph")
    after = seen(workshop, "en/beta/index.html")
    assert after.count("Aleph") == before.count("Alpha") > 1


@pytest.mark.parametrize(
    ("file", "old", "new", "shown"),
    [
        ("content/alpha/drawing.svg", "A box", "A case", "A case"),
        ("content/glossary.toml", "One process of", "A process in", "A process in"),
        ("content/sources.toml", "The manual", "The handbook", "The handbook"),
        ("content/alpha/en.md", r"\frac{S}{N}", r"\frac{S}{Q}", "<mi>Q</mi>"),
        ("content/alpha/en.md", "[1, 3]}\nChange", "[1, 4]}\nChange", "[1, 4]"),
    ],
)
def test_a_change_is_on_the_page(
    workshop: Workshop, file: str, old: str, new: str, shown: str
) -> None:
    assert shown not in seen(workshop)
    save(workshop, file, old, new)
    assert shown in seen(workshop)
    assert told(workshop) == []


def test_a_new_record_is_on_the_page(workshop: Workshop, root: Path) -> None:
    path = root / "experiments/records/tiny.gloo.json"
    assert 'value="3.0"' in seen(workshop)
    body = records_of.load(path).body()
    body["results"]["sum"]["total"] = 4.5
    path.write_text(json.dumps(asdict(records_of.seal(body))), "utf-8")
    workshop.change(sort([path], root, wikis.PROJECT))
    assert 'value="4.5"' in seen(workshop)


def test_edits_in_any_order_lead_to_the_page_of_a_new_start(
    workshop: Workshop, root: Path, bundler: Bundler
) -> None:
    """Whatever is kept in memory, it is what a workshop opened now would show."""
    edits = [
        ("content/beta/en.md", "{#limits}", "{#limitations}"),
        ("content/alpha/en.md", "beta#limits", "beta#limitations"),
        ("content/beta/en.md", "title: Beta", "title: Gamma"),
        ("content/glossary.toml", 'en = "rank"', 'en = "Rank"'),
        ("content/beta/en.md", ":label: other", ":label: another"),
        ("content/alpha/en.md", "{eq}`beta#other`", "{eq}`beta#another`"),
        ("content/alpha/zh-cn.md", "title: ", "title: X"),
    ]
    for edit in edits:
        save(workshop, *edit)
        workshop.look(["alpha", "beta"])
    assert [line for line in told(workshop) if "en.md" in line] == []
    fresh = opened(root, bundler)
    paths = render.Renderer.paths(fresh.renderer) if fresh.renderer else []
    try:
        assert {path: workshop.page(path) for path in paths} == {p: fresh.page(p) for p in paths}
    finally:
        close(fresh)


def test_what_serves_the_editor_is_in_no_published_script(bundler: Bundler) -> None:
    marks = [b"/-/events", b"/-/thrown", b"wiki-troubles", b"assets-"]
    bundler.styles()
    bundler.scripts()
    editor = b"".join(bundler.files.values())
    assert [mark for mark in marks if mark not in editor] == []
    published = bundle.scripts(wikis.PROJECT, "runtime/manifest.json", ["en", "zh-cn"])
    everything = b"".join((*published.files.values(), published.service_worker))
    assert [mark for mark in marks if mark in everything] == []


def differences(workshop: Workshop, root: Path, bundler: Bundler) -> list[str]:
    """Pages that a workshop opened now would show otherwise."""
    fresh = opened(root, bundler)
    try:
        paths = {*(workshop.renderer.paths() if workshop.renderer else ()),
                 *(fresh.renderer.paths() if fresh.renderer else ())}  # fmt: skip
        return sorted(path for path in paths if workshop.page(path) != fresh.page(path))
    finally:
        close(fresh)


def test_the_summary_is_read_and_no_chapter_again(
    workshop: Workshop, root: Path, bundler: Bundler, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(workshop)
    read: list[str] = []
    read_chapter = load.read_chapter

    def count(*given: Any) -> Any:
        read.append(given[1])
        return read_chapter(*given)

    monkeypatch.setattr(load, "read_chapter", count)
    save(workshop, "content/summary.toml", '["alpha", "beta"', '["beta", "alpha"')
    assert read == []
    assert "First part · Chapter 2" in seen(workshop)
    assert differences(workshop, root, bundler) == []


def test_a_chapter_comes_and_goes(workshop: Workshop, root: Path, bundler: Bundler) -> None:
    content = root / "content"
    page = "en/gamma/index.html"
    assert workshop.page(page) is None
    shutil.copytree(content / "beta", content / "gamma")
    workshop.change(sort((content / "gamma").iterdir(), root, wikis.PROJECT))
    assert [line.split(":")[0] for line in told(workshop)] == ["content/summary.toml"]
    save(workshop, "content/summary.toml", '["alpha", "beta"', '["alpha", "beta", "gamma"')
    assert told(workshop) == []
    assert "Beta" in seen(workshop, page)
    assert differences(workshop, root, bundler) == []
    shutil.rmtree(content / "gamma")
    workshop.change(sort([content / "gamma"], root, wikis.PROJECT))
    assert [line.split("'")[0].split(": ")[1] for line in told(workshop)] == [
        "chapter without a text ", "chapter without a text ",
    ]  # fmt: skip
    assert workshop.page(page) is None
    save(workshop, "content/summary.toml", '["alpha", "beta", "gamma"', '["alpha", "beta"')
    assert told(workshop) == []
    assert differences(workshop, root, bundler) == []


def test_a_broken_summary_leaves_the_book(workshop: Workshop) -> None:
    before = seen(workshop)
    save(workshop, "content/summary.toml", "[[part]]", "[[part")
    assert told(workshop)[0].startswith("content/summary.toml:1: not TOML")
    assert seen(workshop) == before
    save(workshop, "content/summary.toml", "[[part", "[[part]]")
    assert told(workshop) == []


def test_a_translation_comes_and_goes(workshop: Workshop, root: Path, bundler: Bundler) -> None:
    path = root / "content/beta/zh-cn.md"
    text = path.read_text("utf-8")
    path.unlink()
    workshop.change(sort([path], root, wikis.PROJECT))
    assert [line.split(": ")[1] for line in told(workshop)][:1] == [
        "chapter without a text 'beta in zh-cn'"
    ]
    assert differences(workshop, root, bundler) == []
    path.write_text(text, "utf-8")
    workshop.change(sort([path], root, wikis.PROJECT))
    workshop.look([])
    assert told(workshop) == []
    assert differences(workshop, root, bundler) == []


# What is wrong.


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "content/alpha/en.md", "{cite}`manual`", "{cite}`manuel`",
            "content/alpha/en.md:95: unknown source 'manuel': sources are in "
            "content/sources.toml; did you mean 'manual'?",
        ),
        (
            "content/alpha/en.md", r"\frac{S}{N}", r"\frac{S",
            "content/alpha/en.md:26: formula cannot be set 'L = \\\\frac{S': Unexpected end of "
            "input in a macro argument, expected '}' at end of input: L = \\frac{S; correct the "
            "TeX",
        ),
        (
            "content/alpha/en.md", "question: What", "question: [What",
            "content/alpha/en.md:4: front matter is not YAML 'checks:': did not find expected ','",
        ),
        (
            "content/glossary.toml", 'id = "rank"', "id = rank",
            "content/glossary.toml:2: not TOML",
        ),
    ],
)  # fmt: skip
def test_an_error_is_told_and_gone_when_it_is_mended(
    workshop: Workshop, file: str, old: str, new: str, message: str
) -> None:
    before = seen(workshop)
    save(workshop, file, old, new)
    workshop.look(["alpha"])
    assert any(line.startswith(message) for line in told(workshop)), told(workshop)
    save(workshop, file, new, old)
    workshop.look(["alpha"])
    assert told(workshop) == []
    assert seen(workshop) == before


def test_a_text_that_cannot_be_read_leaves_the_last_page(workshop: Workshop, root: Path) -> None:
    before = seen(workshop)
    path = root / "content/alpha/en.md"
    path.write_bytes(b"---\ntitle: \xff\n---\n")
    workshop.change(sort([path], root, wikis.PROJECT))
    assert seen(workshop) == before
    assert told(workshop) == [
        "content/alpha/en.md:2: not UTF-8 'byte 0xff': content is UTF-8 text; save the file as "
        "UTF-8"
    ]


def test_the_line_itself_is_told(workshop: Workshop, root: Path) -> None:
    save(workshop, "content/alpha/en.md", "{cite}`manual`", "{cite}`manuel`")
    workshop.look(["alpha"])
    (finding,) = workshop.findings()
    assert terminal.described(finding, root) == {
        "file": "content/alpha/en.md",
        "line": 95,
        "message": "unknown source 'manuel': sources are in content/sources.toml; did you mean "
        "'manual'?",
        "source": "As {cite}`manuel` says.",
        "level": "error",
    }


def test_a_long_line_is_told_around_what_is_wrong(workshop: Workshop, root: Path) -> None:
    words = "word " * 100
    save(workshop, "content/alpha/en.md", "{cite}`manual`", f"{words}{{cite}}`manuel` {words}")
    workshop.look(["alpha"])
    (finding,) = workshop.findings()
    shown = terminal.excerpt(finding, root)
    assert len(shown) == terminal.WIDTH + 4
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "{cite}`manuel`" in shown


def test_a_wiki_without_languages_waits_for_them(root: Path, bundler: Bundler) -> None:
    locales = (root / "content/locales.toml").rename(root / "away")
    workshop = opened(root, bundler)
    try:
        assert told(workshop)[0].startswith("content/locales.toml:1: file cannot be read")
        assert workshop.page(ALPHA) is None
        locales.rename(root / "content/locales.toml")
        workshop.change(sort([root / "content/locales.toml"], root, wikis.PROJECT))
        assert told(workshop) == []
        assert "Alpha" in seen(workshop)
    finally:
        close(workshop)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("site/styles/base.css", {"styles"}),
        ("site/templates/parts/figure.html", {"templates"}),
        ("site/scripts/plot.js", {"scripts", "plots"}),
        ("site/strings/en.toml", {"strings"}),
        ("calculators/strings/en.toml", {"sentences"}),
        ("calculators/render.py", {"code"}),
        ("site/pipeline/tex.py", {"code"}),
        ("site/node/katex.mjs", {"code"}),
        ("build.py", {"code"}),
        ("site/pipeline/notes.txt", set()),
        ("README.md", set()),
    ],
)
def test_a_file_belongs_to_a_part(tmp_path: Path, name: str, parts: set[str]) -> None:
    assert sort([wikis.PROJECT / name], tmp_path, wikis.PROJECT).parts == parts


def test_what_pages_name_is_kept_however_often_a_script_is_saved(bundler: Bundler) -> None:
    """Older bundles go; those of parts that nobody edits are as old and stay."""
    bundler.styles()
    bundler.scripts()
    named = [url.partition("?")[0] for url in bundler.assets().urls.values()]
    assert sum(url in bundler.recent for url in named) == 3
    path = "assets/main-{:08d}.js"
    before = dict(bundler.current), dict(bundler.recent), dict(bundler.files)
    try:
        for n in range(2 * KEPT):
            bundler.files[path.format(n)] = b""
            bundler.current["probe"] = {path.format(n)}
            bundler._forget_old({path.format(n): ""})
        assert all(url in bundler.files for url in named)
        assert path.format(0) not in bundler.files
        assert path.format(2 * KEPT - 1) in bundler.files
    finally:
        bundler.current, bundler.recent, bundler.files = before


def test_words_of_the_scripts_are_read_again_when_words_have_changed(
    bundler: Bundler, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def words(_project: Path, language: str) -> dict[str, str]:
        read.append(language)
        return {"live": f"alive {len(read)}"}

    def text() -> str:
        return "".join(bundler.files[path].decode() for path in bundler.current[SITE])

    bundler.scripts()
    monkeypatch.setattr(bundle, "script_words", words)
    bundler.scripts(["site/scripts/theme.js"])
    assert read == []
    bundler.scripts(())
    assert read == ["en", "zh-cn"]
    assert "alive 1" in text()
    monkeypatch.undo()
    bundler.scripts(())
    assert "alive 1" not in text()
