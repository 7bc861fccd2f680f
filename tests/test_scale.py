"""A build that can be trusted: its result depends on what is there now and on nothing else."""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.serving.bundles import Bundler
from pipeline.serving.changes import sort
from pipeline.serving.workshop import Workshop
from pipeline.write import write
from tests import wikis
from tests.bench import wiki as made
from tests.test_build import tree

EDITS = 14


def built(root: Path) -> dict[str, bytes]:
    """Build a wiki without Node and bundles; what was written."""
    write(wikis.checked(root))
    return tree(root / "dist")


# The result depends on no history.


class Editor:
    """Changes a made-up wiki at random; every change leaves a wiki that can be built."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.chance, self.number = root, random.Random(seed), 0

    def edit(self) -> str:
        """Make one change; its name."""
        self.number += 1
        change = self.chance.choice([self.words, self.formula, self.title, self.term, self.swap,
                                     self.drop, self.figure, self.undo])  # fmt: skip
        change()
        return change.__name__

    def _chapters(self) -> list[Path]:
        return sorted(path for path in (self.root / "content").glob("chapter-*"))

    def _in_both(self, change: Callable[[str], str]) -> None:
        folder = self.chance.choice(self._chapters())
        for path in (folder / "en.md", folder / "zh-cn.md"):
            path.write_text(change(path.read_text("utf-8")), "utf-8")

    def words(self) -> None:
        """Another sentence."""
        self._in_both(lambda text: text.replace("{#limits}", f"More {self.number}.\n\n{{#limits}}"))

    def formula(self) -> None:
        """Another formula."""
        more = f"Now $z_{{{self.number}}}$.\n\n{{#limits}}"
        self._in_both(lambda text: text.replace("{#limits}", more))

    def title(self) -> None:
        """Another title, which other pages name."""
        self._in_both(lambda text: text.replace("title: ", f"title: {self.number} ", 1))

    def term(self) -> None:
        """Another definition, which many pages show."""
        path = self.root / "content/glossary.toml"
        text = path.read_text("utf-8")
        path.write_text(text.replace("One process", f"{self.number}: One process"), "utf-8")

    def swap(self) -> None:
        """Another order of chapters."""
        path = self.root / "content/summary.toml"
        head, _, rest = path.read_text("utf-8").partition("chapters = [")
        slugs = rest.partition("]")[0].split(", ")
        self.chance.shuffle(slugs)
        path.write_text(f"{head}chapters = [{', '.join(slugs)}]\n", "utf-8")

    def drop(self) -> None:
        """The last chapter goes, or comes back."""
        summary, last = self.root / "content/summary.toml", self.root / "content/chapter-6"
        text = summary.read_text("utf-8")
        if last.exists():
            last.rename(self.root / "away")
            summary.write_text(text.replace(', "chapter-6"', "").replace('"chapter-6", ', ""))
        else:
            (self.root / "away").rename(last)
            summary.write_text(text.replace('"]\n', '", "chapter-6"]\n'), "utf-8")

    def figure(self) -> None:
        """A figure in a chapter, under a name of its own."""
        drawing = (wikis.WIKI / "content/alpha/drawing.svg").read_text("utf-8")
        folder = self.chance.choice(self._chapters())
        name = f"drawing-{self.number}.svg"
        (folder / name).write_text(drawing.replace("A box", f"Box {self.number}"), "utf-8")
        shown = f":::{{figure}} {name}\n:id: figure-{self.number}\nA box.\n:::\n\n{{#limits}}"
        for path in (folder / "en.md", folder / "zh-cn.md"):
            text = path.read_text("utf-8")
            path.write_text(text.replace("{#limits}", shown), "utf-8")

    def undo(self) -> None:
        """A chapter as it was at first."""
        folder = self.chance.choice(self._chapters())
        number = int(folder.name.rpartition("-")[2])
        for language in ("en", "zh-cn"):
            text = made.chapter(number, language, "0" * 12 if language != "en" else "")
            (folder / f"{language}.md").write_text(text, "utf-8")
        for path in folder.glob("*.svg"):
            path.unlink()


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_edits_an_incremental_build_is_a_clean_one(tmp_path: Path, seed: int) -> None:
    root = made.make(tmp_path / "edited", 6)
    # A chapter that names a neighbour which may go would be an error: the last one goes alone.
    editor, done = Editor(root, seed), []
    for _ in range(EDITS):
        done.append(editor.edit())
        incremental = built(root)
    clean = tmp_path / "clean"
    shutil.copytree(root, clean, ignore=shutil.ignore_patterns("dist", ".cache", "away"))
    assert built(clean) == incremental, done
    assert len(set(done)) > 3


def test_the_same_content_is_the_same_site_in_any_folder_and_process(tmp_path: Path) -> None:
    """Everything real, built by two processes whose sets and dictionaries are ordered otherwise."""
    sites = []
    for name, seed in (("one", "1"), ("another/place", "2")):
        root = made.make(tmp_path / name, 3)
        command = [sys.executable, str(wikis.PROJECT / "build.py"), "--root", str(root)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"[: 9 * int(seed)]}
        subprocess.run(command, check=True, env=environment, capture_output=True, timeout=300)
        sites.append(tree(root / "dist"))
        shutil.rmtree(root)
    assert sites[0].keys() == sites[1].keys()
    assert [path for path in sites[0] if sites[0][path] != sites[1][path]] == []
    scripts = {path: data for path, data in sites[0].items() if path.endswith(".js")}
    assert scripts
    assert [path for path, data in scripts.items() if b"/-/events" in data] == []  # dev.js


# What is in the way of a build leaves the last site whole.


@pytest.fixture
def site(tmp_path: Path) -> tuple[Path, Path, dict[str, bytes]]:
    """A wiki, its site of an earlier build, and what was in it; then the wiki has changed."""
    root = made.make(tmp_path / "wiki", 2)
    before = built(root)
    made_anew = (root / "content/chapter-1/en.md").read_text("utf-8").replace("Run", "Runs")
    (root / "content/chapter-1/en.md").write_text(made_anew, "utf-8")
    return root, root / "dist", before


def command(
    root: Path, *arguments: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    build = [sys.executable, str(wikis.PROJECT / "build.py"), "--root", str(root), *arguments]
    return subprocess.run(
        build, capture_output=True, text=True, check=False, timeout=300, preexec_fn=before
    )


def test_a_full_disk_leaves_the_last_site(site: tuple[Path, Path, dict[str, bytes]]) -> None:
    root, dist, before = site

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    done = command(root, before=small)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("build.py: ")
    assert tree(dist) == before
    assert [path.name for path in root.iterdir() if "building" in path.name] == []


def test_a_full_file_system_leaves_the_last_site(
    site: tuple[Path, Path, dict[str, bytes]], tmp_path: Path
) -> None:
    root, dist, before = site
    place = tmp_path / "small"
    with SmallDisk(place) as is_mounted:
        shutil.copytree(dist, place / "dist")
        arguments = ["--out", str(place / "dist"), "--cache", str(tmp_path / "cache")]
        done = command(root, *arguments)
        if is_mounted:
            assert done.returncode == 1
            assert "No space left on device" in done.stderr.splitlines()[-1]
            assert tree(place / "dist") == before
            assert [path.name for path in place.iterdir()] == ["dist"]
        else:  # without the right to mount one there is no small disk: the build must succeed
            assert done.returncode == 0, done.stderr


class SmallDisk:
    """A file system of 4 MB at `place`, where this process may mount one."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.is_mounted = False

    def __enter__(self) -> bool:
        self.place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(self.place)]
        if os.geteuid() == 0 and shutil.which("mount"):
            done = subprocess.run(mount, capture_output=True, check=False)
            self.is_mounted = done.returncode == 0
        return self.is_mounted

    def __exit__(self, *_: object) -> None:
        if self.is_mounted:
            subprocess.run(["umount", str(self.place)], check=True)


