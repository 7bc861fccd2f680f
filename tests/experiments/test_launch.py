"""The launcher ends every run, whatever a rank does, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.errors import BadRequest
from experiments.launch import open_store
from experiments.record import ROOT, load
from tests.experiments.helpers import FAILING, code, names_in
from tests.processes import eventually, is_alive

Capture = pytest.CaptureFixture[str]


def failure(capfd: Capture, *arguments: str) -> tuple[str, str]:
    """What a run that ends with status 1 says: the detail, and the last line."""
    assert main(["run", *arguments], package=FAILING) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    detail, _, line = captured.err.rstrip("\n").rpartition("\n")
    return detail, line.removeprefix("experiments: ")


def test_a_run_writes_one_record_and_its_tensors(capfd: Capture, tmp_path: Path) -> None:
    assert main(["run", "works", "--out", str(tmp_path)], package=FAILING) == 0
    captured = capfd.readouterr()
    assert captured.out == f"wrote {tmp_path}/works.gloo.json\n"
    assert captured.err == ""  # the progress bar is silent away from a terminal
    assert names_in(tmp_path) == ["works.gloo.json", "works.gloo.safetensors"]
    record = load(tmp_path / "works.gloo.json")
    assert record.results == {"sum": {"value": 1.5, "mean": 0.75, "ranks_agree": True}}
    assert [claim["held"] for claim in record.claims] == [True, True, False]
    assert [rank["rank"] for rank in record.ranks] == [0, 1]
    assert record.tensors is not None
    assert record.tensors["names"] == ["bits", "value"]


def test_a_killed_rank_ends_the_run_and_is_named(capfd: Capture, tmp_path: Path) -> None:
    _, line = failure(capfd, "killed", "--out", str(tmp_path))
    assert line == (
        "rank 1 of 2 was killed by SIGKILL; all ranks were stopped, nothing was written"
    )
    assert names_in(tmp_path) == []


def test_a_raising_rank_is_named_with_its_traceback(capfd: Capture, tmp_path: Path) -> None:
    detail, line = failure(capfd, "raises", "--out", str(tmp_path))
    assert line == (
        "rank 1 of 2 failed: ArithmeticError: the third batch is empty; "
        "all ranks were stopped, nothing was written"
    )
    assert detail.startswith("rank 1:\nTraceback (most recent call last):\n")
    assert "failing/raises.py" in detail
    assert names_in(tmp_path) == []


def test_a_hanging_rank_is_told_from_the_one_that_waits_for_it(
    capfd: Capture, tmp_path: Path
) -> None:
    detail, line = failure(capfd, "hangs", "--timeout", "6", "--out", str(tmp_path))
    assert line == (
        "rank 1 of 2 gave no sign of life for 6 s (rank 0 waited for it); all ranks "
        "were stopped, nothing was written; --timeout SECONDS allows more"
    )
    assert detail.startswith("rank 1 is at:\n")
    assert "failing/hangs.py" in detail
    assert names_in(tmp_path) == []


def test_a_rank_that_leaves_without_output_is_named(capfd: Capture, tmp_path: Path) -> None:
    _, line = failure(capfd, "leaves", "--out", str(tmp_path))
    assert line == (
        "rank 1 of 2 ended without handing over its output; all ranks were stopped, "
        "nothing was written"
    )


def start_slow(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run that works for minutes, and the ids of its ranks and of their children."""
    marks = tmp_path / "marks"
    marks.mkdir()
    process = subprocess.Popen(
        code(["run", "slow", "--out", str(tmp_path / "records")]),
        cwd=ROOT,
        env={**os.environ, "MARKS": str(marks)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert eventually(lambda: len(list(marks.glob("*.ids"))) == 2, 60)
    ids = [int(word) for mark in marks.glob("*.ids") for word in mark.read_text().split()]
    assert len(ids) == 4
    assert all(is_alive(pid) for pid in ids)
    return process, ids


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_and_no_record(tmp_path: Path, sent: int) -> None:
    process, ids = start_slow(tmp_path)
    process.send_signal(sent)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "experiments: interrupted; every rank was stopped\n"
    assert eventually(lambda: not any(is_alive(pid) for pid in ids), 5)
    assert not (tmp_path / "records").exists()


def test_a_killed_launcher_takes_its_ranks_along(tmp_path: Path) -> None:
    process, ids = start_slow(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    assert eventually(lambda: not any(is_alive(pid) for pid in ids), 10)


def test_a_taken_port_is_one_line() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(BadRequest) as caught:
            open_store(port, timeout=0.01)
    assert str(caught.value) == (
        f"port {port} on 127.0.0.1 is taken (tried 5 times); leave --port out to take a free one"
    )
    assert caught.value.exit_code == 2


def test_a_port_that_becomes_free_is_taken_at_a_later_try() -> None:
    first = open_store(0, timeout=0.2)
    port = first.port
    with pytest.raises(BadRequest):
        open_store(port, timeout=0.01)
    del first
    assert open_store(port, timeout=0.2).port == port
