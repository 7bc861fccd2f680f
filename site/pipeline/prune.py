"""What no build has used for long leaves the cache.

A file's or folder's time is the day of its last use, as an entry's is in a cache of texts. Builds
share a lock on the cache while they run; what is to go goes once a day, at the end of a build that
has the cache for itself. So nothing goes that another build has just found there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pipeline.cache import DAY, Cache, today

DAYS = 30
SIZE = 1_000_000_000
LOCK = "lock"
PRUNED = "pruned"
# Entries that stand each for themselves. Sites that are built into the cache are not among them.
ENTRIES = ("assets/*", "fonts/*", "model/*", "runtime/*", "templates/*", "vendor/*", "lock-*")


def touch(path: Path) -> None:
    """Say that a file or folder of the cache is in use; a day is as exact as that has to be."""
    with contextlib.suppress(OSError):
        if _day(path) != today():
            os.utime(path)


@contextlib.contextmanager
def used(cache: Path) -> Iterator[None]:
    """Use a cache; when all went well, let go what has not been used for long.

    A cache that cannot be written is used as it is.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        opened = (cache / LOCK).open("w")
    except OSError:
        yield
        return
    with opened as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield
        if not _is_done(cache):
            # Another build that runs meanwhile keeps what is there: then tomorrow, or after it.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                prune(cache)


def _is_done(cache: Path) -> bool:
    mark = cache / PRUNED
    return mark.is_file() and _day(mark) == today()


def prune(cache: Path) -> None:
    """Let go what has not been used for long. Nobody else may use the cache meanwhile."""
    (cache / PRUNED).write_bytes(b"")
    for path in cache.glob("*.sqlite"):
        with contextlib.suppress(sqlite3.Error, OSError):
            Cache(path).prune(DAYS, SIZE)
    for pattern in ENTRIES:
        for path in cache.glob(pattern):
            if _day(path) < today() - DAYS:
                _remove(path)


def _day(path: Path) -> int:
    """The day on which a file or folder was last used."""
    return int(path.stat().st_mtime) // DAY


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
