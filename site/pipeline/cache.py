"""What is slow to make, kept on disk by the hash of what it is made from.

One SQLite file a kind: reads of thousands of keys take milliseconds, a write is whole or not there,
and two builds may use it at once. A file that cannot be read is replaced: a cache holds nothing
that cannot be made again. Each entry knows when a build last asked for it, to the day; see
`pipeline/prune.py` for what becomes of those that none asks for.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pickle
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

DAY = 86_400
_KEYS_PER_QUERY = 500
# `used` stands before the value, so that it is read without the pages that a large value fills.
_TABLE = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, used INTEGER, value)"
Value = TypeVar("Value", str, bytes)
Kind = TypeVar("Kind")


def content_key(*parts: Any) -> str:
    """SHA-256 of JSON values: equal values make equal keys, whatever the order of their fields."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def today() -> int:
    """The day as a number."""
    return int(time.time()) // DAY


class Cache(Generic[Value]):
    """A mapping from content keys to values of one type in the file `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get_many(self, keys: Iterable[str]) -> dict[str, Value]:
        """The values that are there; the other keys are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Value] = {}
        if not wanted or not self.path.exists():
            return found
        old: list[str] = []
        day = today()
        with self._opened() as database:
            for start in range(0, len(wanted), _KEYS_PER_QUERY):
                some = wanted[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, used, value FROM kept WHERE key IN ({marks})"
                for key, used, value in database.execute(query, some):
                    found[key] = value
                    if used != day:
                        old.append(key)
            if old:
                with database:
                    rows = [(day, key) for key in old]
                    database.executemany("UPDATE kept SET used = ? WHERE key = ?", rows)
        return found

    def put_many(self, values: Mapping[str, Value]) -> None:
        """Keep all of `values`, or none if the process is ended meanwhile."""
        if values:
            rows = [(key, today(), value) for key, value in values.items()]
            with self._opened() as database, database:
                database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)

    def prune(self, days: int, size: int) -> None:
        """Forget what no build wanted for so many days; of a file over `size`, all but today's."""
        limit = today() - (days if self.path.stat().st_size <= size else 0)
        with self._opened() as database:
            with database:
                gone = database.execute("DELETE FROM kept WHERE used < ?", (limit,)).rowcount
            if gone:
                database.execute("VACUUM")

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


def unpickled(packed: bytes | None, kind: type[Kind]) -> Kind | None:
    """A kept object; None when there is none, or none of this kind that can be read."""
    if packed is None:
        return None
    try:
        found = pickle.loads(packed)
    except Exception:  # a damaged cache means only that the thing is made again
        return None
    return found if isinstance(found, kind) else None


TextCache = Cache[str]
ByteCache = Cache[bytes]


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30)
    try:
        with database:
            database.execute(_TABLE)
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
