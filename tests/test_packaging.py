"""Packaging: pinned with hashes, no address of an index, one place for each setting."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ("site", "experiments", "torch-cpu", "cuda")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def pins(name: str) -> dict[str, list[str]]:
    """'package==version ; marker' -> its hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    lines = text.replace(" \\\n", " ").splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    return {row.split(" --hash")[0].strip(): HASH.findall(row) for row in rows}


def packages(name: str) -> set[str]:
    return {pin.split("==")[0] for pin in pins(name)}


def tracked(*patterns: str) -> list[Path]:
    """The project's files in git, or all of them where there is no git."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


# Python packages


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_package_is_pinned_with_hashes_and_nothing_else_is_listed(name: str) -> None:
    found = pins(name)
    assert found
    for pin, hashes in found.items():
        assert re.fullmatch(r"[a-z0-9-]+==[\w.+]+( ; .+)?", pin), pin
        assert hashes, pin
        assert len(set(hashes)) == len(hashes), pin


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_no_requirement_names_an_index_or_an_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|--(extra-)?index-url|--find-links|--trusted-host)", text, re.M)


@pytest.mark.parametrize("name", ["site", "experiments"])
def test_every_wish_is_pinned(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.in").read_text("utf-8")
    wishes = {
        re.split(r"[\[<>=; ]", line)[0] for line in text.splitlines() if re.match(r"\w", line)
    }
    assert wishes <= packages(name)


def test_the_site_and_its_tests_do_not_pull_torch() -> None:
    assert not {"torch", "triton", "safetensors"} & packages("site")
    assert not [pin for pin in packages("site") if pin.startswith(("nvidia-", "cuda-"))]


def test_packages_that_both_need_are_the_same_version() -> None:
    def version(pin: str) -> str:
        return pin.split(" ;")[0]

    site = {version(pin): set(hashes) for pin, hashes in pins("site").items()}
    both = packages("site") & packages("experiments")
    assert {"numpy", "jinja2", "rfc8785"} <= both
    for pin, hashes in pins("experiments").items():
        if pin.split("==")[0] in both:
            assert site[version(pin)] == set(hashes), pin


def test_torch_is_the_public_release_or_its_cpu_build() -> None:
    [(public, hashes)] = [
        item for item in pins("experiments").items() if item[0].startswith("torch")
    ]
    [(cpu, cpu_hashes)] = pins("torch-cpu").items()
    assert public == "torch==2.13.0"
    assert cpu.startswith("torch==2.13.0+cpu ; ")
    assert set(cpu_hashes) < set(hashes)
    assert len(hashes) == 25


def test_cuda_is_kept_out_of_what_a_cpu_build_needs() -> None:
    assert all(pin.startswith(("nvidia-", "cuda-", "triton")) for pin in packages("cuda"))
    assert not packages("cuda") & packages("experiments")


def needs_cuda(folder: Path, requires: list[str]) -> int:
    info = folder / "torch-2.13.0.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", "Name: torch", "Version: 2.13.0"]
    lines += [f"Requires-Dist: {need}" for need in requires]
    (info / "METADATA").write_text("\n".join(lines), "utf-8")
    script = ROOT / "requirements" / "needs_cuda.py"
    environment = {"PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, script], env=environment, check=False).returncode


@pytest.mark.parametrize(
    ("requires", "status"),
    [
        (["filelock", "jinja2"], 3),
        (["filelock", "nvidia-cudnn-cu13==9.20.0.48 ; platform_system == 'Linux'"], 0),
        (["triton==3.7.1"], 0),
        (["cuda-toolkit==13.0.3"], 0),
    ],
)
def test_cuda_is_installed_only_for_a_torch_that_asks_for_it(
    requires: list[str], status: int, tmp_path: Path
) -> None:
    assert needs_cuda(tmp_path, requires) == status


# Browser packages


def lock() -> dict[str, Any]:
    return dict(json.loads((ROOT / "package-lock.json").read_text("utf-8")))


def test_the_lock_file_names_no_download_address() -> None:
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert ".tgz" not in text


def test_every_browser_package_is_locked_by_its_hash() -> None:
    entries = {path: entry for path, entry in lock()["packages"].items() if path}
    assert entries
    assert [path for path, entry in entries.items() if "integrity" not in entry] == []


def test_browser_packages_are_wished_in_exact_versions_and_locked_so() -> None:
    wished = json.loads((ROOT / "package.json").read_text("utf-8"))
    assert wished["dependencies"]["pyodide"] == "0.29.0"
    packages = lock()["packages"]
    for name, version in {**wished["dependencies"], **wished["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_installed_browser_packages_are_the_locked_ones() -> None:
    wished = json.loads((ROOT / "package.json").read_text("utf-8"))
    for name, version in wished["dependencies"].items():
        found = json.loads((ROOT / "node_modules" / name / "package.json").read_text("utf-8"))
        assert found["version"] == version


# The whole


def test_no_file_names_the_host_of_a_package_registry() -> None:
    # Built from parts, so that this file does not name them either.
    hosts = [".".join(parts) for parts in (
        ("registry", "npmjs", "org"), ("pypi", "org"), ("files", "pythonhosted", "org"),
        ("deb", "debian", "org"), ("download", "pytorch", "org"),
    )]  # fmt: skip
    named = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        named += [f"{path.relative_to(ROOT)}: {host}" for host in hosts if host in text]
    assert named == []


def test_outputs_and_caches_are_ignored_by_git() -> None:
    made = [
        "dist/index.html", ".cache/tex.sqlite", ".venv/bin/python", "node_modules/katex/x.js",
        "tests/__pycache__/x.pyc", ".hypothesis/x", ".mypy_cache/x", ".ruff_cache/x",
    ]  # fmt: skip
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", *made],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == made


def test_tools_are_strict_and_the_python_they_mean_is_the_one_promised() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["project"]["requires-python"] == ">=3.11"
    assert settings["tool"]["mypy"]["strict"] is True
    assert settings["tool"]["mypy"]["python_version"] == "3.11"
    assert settings["tool"]["ruff"]["line-length"] == 100
    assert settings["tool"]["pytest"]["ini_options"]["filterwarnings"][0] == "error"


# make


def make(*arguments: str, path: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/usr/bin/env", f"PATH={path}", "make", "--no-print-directory", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def old_python(tmp_path: Path) -> str:
    """A path on which every Python is 3.9, with the few tools that make itself needs."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "make", "rm", "touch", "sed", "find"):
        found = next(Path(folder) / name for folder in ("/usr/bin", "/bin")
                     if (Path(folder) / name).exists())  # fmt: skip
        (tools / name).symlink_to(found)
    python = tools / "python3"
    python.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    python.chmod(0o755)
    return str(tools)


def test_an_old_python_is_told_in_one_line(old_python: str, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "requirements").mkdir(parents=True)
    for name in ("Makefile", "package.json", "package-lock.json", *(
        f"requirements/{name}.txt" for name in REQUIREMENTS
    )):  # fmt: skip
        (clone / name).write_bytes((ROOT / name).read_bytes())
    done = make("site", path=old_python, folder=clone)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == (
        "make: Python 3.11 or newer is needed; Python 3.9.2 found"
    )
    assert not (clone / ".venv").exists()


def test_make_without_a_target_lists_them() -> None:
    done = make(path="/usr/bin:/bin")
    names = re.findall(r"^make (\w+)", done.stdout, re.M)
    assert names == ["serve", "site", "test", "check", "experiments", "clean"]


def test_continuous_integration_runs_the_same_as_a_developer() -> None:
    text = (ROOT / ".ci" / "run").read_text("utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
    assert text.rstrip().endswith("exec make test")
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
