"""torchrun over two nodes on loopback finds what the built-in launcher finds."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.__main__ import main
from experiments.claims import same_bits
from experiments.record import ROOT, load
from tests.experiments.helpers import FAILING, code, names_in
from tests.processes import free_port


def node(number: int, port: int, name: str, out: Path, package: str) -> subprocess.Popen[str]:
    """One of two torchrun nodes with one rank each."""
    script = out / f"node{number}.py"
    script.write_text(
        "import sys\nfrom experiments.__main__ import main\n"
        f"sys.exit(main(['run', {name!r}, '--out', {str(out / 'records')!r}], package={package!r}))"
    )
    arguments = ["--nnodes=2", "--nproc-per-node=1", f"--node-rank={number}"]
    arguments += ["--master-addr=127.0.0.1", f"--master-port={port}", str(script)]
    return subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GLOO_SOCKET_IFNAME": "lo"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def two_nodes(name: str, out: Path, package: str) -> list[tuple[int, str]]:
    """Exit status and output of both nodes."""
    port = free_port()
    nodes = [node(number, port, name, out, package) for number in (0, 1)]
    try:
        texts = [process.communicate(timeout=150)[0] for process in nodes]
    finally:
        for process in nodes:
            process.kill()
    return [(process.returncode, text) for process, text in zip(nodes, texts, strict=True)]


def test_two_torchrun_nodes_find_the_recorded_values(tmp_path: Path) -> None:
    ends = two_nodes("contrastive_gather", tmp_path, "experiments")
    assert [status for status, _ in ends] == [0, 0], ends
    joined = load(tmp_path / "records" / "contrastive_gather.gloo.json")
    assert main(["run", "contrastive_gather", "--out", str(tmp_path / "own")]) == 0
    own = load(tmp_path / "own" / "contrastive_gather.gloo.json")
    assert same_bits(joined.results, own.results)
    assert [rank["output_sha256"] for rank in joined.ranks] == [
        rank["output_sha256"] for rank in own.ranks
    ]
    assert joined.sources == own.sources
    assert joined.command == (
        "torchrun --nnodes=2 --nproc-per-node=1 -m experiments run contrastive_gather "
        "--backend gloo"
    )
    assert own.command == (
        "python -m experiments run contrastive_gather --backend gloo --world-size 2"
    )
    assert sum(f"wrote {tmp_path}" in text for _, text in ends) == 1  # rank 0 alone writes


def test_a_rank_that_raises_fails_both_nodes_and_writes_nothing(tmp_path: Path) -> None:
    ends = two_nodes("raises", tmp_path, FAILING)
    assert all(status != 0 for status, _ in ends)
    text = "".join(text for _, text in ends)
    assert (
        "experiments: rank 1 of 2 failed: ArithmeticError: the third batch is empty; "
        "nothing was written\n"
    ) in text
    assert not (tmp_path / "records").exists()


def joined(monkeypatch: pytest.MonkeyPatch, **changes: str) -> None:
    """The environment of rank 0 of a group of two."""
    group = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
    for key, value in {**group, "MASTER_PORT": "0", **changes}.items():
        monkeypatch.setenv(key, value)


def test_a_world_size_unlike_the_group_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    joined(monkeypatch)
    assert main(["run", "works", "--world-size", "3"], package=FAILING) == 2
    assert capsys.readouterr().err == (
        "experiments: --world-size 3: the group has 2 ranks; leave it out\n"
    )


def test_a_taken_master_port_is_one_line() -> None:
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        group = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        done = subprocess.run(
            code(["run", "works", "--timeout", "5"], "pass"),
            cwd=ROOT,
            env={**os.environ, **group},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last == f"experiments: MASTER_PORT: 127.0.0.1:{port} is taken; choose another port"


def test_a_group_that_never_comes_is_one_line(tmp_path: Path) -> None:
    port = str(free_port())
    group = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    done = subprocess.run(
        code(["run", "works", "--timeout", "1", "--out", str(tmp_path)], "pass"),
        cwd=ROOT,
        env={**os.environ, **group},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"experiments: the group's store at 127.0.0.1:{port} cannot be reached")
    assert last.endswith("is rank 0 running?")
    assert names_in(tmp_path) == []
