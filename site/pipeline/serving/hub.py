"""The pages that are open: each is told what has changed in it, by server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any

_BUILD = re.compile(r'<meta name="wiki-build" content="(\w+)">')
# A comment now and then lets both sides know that the other is still there.
PAUSE = 15.0
RETRY = "retry: 300\n\n"


@dataclass(eq=False)
class Reader:
    """An open page: `build` is the hash of what it shows."""

    path: str
    build: str
    waiting: asyncio.Queue[dict[str, Any] | None] = field(default_factory=asyncio.Queue)


class Hub:
    """All open pages, and what is wrong at the moment."""

    def __init__(self) -> None:
        self.readers: set[Reader] = set()
        self.troubles: list[dict[str, Any]] = []
        self.is_closed = False

    def paths(self) -> set[str]:
        """The pages that somebody looks at."""
        return {reader.path for reader in self.readers}

    def show(self, path: str, html: str) -> int:
        """Tell those who look at `path` how it is now. Returns how many did not know."""
        told = [r for r in self.readers if r.path == path and r.build != build_of(html)]
        for reader in told:
            reader.build = build_of(html)
            reader.waiting.put_nowait({"kind": "page", "html": html})
        return len(told)

    def tell(self, message: dict[str, Any]) -> None:
        """Tell everybody."""
        for reader in self.readers:
            reader.waiting.put_nowait(message)

    def trouble(self, troubles: Iterable[dict[str, Any]]) -> None:
        """Tell everybody what is wrong, unless they know."""
        now = list(troubles)
        if now != self.troubles:
            self.troubles = now
            self.tell({"kind": "troubles", "items": now})

    async def events(self, reader: Reader) -> AsyncIterator[str]:
        """What this page is told from now on, as the lines of an event stream."""
        self.readers.add(reader)
        reader.waiting.put_nowait({"kind": "troubles", "items": self.troubles})
        yield RETRY
        try:
            while not self.is_closed:
                try:
                    message = await asyncio.wait_for(reader.waiting.get(), PAUSE)
                except TimeoutError:
                    yield ": here\n\n"
                    continue
                if message is None:
                    return
                yield f"data: {json.dumps(message)}\n\n"
        finally:
            self.readers.discard(reader)

    def close(self) -> None:
        """Let all pages go."""
        self.is_closed = True
        for reader in self.readers:
            reader.waiting.put_nowait(None)


def build_of(html: str) -> str:
    """The hash that a page names as its own."""
    found = _BUILD.search(html)
    return found.group(1) if found else ""
