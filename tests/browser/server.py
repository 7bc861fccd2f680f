"""A local static server for the tests: a good host by default, a worse one where a test asks."""

from __future__ import annotations

import gzip
import mimetypes
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

# The site lies below a path of its own, as on many hosts: an absolute address in it would fail.
MOUNT = "/shelf/same-update/"
HASHED = ("assets/", "runtime/", "pagefind/", "grids/")
TYPES = {
    ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm",
    ".json": "application/json", ".webmanifest": "application/manifest+json",
    ".css": "text/css", ".woff2": "font/woff2", ".whl": "application/zip",
    ".br": "application/octet-stream", ".gz": "application/octet-stream",
}  # fmt: skip
Change = Callable[[bytes], bytes]


@dataclass
class Host:
    """What the server does; a test changes it while the server runs.

    `folder` is served below MOUNT. `missing`, `changed`, `headers` name files by a part of their
    path. `compresses`: whether it sends Content-Encoding. `is_down`: it hangs up on everybody.
    """

    folder: Path
    compresses: bool = True
    is_down: bool = False
    missing: set[str] = field(default_factory=set)
    changed: dict[str, Change] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    besides: dict[str, bytes] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    origin: str = ""

    @property
    def url(self) -> str:
        return self.origin + MOUNT

    def asked(self, part: str) -> list[str]:
        """The requests whose path holds `part`."""
        return [path for path in self.log if part in path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host: Host

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.host.log.append(path)
        if self.host.is_down:
            self.close_connection = True
            return
        name = path.removeprefix(MOUNT)
        if name in self.host.besides:
            kind = TYPES.get(Path(name).suffix, "text/html")
            self._send(200, self.host.besides[name], {"Content-Type": kind}, with_body)
            return
        file = self.host.folder / name
        if path.startswith(MOUNT) and file.is_dir():
            file = file / "index.html"
        if not path.startswith(MOUNT) or not file.is_file() or self._is_missing(name):
            self._send(404, self._not_here(path), {"Content-Type": "text/html"}, with_body)
            return
        self._send_file(file, name, with_body)

    def _not_here(self, path: str) -> bytes:
        """The site's own page for this, as hosts send it for any address below the site's."""
        page = self.host.folder / "404.html"
        return page.read_bytes() if path.startswith(MOUNT) and page.is_file() else b"not here"

    def _is_missing(self, name: str) -> bool:
        return any(part in name for part in self.host.missing)

    def _send_file(self, file: Path, name: str, with_body: bool) -> None:
        kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
        lasts = name.startswith(HASHED)
        headers = {
            "Content-Type": kind,
            "Cache-Control": "public, max-age=31536000, immutable" if lasts else "no-cache",
        }
        for part, besides in self.host.headers.items():
            headers.update(besides if part in name else {})
        change = next((c for part, c in self.host.changed.items() if part in name), None)
        body = change(file.read_bytes()) if change else self._packed(file, headers)
        self._send(200, body, headers, with_body)

    def _packed(self, file: Path, headers: dict[str, str]) -> bytes:
        """The file as a good host sends it: the brotli copy beside it, or gzip for text."""
        accepted = self.headers.get("Accept-Encoding", "") if self.host.compresses else ""
        packed = file.with_name(f"{file.name}.br")
        if "br" in accepted and packed.is_file():
            headers["Content-Encoding"] = "br"
            return packed.read_bytes()
        data = file.read_bytes()
        if "gzip" in accepted and file.suffix in (".html", ".js", ".css", ".json", ".svg"):
            headers["Content-Encoding"] = "gzip"
            return gzip.compress(data, 1)
        return data

    def _send(self, status: int, body: bytes, headers: dict[str, str], with_body: bool) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that stops reading is no error of ours."""


class Serving:
    """`with Serving(folder) as host:` serves until the block ends."""

    def __init__(self, folder: Path) -> None:
        self.host = Host(folder)
        handler = type("Handler", (_Handler,), {"host": self.host})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.host.origin = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Host:
        self._thread.start()
        return self.host

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
