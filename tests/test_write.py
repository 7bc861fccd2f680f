"""Writing: whole or not at all, and the last good site stays when a build does not get through."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace as changed
from pathlib import Path

import pytest

from pipeline import write as writing
from pipeline.errors import BuildError
from pipeline.model import Checked
from pipeline.shell import BUILD_PLACEHOLDER
from pipeline.write import swap, write
from tests import wikis


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


@pytest.fixture
def site(root: Path) -> Checked:
    return wikis.checked(root)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_manifest_holds_the_hash_of_every_file(site: Checked, root: Path) -> None:
    written = write(site)
    files = tree(root / "dist")
    manifest = json.loads(files.pop("build.json"))
    assert manifest["build"] == written.build
    assert {name: hashlib.sha256(data).hexdigest() for name, data in files.items()} == {
        name: entry["sha256"] for name, entry in manifest["files"].items()
    }


def test_pages_carry_the_hash_of_the_build(site: Checked, root: Path) -> None:
    written = write(site)
    for path in (root / "dist").rglob("*.html"):
        text = path.read_text("utf-8")
        assert f'<meta name="wiki-build" content="{written.build}">' in text
        assert BUILD_PLACEHOLDER not in text


def test_a_site_with_errors_is_not_written(root: Path) -> None:
    write(wikis.checked(root))
    before = tree(root / "dist")
    wikis.replace(root / "content/alpha/en.md", "{term}`ranks <rank>`", "{term}`ranks <rnak>`")
    with pytest.raises(BuildError, match="unknown term 'rnak'"):
        write(wikis.checked(root))
    assert tree(root / "dist") == before


def test_a_build_that_fails_while_writing_leaves_the_last_site(root: Path, site: Checked) -> None:
    write(site)
    before = tree(root / "dist")

    def fail() -> dict[str, bytes]:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write(site, fail)
    assert tree(root / "dist") == before
    assert [path.name for path in root.glob("dist*")] == ["dist"]


KILLED = """
import sys, time
sys.path[:0] = [{project!r}, {site!r}]
from pathlib import Path
from tests import wikis
from pipeline.write import write
def stall():
    print("writing", flush=True)
    time.sleep(60)
write(wikis.checked(Path({root!r})), stall)
"""


def test_a_killed_build_leaves_the_last_site_and_the_next_one_cleans_up(
    root: Path, site: Checked
) -> None:
    write(site)
    before = tree(root / "dist")
    script = KILLED.format(
        project=str(wikis.PROJECT), site=str(wikis.PROJECT / "site"), root=str(root)
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(list(root.glob("dist.building-*"))) == 1
    assert tree(root / "dist") == before
    write(site)
    assert [path.name for path in root.glob("dist*")] == ["dist"]
    assert tree(root / "dist") == before


def test_a_reader_never_finds_the_site_away(tmp_path: Path) -> None:
    for name in ("new", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("x")
    missing: list[int] = []
    is_done = threading.Event()

    def read() -> None:
        while not is_done.is_set():
            if not (tmp_path / "out/index.html").exists():
                missing.append(1)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(300):
            swap(tmp_path / "new", tmp_path / "out")
    finally:
        is_done.set()
        reader.join()
    assert missing == []


def test_where_folders_cannot_be_exchanged_two_renames_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("new", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    monkeypatch.setattr(writing, "_exchange", lambda *_: False)
    swap(tmp_path / "new", tmp_path / "out")
    assert (tmp_path / "out/name").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["content", "content/alpha/en.md", "content/new", "site/new/deep"])
def test_a_folder_that_no_build_made_is_not_replaced(root: Path, name: str) -> None:
    before = tree(root / "content")
    site = wikis.checked(root, out=root / name)
    with pytest.raises(BuildError, match="not a folder to build into"):
        write(site)
    assert tree(root / "content") == before


def test_the_folder_one_stands_in_is_not_replaced(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = root / "dist"
    write(wikis.checked(root))
    monkeypatch.chdir(out)
    with pytest.raises(BuildError, match="this is where the build runs"):
        write(wikis.checked(root))


def test_two_builds_into_one_folder_take_turns(site: Checked) -> None:
    order: list[str] = []

    def slow() -> dict[str, bytes]:
        order.append("first begins")
        time.sleep(0.3)
        order.append("first ends")
        return {}

    def second() -> dict[str, bytes]:
        order.append("second")
        return {}

    first = threading.Thread(target=write, args=(site, slow))
    first.start()
    while not order:
        time.sleep(0.01)
    write(site, second)
    first.join()
    assert order == ["first begins", "first ends", "second"]


def test_what_the_index_adds_is_in_the_manifest(root: Path, site: Checked) -> None:
    written = write(site, lambda: {"entry.json": b"{}"})
    manifest = json.loads((root / "dist/build.json").read_text())
    path = f"pagefind/{written.build}/entry.json"
    assert manifest["files"][path]["bytes"] == 2
    assert (root / "dist" / path).read_bytes() == b"{}"


def test_a_site_without_an_older_one_is_written(site: Checked) -> None:
    options = site.rendered.resolved.parsed.book.options
    assert not options.out.exists()
    write(site)
    assert (options.out / "en/alpha/index.html").exists()


def test_the_build_hash_follows_every_file(root: Path, site: Checked) -> None:
    before = write(site).build
    rendered = changed(site.rendered, files={**site.rendered.files, "extra.txt": b"x"})
    assert write(changed(site, rendered=rendered)).build != before
    assert (root / "dist/extra.txt").read_bytes() == b"x"