@pytest.mark.parametrize("option", ["--out", "--cache"])
def test_a_folder_that_cannot_be_written_is_one_line(
    site: tuple[Path, Path, dict[str, bytes]], option: str
) -> None:
    root, dist, before = site
    # Not even root can make a folder here.
    done = command(root, option, "/proc/self/nothing/here")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert sum("/proc/self/nothing" in line for line in done.stderr.splitlines()) == 1
    assert tree(dist) == before


def test_a_killed_build_leaves_the_last_site(site: tuple[Path, Path, dict[str, bytes]]) -> None:
    root, dist, before = site
    build = [sys.executable, str(wikis.PROJECT / "build.py"), "--root", str(root)]
    with subprocess.Popen(build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 60
        while not list(root.glob("dist.building-*")) and time.monotonic() < deadline:
            time.sleep(0.001)
        running.kill()
    assert running.returncode == -9
    assert tree(dist) == before


# Growth.


@pytest.fixture(scope="module")
def bundler() -> Iterator[Bundler]:
    shared = Bundler(["en", "zh-cn"])
    yield shared
    shared.close()


def edit_milliseconds(root: Path, bundler: Bundler) -> float:
    """Processor time from a saved edit to the page, in the editor's server."""
    workshop = Workshop(wikis.options(root))
    workshop.bundler = bundler
    workshop.open()
    page, took = "en/chapter-2/index.html", []
    path = root / "content/chapter-2/en.md"
    text = path.read_text("utf-8")
    workshop.page(page)
    for number in range(7):
        path.write_text(text.replace("Count once", f"Count {number} times"), "utf-8")
        started = time.thread_time()
        workshop.change(sort([path], root, wikis.PROJECT))
        shown = workshop.page(page)
        took.append((time.thread_time() - started) * 1000)
        assert shown is not None
        assert f"Count {number} times" in shown
    workshop.bundler = Bundler([])
    workshop.close()
    return statistics.median(took)


def test_an_edit_costs_the_same_in_a_book_of_any_size(tmp_path: Path, bundler: Bundler) -> None:
    small = edit_milliseconds(made.make(tmp_path / "small", 8), bundler)
    large = edit_milliseconds(made.make(tmp_path / "large", 120), bundler)
    assert large < 2 * small + 2
