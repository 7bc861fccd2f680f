"""The whole build: the tiny wiki, its command line, its caches, and how it grows."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest

import build
from pipeline import code, parse, render
from pipeline.model import Document, Kept, Text
from pipeline.write import write
from tests import wikis
from tests.bench.build import DROPPED

HASH = re.compile(r"-[0-9A-Z]{8}\.")
ELSEWHERE = ("assets/", "runtime/", "pagefind/", "grids/")


def command(root: Path, *arguments: str) -> int:
    """build.py on a wiki; its exit status."""
    return build.main(["--root", str(root), *arguments])


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny wiki, built by the command with everything real."""
    root = wikis.copied(tmp_path_factory.mktemp("built"))
    assert command(root) == 0
    return root


def test_the_tiny_wiki_is_built_whole(built: Path) -> None:
    found = [path for path in tree(built / "dist") if not path.startswith(ELSEWHERE)]
    expected = (wikis.WIKI / "expected/files.txt").read_text().split()
    assert found == expected


def test_every_asset_that_a_page_names_is_there(built: Path) -> None:
    files = tree(built / "dist")
    html = files["en/alpha/index.html"].decode()
    named = re.findall(r'(?:href|src)="\.\./\.\./(assets/[^"]+)"', html)
    assert {HASH.sub(".", Path(path).name) for path in named} >= {"main.css", "main.js", "theme.js"}
    assert set(named) <= set(files)


def test_a_page_is_complete_without_scripts(built: Path) -> None:
    html = tree(built / "dist")["zh-cn/alpha/index.html"].decode()
    for part in (
        '<html lang="zh-CN">',
        '<meta name="wiki-build" content="',
        'hreflang="en" href="../../en/alpha/"',
        "data-verdict>",
        '<wiki-record id="record-tiny-gloo" name="tiny.gloo"',
        'data-source="record:tiny.gloo#results.sum.total"',
        'class="katex"',
        "<math",
        "一个写着词的方框",
        'data-answer="4"',
        "data-pagefind-body",
    ):
        assert part in html, part


def test_no_page_names_another_origin_but_in_links(built: Path) -> None:
    for path, data in tree(built / "dist").items():
        if path.endswith(".html"):
            text = re.sub(r"<a\s[^>]*>|<script.*?</script>", "", data.decode())
            found = set(re.findall(r"https?://[^\"'\s<]+", text))
            assert found <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}


