"""Texts that are slow to make, kept on disk by the hash of what they are made from.

One SQLite file: reads of thousands of keys take milliseconds, a write is whole or not there, and
two builds may use it at once. A file that cannot be read is replaced: a cache holds nothing that
cannot be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_KEYS_PER_QUERY = 500


def content_key(*parts: Any) -> str:
    """SHA-256 of JSON values: equal values make equal keys, whatever the order of their fields."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class TextCache:
    """A mapping from content keys to texts in the file `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get_many(self, keys: Iterable[str]) -> dict[str, str]:
        """The texts that are there; the other keys are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, str] = {}
        with self._opened() as database:
            for start in range(0, len(wanted), _KEYS_PER_QUERY):
                some = wanted[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM texts WHERE key IN ({marks})"
                found.update(database.execute(query, some))
        return found

    def put_many(self, texts: Mapping[str, str]) -> None:
        """Keep all of `texts`, or none if the process is ended meanwhile."""
        if texts:
            with self._opened() as database, database:
                database.executemany(
                    "INSERT OR REPLACE INTO texts (key, value) VALUES (?, ?)", texts.items()
                )

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            database = _connect(self.path)
        except sqlite3.DatabaseError:
            self.path.unlink()
            database = _connect(self.path)
        with contextlib.closing(database):
            yield database


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30)
    try:
        with database:
            database.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, value TEXT)")
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
