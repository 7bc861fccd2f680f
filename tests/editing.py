"""What the tests of the editor's server share: a copy of the project to edit, and its server."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.wikis import PROJECT

CODE = ("build.py", "package.json", "package-lock.json", "calculators", "experiments", "site")
LINKED = ("node_modules", ".cache")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "records", "data")
START = 60.0  # seconds on a busy machine; nothing waits this long where all is well
_SERVING = re.compile(r"serving (http://127\.0\.0\.1:\d+)/")


def project(folder: Path) -> Path:
    """A copy of the project's code in `folder` that a test may edit; packages are shared."""
    folder.mkdir(parents=True)
    for name in CODE:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    for name in LINKED:
        (folder / name).symlink_to(PROJECT / name)
    return folder


def write(path: Path, text: str) -> None:
    """Save a file as editors do: beside it first, then in its place."""
    fresh = path.with_name(f".{path.name}.part")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


class Serving:
    """`build.py --serve` as a process. `lines` is what it has said so far."""

    def __init__(self, code: Path, root: Path, *arguments: str) -> None:
        command = [sys.executable, str(code / "build.py"), "--serve", "--root", str(root)]
        self.process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        self.code = code
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def until(self, pattern: str, after: int = 0) -> re.Match[str]:
        """Wait for a line that holds `pattern`, from line `after` on."""
        deadline = time.monotonic() + START
        while time.monotonic() < deadline:
            for line in self.lines[after:]:
                found = re.search(pattern, line)
                if found:
                    return found
            assert self.process.poll() is None, "\n".join(self.lines)
            time.sleep(0.02)
        raise AssertionError(f"no line {pattern!r} in:\n" + "\n".join(self.lines))

    @property
    def url(self) -> str:
        """The server's address, without the last slash."""
        return self.until(_SERVING.pattern).group(1)

    def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page."""
        connection = self._connection()
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=START)

    @contextlib.contextmanager
    def news(self, path: str) -> Iterator[News]:
        """Be a page at `path` that listens for news."""
        connection = self._connection()
        with contextlib.closing(connection):
            connection.request("GET", f"/-/events?path={path}&build=old")
            held = connection.sock
            yield News(connection.getresponse())
            with contextlib.suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)  # whoever reads would else wait for more

    def children(self) -> list[int]:
        """The processes that this one has started, and theirs."""
        found: list[int] = []
        waiting = [self.process.pid]
        while waiting:
            folder = Path(f"/proc/{waiting.pop()}/task")
            with contextlib.suppress(OSError):
                for path in folder.glob("*/children"):
                    waiting += [int(pid) for pid in path.read_text().split()]
                    found += [int(pid) for pid in path.read_text().split()]
        return found

    def stop(self, name: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, wait for the end, and give the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(name)
        try:
            status = self.process.wait(timeout=START)
        finally:
            if self.process.poll() is None:
                self.process.kill()
        self._reader.join(timeout=5)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class News:
    """The messages that an open page gets."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, args=(answer,), daemon=True).start()

    def _read(self, answer: http.client.HTTPResponse) -> None:
        with contextlib.suppress(Exception):  # the connection ends with the server or the test
            for line in answer:
                if line.startswith(b"data: "):
                    self._messages.put(json.loads(line[6:]))

    def next(self, kind: str) -> dict[str, Any]:
        """The next message of a kind; those before it are passed over."""
        while True:
            message = self._messages.get(timeout=START)
            if message["kind"] == kind:
                return message

    def page(self, text: str) -> str:
        """The next version of the page that holds `text`."""
        while text not in (html := str(self.next("page")["html"])):
            pass
        return html

    def trouble(self, text: str) -> dict[str, Any]:
        """The trouble whose message holds `text`, once there is one."""
        while True:
            for item in self.next("troubles")["items"]:
                if text in item["message"]:
                    return dict(item)

    def peace(self) -> None:
        """Wait until nothing is wrong."""
        while self.next("troubles")["items"]:
            pass
