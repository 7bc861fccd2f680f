"""How the editor's server ends: whatever it does at that moment, nothing is left running."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import editing, wikis
from tests.editing import Serving
from tests.processes import all_end, free_port

ENDLESS = "\n\ndef compute(inputs):\n    while True:\n        pass\n"
STUBBORN = """

def compute(inputs):
    while True:
        try:
            pass
        except BaseException:
            pass
"""
# One that never lets go of the interpreter.
DEAF = "\n\ndef compute(inputs):\n    return sum(iter(int, 1))\n"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return editing.project(tmp_path_factory.mktemp("ending") / "code")


@pytest.fixture
def serving(tmp_path: Path, code: Path) -> Iterator[Serving]:
    with Serving(code, wikis.copied(tmp_path), "--port", str(free_port())) as running:
        running.until("serving")
        yield running


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_nothing_running_and_the_port_free(serving: Serving, name: str) -> None:
    port = int(serving.url.rpartition(":")[2])
    with serving.news("/en/alpha/") as news:
        news.next("page")
        children = serving.children()
        assert children
        assert serving.stop(getattr(signal, name)) == 0
    assert serving.lines[-1].endswith("stopped")
    assert all_end(children)
    assert is_free(port)


@pytest.mark.parametrize("body", [ENDLESS, STUBBORN], ids=["endless", "stubborn"])
def test_a_calculator_without_an_end_keeps_nobody_from_stopping(
    tmp_path: Path, code: Path, body: str
) -> None:
    path = code / "calculators/two_replica_ledger.py"
    text = path.read_text("utf-8")
    root = wikis.copied(tmp_path)
    try:
        with Serving(code, root, "--port", str(free_port())) as running:
            running.until("serving")
            with running.news("/en/alpha/") as news:
                news.next("page")
                editing.write(path, text + body)
                time.sleep(0.5)  # it computes now, and says nothing
                children = running.children()
                started = time.monotonic()
                assert running.stop(signal.SIGINT) == 0
                assert time.monotonic() - started < 12
            assert all_end(children)
    finally:
        editing.write(path, text)


def test_code_that_nothing_interrupts_ends_with_the_server(tmp_path: Path) -> None:
    code = editing.project(tmp_path / "code")
    wikis.replace(code / "site/pipeline/serving/limits.py", "DEAF = 20.0", "DEAF = 2.0")
    path = code / "calculators/two_replica_ledger.py"
    with Serving(code, wikis.copied(tmp_path), "--port", str(free_port())) as running:
        running.until("serving")
        with running.news("/en/alpha/") as news:
            news.next("page")
            children = running.children()
            editing.write(path, path.read_text("utf-8") + DEAF)
            assert running.process.wait(timeout=30) == 1
            running.stop()
        assert any(f'{path}", line' in line for line in running.lines), running.lines
        assert all_end(children)


def test_a_terminal_that_is_closed_ends_it(tmp_path: Path, code: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, str(code / "build.py"), "--serve", "--root",
               str(wikis.copied(tmp_path)), "--port", str(free_port())]  # fmt: skip
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                               preexec_fn=_own_terminal)  # fmt: skip
    os.close(theirs)
    said = b""
    while b"serving" not in said:
        said += os.read(ours, 4096)
    os.close(ours)
    try:
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()


def _own_terminal() -> None:
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_taken_port_is_said_in_one_line(tmp_path: Path, code: Path) -> None:
    root = wikis.copied(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with Serving(code, root, "--port", str(port)) as running:
            running.until(rf"port {port} is in use, taking \d+")
            assert running.get("/en/alpha/")[0] == 200
    command = [sys.executable, str(code / "build.py"), "--serve", "--root", str(root)]
    done = subprocess.run(
        [*command, "--port", "70000"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("build.py: port 70000: ports go up to 65535; name another with --port\n")
