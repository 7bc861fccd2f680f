"""The command line: every bad request is one line and exit status 2."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from experiments import __main__ as command_line
from experiments import registry
from experiments.__main__ import main, record_state
from experiments.errors import BadRequest
from experiments.harness import require_devices
from experiments.record import FOLDER
from tests.experiments.helpers import FAILING, command, names_in


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of a request that ends with status 2 and prints nothing else."""
    assert main(list(arguments), package=FAILING) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("experiments: ").rstrip("\n")


def test_an_unknown_name_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "run", "work") == "experiment 'work' is unknown; did you mean works?"
    assert refused(capsys, "show", "zzz") == (
        "experiment 'zzz' is unknown; `python -m experiments list` names them"
    )


def test_verify_and_run_want_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "verify") == "verify: name experiments, or give --all or --quick"
    assert refused(capsys, "run") == ("run: name an experiment, or give --stale; `list` names them")


def test_a_world_size_must_be_one_it_is_made_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "run", "works", "--world-size", "7") == (
        "works: --world-size 7: this experiment runs at world size 2, 3"
    )


def test_a_timeout_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "run", "works", "--timeout", "0") == (
        "--timeout 0: must be more than 0 seconds"
    )


def test_a_missing_record_names_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert refused(capsys, "verify", "works", "--out", str(tmp_path)) == (
        f"{tmp_path}/works.gloo.json: no such record; "
        "`python -m experiments run works --backend gloo` makes it"
    )


def test_nccl_without_devices_says_needed_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadRequest) as caught:
        require_devices("nccl", 2)
    assert str(caught.value) == (
        f"--backend nccl needs 2 CUDA devices, found 0 (torch {torch.__version__}); "
        "use --backend gloo or a machine with them"
    )


def test_fewer_devices_than_ranks_says_needed_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    require_devices("nccl", 1)
    with pytest.raises(BadRequest) as caught:
        require_devices("nccl", 4)
    assert str(caught.value) == (
        "--backend nccl needs 4 CUDA devices (one a rank), found 1; "
        "use --backend gloo, fewer ranks, or torchrun over several machines"
    )


def test_nccl_is_refused_by_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    line = refused(capsys, "run", "works", "--backend", "nccl")
    assert line.startswith("--backend nccl needs 2 CUDA devices, found 0 ")


def test_without_torch_one_line_says_what_to_install() -> None:
    done = command(["run", "works"], before="sys.modules['torch'] = None")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "experiments: torch cannot be imported (import of torch halted; None in sys.modules); "
        "experiments need torch 2.13.0: pip install -r requirements/experiments.txt\n"
    )


def test_list_and_show_need_no_torch() -> None:
    for arguments in (["list"], ["show", "contrastive_gather"]):
        call = "sys.modules['torch'] = None; from experiments.__main__ import main as m; "
        call += f"sys.exit(m({arguments!r}))"
        done = command([], before=call)
        assert done.returncode == 0, done.stderr
        assert "contrastive_gather" in done.stdout


def test_list_names_every_experiment_with_the_state_of_its_record(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(registry.entries())
    states = {"fresh", "stale", "changed", "unreadable", "no record"}
    assert {line.split("gloo: ")[1].split(",")[0] for line in lines} <= states
    assert "gloo: fresh" in next(line for line in lines if line.startswith("clip_ownership"))


def test_a_state_is_told_for_every_way_a_record_can_be(tmp_path: Path) -> None:
    assert record_state("contrastive_gather", "gloo", tmp_path) == "no record"
    path = tmp_path / "contrastive_gather.gloo.json"
    shutil.copy(FOLDER / path.name, path)
    assert record_state("contrastive_gather", "gloo", tmp_path) == "fresh"
    text = path.read_text()
    path.write_text(text.replace("0.9224123", "0.9224124"))
    assert record_state("contrastive_gather", "gloo", tmp_path) == "changed"
    path.write_text("{")
    assert record_state("contrastive_gather", "gloo", tmp_path) == "unreadable"


def test_stale_runs_what_is_not_fresh_each_looked_at_in_its_turn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[str] = []

    def state(name: str, _backend: str, _folder: Path) -> str:
        # `slow` becomes stale because `hangs` was renewed.
        return "fresh" if name not in ("hangs", "slow") or (name == "slow" and not ran) else "stale"

    monkeypatch.setattr(command_line, "record_state", state)
    monkeypatch.setattr(command_line, "run", lambda request, _folder: ran.append(request.name))
    assert main(["run", "--stale", "--out", str(tmp_path)], package=FAILING) == 0
    assert ran == ["hangs", "slow"]
    ran.clear()
    assert main(["run", "--stale", "works", "--out", str(tmp_path)], package=FAILING) == 0
    assert ran == []


def test_show_prints_values_and_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "clip_ownership"]) == 0
    out = capsys.readouterr().out
    assert "results.replicated.every_replica_counted.clipped_norm" in out
    assert "hashes match" in out
    assert "held     shards_make_norm_5 (allclose, rtol 0, atol 1e-14)" in out


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a run that ends with status 1 says."""
    assert main(list(arguments), package=FAILING) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_a_broken_claim_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert failed(capsys, "run", "breaks_claim", "--out", str(tmp_path)) == (
        "experiments: breaks_claim: claim half_is_one does not hold: results.value = 0.5, "
        "allclose {'rtol': 0.0, 'atol': 0.001} the constant = 1.0; nothing was written\n"
    )
    assert names_in(tmp_path) == []


def test_a_tensor_kept_by_two_ranks_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert failed(capsys, "run", "keeps_twice", "--out", str(tmp_path)) == (
        "experiments: keeps_twice: tensor weights is kept by two ranks; one may\n"
    )
    assert names_in(tmp_path) == []


def test_a_record_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "works.gloo.json"
    old.write_text("old")
    limit = f"import resource; resource.setrlimit({resource.RLIMIT_FSIZE}, (900, 900))"
    done = command(["run", "works", "--out", str(tmp_path)], before=limit)
    assert done.returncode == 1
    assert done.stderr == (
        f"experiments: {old}: cannot be written (File too large); nothing was written, an old "
        "record stays; make room or choose another --out\n"
    )
    assert names_in(tmp_path) == ["works.gloo.json"]
    assert old.read_text() == "old"
