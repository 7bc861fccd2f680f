"""What other people's code does wrong is told as findings with a file and a line."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import build
from pipeline import bundle, faults, load, steps
from pipeline.errors import BuildError
from tests import wikis

ESBUILD = """✘ [ERROR] Expected "*/" to terminate multi-line comment

    site/styles/tokens.css:103:0:
      103 │ .x {}
          ╵ ^

  The multi-line comment starts here:

    site/styles/tokens.css:102:0:
      102 │ /* x
          ╵ ~~

✘ [ERROR] Could not resolve "site/styles/main.css"

"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def checked(root: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `--check` says of a wiki that is wrong."""
    arguments = ["--root", str(root), "--cache", str(root / "cache"), "--check"]
    assert build.main(arguments) == 1
    return capsys.readouterr().err.splitlines()


def test_every_error_of_esbuild_is_at_its_line() -> None:
    found = faults.of_esbuild(ESBUILD, "site/styles", "mend the stylesheet")
    assert list(map(str, found)) == [
        "site/styles/tokens.css:103: error '.x {}': "
        'Expected "*/" to terminate multi-line comment; mend the stylesheet',
        'site/styles:1: error: Could not resolve "site/styles/main.css"; mend the stylesheet',
    ]


def test_esbuild_that_says_nothing_known_is_told_whole() -> None:
    (found,) = faults.of_esbuild("killed\n", "site/scripts", "mend the script")
    assert str(found) == "site/scripts:1: esbuild 'killed': it failed; mend the script"


def test_a_script_that_does_not_bundle_is_named_with_its_line(tmp_path: Path) -> None:
    entry = tmp_path / "broken.js"
    entry.write_text("const a = 1;\nfunction (\n", "utf-8")
    with pytest.raises(BuildError) as caught:
        bundle._esbuild(wikis.PROJECT, entry)
    (found,) = caught.value.findings
    assert Path(found.file).name == "broken.js"
    assert (found.line, found.value) == (2, "function (")
    assert found.rule == 'Expected identifier but found "("'


def test_strings_that_cannot_be_read_are_told_all_at_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("site", "calculators"):
        shutil.copytree(wikis.PROJECT / folder / "strings", tmp_path / folder / "strings")
    (tmp_path / "calculators/strings/en.toml").write_text("a = 1\n]]\n", "utf-8")
    (tmp_path / "site/strings/zh-cn.toml").unlink()
    monkeypatch.setattr(load, "PROJECT", tmp_path)
    assert checked(root, capsys) == [
        "calculators/strings/en.toml:2: calculators' strings 'en': "
        "Invalid statement (at line 2, column 1); mend the file",
        "site/strings/zh-cn.toml:1: interface strings 'zh-cn': "
        "No such file or directory; mend the file",
        "2 errors, 0 warnings",
    ]


def test_whatever_stops_a_build_is_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("boo")

    monkeypatch.setattr(steps, "bind", broken)
    line, count = checked(root, capsys)
    assert re.fullmatch(r".*test_faults\.py:\d+: error '.*': RuntimeError: boo; mend it", line)
    assert count == "1 errors, 0 warnings"
