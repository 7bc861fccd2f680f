"""What editors, shells and version control do to files while the editor's server runs."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import editing, wikis
from tests.bench.wiki import make
from tests.editing import Serving
from tests.processes import eventually, free_port

CHAPTERS = 60
TEXT = "content/chapter-4/en.md"
PAGE = "/en/chapter-4/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    """A server on a copy of the project and a made-up wiki under version control."""
    folder = tmp_path_factory.mktemp("files")
    code, root = editing.project(folder / "code"), make(folder / "wiki", CHAPTERS)
    git(root, "init", "-q")
    git(root, "add", "content", "experiments")
    commit(root, "first")
    with Serving(code, root, "--port", str(free_port())) as running:
        running.until("serving")
        yield running, root


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def commit(root: Path, name: str) -> None:
    git(root, "commit", "-q", "-a", "-m", name)
    git(root, "tag", name)


def said(root: Path, old: str, new: str) -> None:
    wikis.replace(root / TEXT, old, new)


@pytest.mark.parametrize("way", ["in place", "truncated first", "renamed over", "kept aside"])
def test_every_way_of_saving_is_seen(server: tuple[Serving, Path], way: str) -> None:
    running, root = server
    path, beside = root / TEXT, root / f"{TEXT}~"
    text = path.read_text("utf-8")
    new = text.replace("Two ranks", f"Two ranks, {way},")
    with running.news(PAGE) as news:
        news.page("Two ranks")
        if way == "in place":
            path.write_text(new, "utf-8")
        elif way == "truncated first":
            path.write_text("", "utf-8")
            time.sleep(0.05)  # long enough to be taken for a change of its own
            path.write_text(new, "utf-8")
        elif way == "renamed over":
            editing.write(path, new)
        else:
            path.rename(beside)
            path.write_text(new, "utf-8")
            beside.unlink()
        news.page(f"Two ranks, {way},")
        path.write_text(text, "utf-8")
        news.page("Two ranks hold")


def test_a_deleted_text_is_told_and_one_that_comes_back_is_there(
    server: tuple[Serving, Path],
) -> None:
    running, root = server
    path = root / TEXT
    text = path.read_text("utf-8")
    with running.news(PAGE) as news:
        news.next("troubles")
        path.unlink()
        trouble = news.trouble("chapter without a text")
        assert (trouble["file"], trouble["line"]) == (TEXT, 1)
        assert running.get(PAGE)[0] == 404
        path.write_text(text, "utf-8")
        news.peace()
        assert running.get(PAGE)[0] == 200


def test_a_renamed_folder_is_told_until_the_summary_names_it(server: tuple[Serving, Path]) -> None:
    running, root = server
    old, new = root / "content/chapter-60", root / "content/chapter-last"
    with running.news(PAGE) as news:
        news.next("troubles")
        old.rename(new)
        news.trouble("chapter in no part")
        wikis.replace(root / "content/summary.toml", '"chapter-60"', '"chapter-last"')
        news.peace()
        assert running.get("/en/chapter-last/")[0] == 200
        assert running.get("/en/chapter-60/")[0] == 404
    new.rename(old)
    wikis.replace(root / "content/summary.toml", '"chapter-last"', '"chapter-60"')
    assert eventually(lambda: running.get("/en/chapter-60/")[0] == 200, 20)


def test_a_hundred_files_at_once_lead_to_the_pages_of_a_new_start(
    server: tuple[Serving, Path], tmp_path: Path
) -> None:
    running, root = server
    git(root, "checkout", "-q", "-b", "other")
    for number in range(1, 51):
        for language in ("en", "zh-cn"):
            path = root / f"content/chapter-{number}/{language}.md"
            text = path.read_text("utf-8").replace("hold {calc}", "carry {calc}")
            path.write_text(text.replace("title: ", "title: New "), "utf-8")
    commit(root, "second")
    with running.news(PAGE) as news:
        news.page("Two ranks carry")
        git(root, "checkout", "-q", "first")
        news.page("Two ranks hold")
        git(root, "checkout", "-q", "second")
        news.page("Two ranks carry")
        # The last of the hundred has been read, too.
        assert eventually(lambda: "New Chapter 50" in running.get("/en/chapter-50/")[1], 20)
        fresh = copied(root, tmp_path)
        with Serving(running.code, fresh, "--port", str(free_port())) as other:
            for page in (PAGE, "/en/", "/zh-cn/chapter-50/"):
                assert body(other, page) == body(running, page)
    git(root, "checkout", "-q", "first")


def copied(root: Path, folder: Path) -> Path:
    for name in ("content", "experiments"):
        shutil.copytree(root / name, folder / "copy" / name)
    return folder / "copy"


def body(running: Serving, path: str) -> str:
    return running.get(path)[1].partition("<body")[2]


def test_a_chapter_of_ten_megabytes_is_refused_and_the_page_stays(
    server: tuple[Serving, Path],
) -> None:
    running, root = server
    path = root / TEXT
    text = path.read_text("utf-8")
    with running.news(PAGE) as news:
        news.page("Two ranks hold")
        path.write_text(text + "More words. " * 900_000, "utf-8")
        trouble = news.trouble("file too large")
        assert trouble["file"] == TEXT
        started = time.monotonic()
        assert "Two ranks hold" in running.get(PAGE)[1]
        assert time.monotonic() - started < 2
        path.write_text(text, "utf-8")
        news.peace()


def test_each_page_is_told_of_its_own_changes(server: tuple[Serving, Path]) -> None:
    running, root = server
    path = root / TEXT
    text = path.read_text("utf-8")
    with running.news(PAGE) as here, running.news("/en/chapter-8/") as there:
        here.page("Chapter 4"), there.page("Chapter 8")
        path.write_text(text.replace("Two ranks", "Both ranks"), "utf-8")
        here.page("Both ranks")
        other = root / "content/chapter-8/en.md"
        kept = other.read_text("utf-8")
        other.write_text(kept.replace("Two ranks", "Two other ranks"), "utf-8")
        # The first news of the second page is its own change.
        assert "Two other ranks" in there.next("page")["html"]
        path.write_text(text, "utf-8")
        other.write_text(kept, "utf-8")


def test_a_site_that_starts_broken_shows_itself_once_it_is_mended(tmp_path: Path) -> None:
    code, root = editing.project(tmp_path / "code"), wikis.copied(tmp_path)
    broken = {
        code / "site/scripts/main.js": "const = 1;\n",
        code / "site/styles/base.css": '@import "./gone.css";\n',
    }
    kept = {path: path.read_text("utf-8") for path in broken}
    for path, text in broken.items():
        path.write_text(text + kept[path], "utf-8")
    with Serving(code, root, "--port", str(free_port())) as running:
        running.until("serving")
        status, html = running.get("/en/alpha/")
        assert status == 200
        assert "assets/dev-" in html
        with running.news("/en/alpha/") as news:
            assert len(news.next("troubles")["items"]) == 2
            for path, text in kept.items():
                editing.write(path, text)
            news.peace()
        html = running.get("/en/alpha/")[1]
        assert "?site=main-" in html
        assert "assets/main-" in html
