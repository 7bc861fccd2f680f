"""The runtime's files: only with the right hash, from the first source that has them."""

from __future__ import annotations

import sys
import urllib.error
from pathlib import Path
from typing import Any

import pytest

from pipeline import fetch, vendor
from pipeline.fetch import SourceError
from pipeline.vendor import sha256
from tests.runtimes import NUMPY, WHEEL, World, archive

LOCKED = "2ca46b70661caea8f9f8089d22495c7a24c120fc5881e68934ac3a04d3fc8a02"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def test_the_lock_of_this_pyodide_names_the_wheel_and_its_hash() -> None:
    lock = vendor.core_files(vendor.ROOT / "node_modules/pyodide")["pyodide-lock.json"]
    assert vendor.wheel_of(lock) == (WHEEL, LOCKED)


def test_the_first_source_that_has_the_wheel_is_the_last_one_asked(world: World) -> None:
    world.sources = [
        world.source("first", "no route"),
        world.source("second", NUMPY),
        world.source("third", NUMPY),
    ]
    world.runtime()
    assert world.asked == ["first", "second"]
    assert world.kept.read_bytes() == NUMPY
    assert world.said[:2] == [
        f"runtime: fetching {WHEEL} from first",
        f"runtime: fetching {WHEEL} from second",
    ]


def test_once_cached_nothing_is_asked_and_nothing_is_said(world: World) -> None:
    first = world.runtime()
    world.asked.clear()
    world.said.clear()
    world.sources = [world.source("never", "asked")]
    assert world.runtime() == first
    assert world.asked == world.said == []


def test_a_wrong_hash_from_a_source_is_an_error_and_nothing_is_kept(world: World) -> None:
    world.sources = [world.source("mirror", NUMPY + b"!"), world.source("good", NUMPY)]
    assert world.error() == (
        f"{WHEEL}: SHA-256 {sha256(NUMPY + b'!')} from mirror, must be {sha256(NUMPY)}; "
        "nothing was kept; do not use it; try again from another network"
    )
    assert world.asked == ["mirror"]
    assert not world.kept.exists()


def test_a_changed_wheel_in_the_cache_is_an_error(world: World) -> None:
    world.runtime()
    world.kept.write_bytes(NUMPY[:-1])
    assert world.error() == (
        f"{WHEEL}: SHA-256 {sha256(NUMPY[:-1])} from {world.kept}, must be {sha256(NUMPY)}; "
        "nothing was kept; delete that file and retry"
    )


def test_no_source_is_told_in_one_line_with_all_that_was_tried(world: World) -> None:
    world.sources = [world.source("network", "timed out"), world.source("package", "not found")]
    assert world.error() == (
        f"{WHEEL}: no source has it: network (timed out); package (not found); connect to a "
        f"network and run again, or put the file with SHA-256 {sha256(NUMPY)} at {world.kept}"
    )


def test_a_changed_file_of_the_npm_package_is_an_error(world: World) -> None:
    path = world.modules / "pyodide" / "pyodide.mjs"
    path.write_bytes(b"import 'elsewhere'")
    expected = vendor.CORE["pyodide.mjs"]
    assert world.error() == (
        f"pyodide.mjs: SHA-256 {sha256(path.read_bytes())} from {path}, must be {expected}; "
        "nothing was kept; run `npm ci` again"
    )


def test_a_missing_file_of_the_npm_package_says_what_to_run(world: World) -> None:
    folder = world.modules / "pyodide"
    (folder / "python_stdlib.zip").unlink()
    assert world.error() == (
        f"python_stdlib.zip: not in {folder}, where the npm package pyodide 0.29.0 puts it; "
        "run `make site`, which installs it"
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (urllib.error.URLError(OSError("Name or service not known")), "Name or service not known"),
        (TimeoutError("timed out"), "timed out"),
        (urllib.error.HTTPError("x", 404, "Not Found", None, None), "status 404"),  # type: ignore[arg-type]
    ],
)
def test_a_network_that_fails_says_how(
    failure: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, float]] = []

    def refuse(request: Any, timeout: float) -> Any:
        seen.append((request.full_url, timeout))
        raise failure

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    with pytest.raises(SourceError) as caught:
        fetch.from_cdn(WHEEL)
    assert str(caught.value) == reason
    assert seen == [(fetch.CDN + WHEEL, fetch.CDN_TIMEOUT)]
    if isinstance(failure, urllib.error.HTTPError):
        failure.close()


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for this Python: runs the script at the returned path, whatever it is asked."""
    script = tmp_path / "pip.py"
    command = tmp_path / "python"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n', "utf-8")
    command.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(command))
    return script


def test_the_package_gives_its_copy(fake_pip: Path, tmp_path: Path) -> None:
    carrier = archive({fetch.CARRIER_FOLDER + WHEEL: "the wheel", "gbdraw/other.py": ""})
    (tmp_path / "carrier").write_bytes(carrier)
    fake_pip.write_text(
        "import shutil, sys\n"
        "assert sys.argv[1:4] == ['-m', 'pip', 'download'] and sys.argv[-1] == 'gbdraw==0.14.2'\n"
        "folder = sys.argv[sys.argv.index('--dest') + 1]\n"
        f"shutil.copy({str(tmp_path / 'carrier')!r}, folder + '/gbdraw-0.14.2-py3-none-any.whl')\n",
        "utf-8",
    )
    assert fetch.from_carrier(WHEEL) == b"the wheel"
    with pytest.raises(SourceError) as caught:
        fetch.from_carrier("absent.whl")
    assert str(caught.value) == (
        "gbdraw-0.14.2-py3-none-any.whl does not hold gbdraw/web/vendor/pyodide-wheels/absent.whl"
    )


def test_a_failing_pip_is_quoted(fake_pip: Path) -> None:
    fake_pip.write_text(
        "import sys\n"
        "print('WARNING: Retrying\\nERROR: No matching distribution', file=sys.stderr)\n"
        "sys.exit(1)\n",
        "utf-8",
    )
    with pytest.raises(SourceError) as caught:
        fetch.from_carrier(WHEEL)
    assert str(caught.value) == "No matching distribution"


def test_a_pip_that_never_ends_is_ended(fake_pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "CARRIER_TIMEOUT", 0.5)
    fake_pip.write_text("import time\ntime.sleep(60)\n", "utf-8")
    with pytest.raises(SourceError) as caught:
        fetch.from_carrier(WHEEL)
    assert str(caught.value) == "pip took more than 0.5 s"
