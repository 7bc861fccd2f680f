"""The search index, made by Pagefind beside the build: it takes each page as soon as it is known.

Pagefind runs as a service that reads requests and writes answers, each JSON in base64 with a comma
after it. What it indexes of a page is the page's text, a formula standing as its TeX.
"""

from __future__ import annotations

import base64
import contextlib
import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

# The binary itself: the package's own start in Python costs more than indexing a chapter.
from pagefind_bin_extended import get_executable  # type: ignore[import-untyped]

from pipeline.errors import BuildError, Finding
from pipeline.model import Language, Options

TIMEOUT = 120.0
TIMEOUT_OF_A_PAGE = 0.05
ENTRY = "pagefind-entry.json"
# Pagefind brings an interface of its own; the site has one, and needs the index alone.
UNUSED = re.compile(r"-ui\b|highlight|playground")
_WARM, _OWN = 0, 1  # Pagefind numbers its indexes in the order in which they are asked for
_LANGUAGE = re.compile(r'<html lang="[^"]*">')
_BODY = "<main "
_END = "</main>"
_MARK = "data-pagefind-body"


def text_of(html: str) -> str:
    """What is indexed of a page: its language and its main part; '' where nothing is."""
    start = html.find(_BODY)
    language = _LANGUAGE.search(html)
    if start < 0 or language is None or _MARK not in html[start : html.find(">", start)]:
        return ""
    return f"{language.group()}<body>{html[start : html.rfind(_END) + len(_END)]}</body></html>"


class Idle:
    """No index, for a site that is only looked at."""

    def warm(self, languages: Sequence[Language]) -> None:
        """Nothing."""

    def add(self, path: str, text: str) -> None:
        """Nothing."""

    def seal(self) -> None:
        """Nothing."""

    def files(self) -> dict[str, bytes]:
        """None."""
        return {}


@contextlib.contextmanager
def indexer(options: Options) -> Iterator[Indexer | Idle]:
    """What takes the pages of a build, ended with the block."""
    if options.is_check:
        yield Idle()
        return
    made = Indexer()
    try:
        yield made
    finally:
        made.close()


class Indexer:
    """One run of Pagefind. Equal pages, added in the same order, make equal files."""

    def __init__(self) -> None:
        self.pages = 0
        self._count = 0
        self._failure = ""
        self._is_sealed = False
        self._files: dict[str, bytes] = {}
        self._ended = threading.Event()
        self._process = subprocess.Popen(
            [str(get_executable()), "--service"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        # Two threads: a service that waits for its answers to be read reads nothing itself.
        self._threads = [
            threading.Thread(target=self._write, args=(self._process.stdin,), daemon=True),
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        for _ in (_WARM, _OWN):
            self._ask(type="NewIndex", config={"keep_index_url": False})

    def warm(self, languages: Sequence[Language]) -> None:
        """Have it load what parts the words of these languages, which takes as long as many pages.

        It is given a word of each, for an index that nobody asks for.
        """
        for language in languages:
            text = f'<html lang="{language.html}"><body>{language.name}</body></html>'
            self._add(_WARM, f"{language.id}/index.html", text)

    def add(self, path: str, text: str) -> None:
        """Take what `text_of` gives of the page at `path`."""
        if text:
            self.pages += 1
            self._add(_OWN, path, text)

    def seal(self) -> None:
        """Say that all pages were added: the index is made while the build goes on."""
        self._is_sealed = True
        if self.pages:
            self._ask(type="GetFiles", index_id=_OWN)

    def files(self) -> dict[str, bytes]:
        """The index of all pages that were added. Raises `BuildError` with Pagefind's own words.

        Handed over rather than written by Pagefind, which says that it has written too early.
        """
        if not self._is_sealed:
            self.seal()
        if not self.pages:
            return {}
        limit = TIMEOUT + self.pages * TIMEOUT_OF_A_PAGE
        if not self._ended.wait(limit):
            raise BuildError(_failure(f"no index within {limit:g} s"))
        if self._failure or ENTRY not in self._files:
            raise BuildError(_failure(self._failure or "Pagefind has ended early"))
        self._files[ENTRY] = _settled(self._files[ENTRY])
        return self._files

    def close(self) -> None:
        """End Pagefind, if it still runs."""
        self._requests.put(None)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _add(self, index: int, path: str, text: str) -> None:
        self._ask(type="AddFile", index_id=index, file_path=path, file_contents=text)

    def _ask(self, **payload: Any) -> None:
        self._count += 1
        self._requests.put({"message_id": self._count, "payload": payload})

    def _write(self, stream: IO[bytes]) -> None:
        # A service that has ended is told of by `write`, which waits for its answers.
        with contextlib.suppress(OSError):
            while (request := self._requests.get()) is not None:
                stream.write(base64.b64encode(json.dumps(request).encode()) + b",")
                if self._requests.empty():
                    stream.flush()
            stream.close()

    def _read(self, stream: IO[bytes]) -> None:
        for answer in _answers(stream):
            payload = answer["payload"]
            if payload["type"] == "Error" and not self._failure:
                self._failure = str(payload.get("message") or "an error without words")
            if payload["type"] == "GetFiles":
                self._files = dict(_wanted(payload["files"]))
                self._ended.set()
        self._ended.set()


def _answers(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The answers as they come; one may be as large as the index."""
    rest: list[bytes] = []
    while data := stream.read1(1 << 20):  # type: ignore[attr-defined]
        *whole, last = data.split(b",")
        for item in whole:
            yield json.loads(base64.b64decode(b"".join([*rest, item])))
            rest = []
        rest.append(last)


def _wanted(files: list[dict[str, str]]) -> Iterator[tuple[str, bytes]]:
    for item in files:
        if not UNUSED.search(item["path"]):
            yield item["path"], base64.b64decode(item["content"])


def _failure(said: str) -> Finding:
    rule = "every page can be searched for"
    return Finding("site", 1, "search index", said, rule, "run `make site`")


def _settled(entry: bytes) -> bytes:
    """Pagefind lists the languages in any order; equal sites must be equal files."""
    return json.dumps(json.loads(entry), ensure_ascii=False, sort_keys=True).encode()