def test_an_incremental_build_is_a_clean_build(built: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited"
    shutil.copytree(built, edited)
    for root in (edited, wikis.copied(tmp_path / "clean")):
        wikis.replace(root / "content/beta/en.md", "A remark.", "Another remark with $z^2$.")
        wikis.replace(root / "content/beta/zh-cn.md", "一句说明。", "另一句说明 $z^2$。")
        assert command(root) == 0
    assert tree(edited / "dist") == tree(tmp_path / "clean/wiki/dist")
    assert tree(edited / "dist") != tree(built / "dist")


def test_a_change_taken_back_leaves_no_trace(built: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited"
    shutil.copytree(built, edited)
    path = edited / "content/beta/en.md"
    before = path.read_text()
    wikis.replace(path, "A remark.", "Another remark.")
    assert command(edited) == 0
    path.write_text(before)
    assert command(edited) == 0
    assert tree(edited / "dist") == tree(built / "dist")


def test_an_edit_parses_and_renders_only_the_page_it_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wikis.checked(root)
    parsed: list[str] = []
    rendered: list[str] = []
    document, page = parse.document, render.Renderer.made

    def count_document(text: Text, slug: str, language: str) -> Document:
        parsed.append(f"{language}/{slug}")
        return document(text, slug, language)

    def count_page(self: render.Renderer, path: str, place: tuple[str, str]) -> Kept:
        rendered.append(path)
        return page(self, path, place)

    monkeypatch.setattr(parse, "document", count_document)
    monkeypatch.setattr(render.Renderer, "made", count_page)
    wikis.replace(root / "content/beta/en.md", "A remark.", "Another remark.")
    wikis.checked(root)
    assert parsed == ["en/beta"]
    assert [path for path in rendered if "alpha" in path or "beta" in path] == [
        "en/beta/index.html"
    ]


def test_a_new_title_renders_every_page_that_names_it(root: Path) -> None:
    before = wikis.checked(root).rendered.pages
    wikis.replace(root / "content/beta/en.md", "title: Beta", "title: Gamma")
    after = wikis.checked(root).rendered.pages
    changed = {path for path in after if after[path] != before[path]}
    assert changed == {path for path in after if path.startswith("en/")}


def test_checking_writes_nothing_and_exits_zero(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(root, "--check") == 0
    assert not (root / "dist").exists()
    assert capsys.readouterr() == ("", "")


def test_checking_tells_everything_at_once_and_exits_one(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wikis.replace(root / "content/alpha/en.md", "{term}`ranks <rank>`", "{term}`ranks <rnak>`")
    wikis.replace(root / "content/beta/en.md", "b = 2", "\\frac{")
    (root / "experiments/tiny.py").write_text("PARTS = (1.0,)\n")
    assert command(root, "--check") == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "content/alpha/en.md:15",
        "content/beta/en.md:14",
        "experiments/records/tiny.gloo.json:15",
        "content/alpha/zh-cn.md:10",
        "content/beta/zh-cn.md:7",
        "3 errors, 2 warnings",
    ]


def test_findings_as_annotations(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wikis.replace(root / "content/alpha/en.md", "{cite}`manual`", "{cite}`manuel`")
    assert command(root, "--check", "--format", "github") == 1
    assert (
        "::error file=content/alpha/en.md,line=95::unknown source 'manuel': sources are in "
        "content/sources.toml; did you mean 'manual'?"
    ) in capsys.readouterr().err.splitlines()


def test_a_failed_build_leaves_the_last_site(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = tmp_path / "edited"
    shutil.copytree(built, edited)
    wikis.replace(edited / "content/alpha/en.md", "{cite}`manual`", "{cite}`manuel`")
    assert command(edited) == 1
    assert "unknown source 'manuel'" in capsys.readouterr().err
    assert tree(edited / "dist") == tree(built / "dist")


def test_one_chapter_is_built_beside_the_site(built: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited"
    shutil.copytree(built, edited)
    assert command(edited, "--only", "beta") == 0
    assert tree(edited / "dist") == tree(built / "dist")
    pages = {path for path in tree(edited / ".cache/only") if path.endswith("index.html")}
    assert pages == {
        "en/beta/index.html", "en/index.html", "index.html",
        "zh-cn/beta/index.html", "zh-cn/index.html",
    }  # fmt: skip


def test_a_chapter_that_does_not_exist_cannot_be_built_alone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(root, "--only", "betta") == 1
    assert capsys.readouterr().err.splitlines()[0] == (
        "content/summary.toml:1: no such chapter 'betta': --only takes the slug of a page; did "
        "you mean 'beta'?"
    )


def test_a_confirmed_translation_is_stamped(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wikis.replace(root / "content/beta/en.md", "A remark.", "Another remark.")
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "y"

    monkeypatch.setattr("builtins.input", answer)
    assert command(root, "--stamp") == 0
    assert [question.split(" says")[0] for question in asked] == ["content/beta/zh-cn.md"]
    assert capsys.readouterr().out == "content/beta/zh-cn.md\n"
    assert wikis.messages(root) == []


def test_a_translation_that_nobody_confirms_stays_stale(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wikis.replace(root / "content/beta/en.md", "A remark.", "Another remark.")
    before = (root / "content/beta/zh-cn.md").read_text()
    monkeypatch.setattr("builtins.input", lambda _: "")
    assert command(root, "--stamp") == 0
    assert (root / "content/beta/zh-cn.md").read_text() == before


def test_a_root_without_content_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(tmp_path) == 1
    assert capsys.readouterr().err.splitlines() == [
        "content/locales.toml:1: file cannot be read 'locales.toml': No such file or directory; "
        "add it or mend its permissions",
        "1 errors, 0 warnings",
    ]


# Growth: what a build costs, in processor time of this process, Node's formulas being known.


def grown(root: Path, chapters: int) -> Path:
    """The tiny wiki with so many chapters, each like its second, eight formulas a page."""
    slugs = [f"chapter-{number}" for number in range(chapters)]
    listed = ", ".join(f'"{slug}"' for slug in ["alpha", "beta", *slugs])
    wikis.replace(root / "content/summary.toml", '"alpha", "beta"', listed)
    formulas = "\n\n".join(f"Words and more words on $x_{number}$." for number in range(6))
    for slug in slugs:
        shutil.copytree(root / "content/beta", root / "content" / slug)
        for path in (root / "content" / slug).glob("*.md"):
            text = path.read_text("utf-8").replace("b = 2\n$$\n", f"b = 2\n$$\n\n{formulas}\n")
            path.write_text(text, "utf-8")
    return root


def seconds(root: Path) -> float:
    """Processor time of a clean build, with formulas and precomputed states kept."""
    write(wikis.checked(root))
    for name in DROPPED:
        (root / ".cache" / name).unlink()
    started = time.process_time()
    write(wikis.checked(root))
    return time.process_time() - started


def test_a_hundred_and_twenty_pages_take_less_than_two_seconds(root: Path) -> None:
    assert seconds(grown(root, 58)) < 2.0
    assert len(list((root / "dist").rglob("index.html"))) >= 120


def test_the_cost_grows_with_the_number_of_chapters(tmp_path: Path) -> None:
    small = seconds(grown(wikis.copied(tmp_path / "small"), 60))
    large = seconds(grown(wikis.copied(tmp_path / "large"), 240))
    assert large < 4 * 1.5 * small


def test_a_fault_in_a_template_is_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    templates = root / "templates"
    shutil.copytree(code.TEMPLATES, templates)
    wikis.replace(templates / "reference.html", "{{ page.title }}</h1>", "{{ page.titel }}</h1>")
    monkeypatch.setattr(code, "TEMPLATES", templates)
    assert command(root, "--cache", str(root / "cache"), "--check") == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "reference.html:" in lines[0]
    assert "UndefinedError: 'dict object' has no attribute 'titel'; mend the template" in lines[0]
