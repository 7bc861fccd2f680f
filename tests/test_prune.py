"""The cache lets go what no build has used for long, and nothing that a build may be using."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pipeline import assets, prune, vendor
from pipeline.cache import DAY, TextCache
from tests import wikis

LONG = (prune.DAYS + 2) * DAY


def age(path: Path, seconds: float = LONG) -> Path:
    """Make a file or folder look unused for so long."""
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def unused(cache: TextCache, key: str, days: int = prune.DAYS + 2) -> None:
    """Make an entry look unused for so many days."""
    with closing(sqlite3.connect(cache.path)) as database, database:
        database.execute("UPDATE kept SET used = used - ? WHERE key = ?", (days, key))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / ".cache"
    for name in ("runtime/old", "runtime/new", "serve/site"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_bytes(b"x" * 100)
    (folder / "fonts").mkdir()
    for name in ("fonts/old", "fonts/new", "lock-old", "other"):
        (folder / name).write_bytes(b"x")
    return folder


def test_what_was_not_used_for_long_goes_and_the_rest_stays(cache: Path) -> None:
    for name in ("runtime/old", "fonts/old", "lock-old", "serve/site", "other"):
        age(cache / name)
    with prune.used(cache):
        pass
    left = {path.relative_to(cache).as_posix() for path in cache.glob("*/*")}
    assert left == {"runtime/new", "fonts/new", "serve/site"}
    assert (cache / "other").exists()
    assert not (cache / "lock-old").exists()


def test_what_is_used_stays(cache: Path) -> None:
    prune.touch(age(cache / "runtime/old"))
    with prune.used(cache):
        pass
    assert (cache / "runtime/old/file").exists()


def test_pruning_is_done_once_a_day(cache: Path) -> None:
    with prune.used(cache):
        age(cache / "fonts/old")
    assert not (cache / "fonts/old").exists()
    age(cache / "fonts/new")
    with prune.used(cache):
        pass
    assert (cache / "fonts/new").exists()
    age(cache / prune.PRUNED, DAY)
    with prune.used(cache):
        pass
    assert not (cache / "fonts/new").exists()


def test_nothing_goes_while_another_build_uses_the_cache(cache: Path) -> None:
    age(cache / "runtime/old")
    with (cache / prune.LOCK).open("w") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with prune.used(cache):
            pass
        assert (cache / "runtime/old/file").exists()
    with prune.used(cache):
        pass
    assert not (cache / "runtime/old").exists()


def test_nothing_goes_after_a_build_that_failed(cache: Path) -> None:
    age(cache / "fonts/old")
    with pytest.raises(OSError, match="full"), prune.used(cache):
        raise OSError("full")
    assert (cache / "fonts/old").exists()


def test_entries_that_no_build_asked_for_go(cache: Path) -> None:
    texts = TextCache(cache / "texts.sqlite")
    texts.put_many({"old": "a", "asked": "b", "new": "c"})
    for key in ("old", "asked"):
        unused(texts, key)
    assert texts.get_many(["asked"]) == {"asked": "b"}
    with prune.used(cache):
        pass
    assert texts.get_many(["old", "asked", "new"]) == {"asked": "b", "new": "c"}


def test_a_file_that_is_too_large_keeps_what_was_used_today(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "SIZE", 100_000)
    texts = TextCache(cache / "texts.sqlite")
    texts.put_many({"yesterday": "a" * 200_000, "today": "b"})
    unused(texts, "yesterday", 1)
    before = texts.path.stat().st_size
    with prune.used(cache):
        pass
    assert texts.get_many(["yesterday", "today"]) == {"today": "b"}
    assert texts.path.stat().st_size < before / 2


def test_a_damaged_file_is_left_to_who_reads_it(cache: Path) -> None:
    (cache / "texts.sqlite").write_bytes(b"no database" * 1000)
    with prune.used(cache):
        pass
    assert TextCache(cache / "texts.sqlite").get_many(["a"]) == {}


def test_two_builds_that_prune_at_once_both_succeed(tmp_path: Path) -> None:
    root = wikis.copied(tmp_path)
    command = [sys.executable, str(wikis.PROJECT / "build.py"), "--root", str(root)]
    for folder in ("one", "two"):
        subprocess.run([*command, "--out", str(tmp_path / folder)], check=True, timeout=300)
    for path in (root / ".cache").rglob("*"):
        age(path)
    running = [
        subprocess.Popen([*command, "--out", str(tmp_path / folder)]) for folder in ("one", "two")
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    assert (tmp_path / "one/build.json").read_bytes() == (tmp_path / "two/build.json").read_bytes()


def test_a_build_says_that_it_uses_its_runtime() -> None:
    folder = vendor.runtime(assets.RUNTIME).folder
    age(folder)
    assert vendor.runtime(assets.RUNTIME).folder == folder
    assert folder.stat().st_mtime > time.time() - DAY
