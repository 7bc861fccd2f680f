"""From a finished run to its record: sources, settings, and what the terminal shows."""

from __future__ import annotations

import importlib
import io
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from experiments.errors import BadRequest, RunFailed
from experiments.record import ROOT, file_sha256
from experiments.run import (
    ProgressBar,
    Request,
    command_of,
    resolve_world_size,
    resolved_config,
    source_hashes,
)


class Terminal(io.StringIO):
    """A standard error that may be a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    screen = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar("training") as bar:
        bar.show(1, 4, "")
        bar.show(4, 4, "loss 2.5")
    assert ("training: 100%" in screen.getvalue()) == is_terminal
    assert ("loss 2.5" in screen.getvalue()) == is_terminal
    assert (screen.getvalue() == "") != is_terminal


def works() -> ModuleType:
    return importlib.import_module("tests.experiments.failing.works")


def test_sources_are_the_experiment_its_calculators_and_its_files() -> None:
    settings = replace(works().SETTINGS, calculators=("infonce",))
    names = [
        "tests/experiments/failing/works.py",
        "calculators/infonce.py",
        "tests/experiments/failing/__init__.py",
    ]
    assert source_hashes(works(), settings) == {name: file_sha256(ROOT / name) for name in names}


def test_a_missing_source_is_named() -> None:
    settings = replace(works().SETTINGS, files=("experiments/data/none.txt",))
    with pytest.raises(RunFailed) as caught:
        source_hashes(works(), settings)
    assert str(caught.value) == (
        "tests/experiments/failing/works.py: source experiments/data/none.txt does not exist; "
        "nothing was written"
    )


def test_a_record_keeps_every_setting() -> None:
    assert resolved_config(works().SETTINGS) == {
        "step": 0.5,
        "harness": {
            "threads_per_rank": 1,
            "deterministic_algorithms": True,
            "environment_variables": {
                "OMP_NUM_THREADS": "1",
                "MKL_NUM_THREADS": "1",
                "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
            },
        },
    }


def test_the_world_size_is_the_experiments_own_unless_it_allows_another() -> None:
    assert resolve_world_size(Request("works"), (2, 3)) == 2
    assert resolve_world_size(Request("works", world_size=3), (2, 3)) == 3
    with pytest.raises(BadRequest):
        resolve_world_size(Request("works", world_size=1), (2, 3))


def test_the_command_is_the_one_that_started_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request("works", backend="nccl")
    assert command_of(request, 2) == "python -m experiments run works --backend nccl --world-size 2"
    for key in ("RANK", "WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.setenv(key, "2")
    monkeypatch.setenv("GROUP_WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    assert command_of(request, 4) == (
        "torchrun --nnodes=4 --nproc-per-node=1 -m experiments run works --backend nccl"
    )
