"""New chapters, calculators and experiments: they pass every check as they are written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import new
from tests import editing, wikis
from tests.bench.wiki import make

CONFIGURED = ("pyproject.toml",)
FILES = (
    "calculators/new_one.py",
    "experiments/new_run.py",
    "tests/calculators/test_new_one.py",
    "tests/experiments/test_new_run.py",
)
TESTS = ("__init__.py", "calculators", "experiments")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a small book, and one new thing of each kind."""
    root = editing.project(tmp_path_factory.mktemp("new") / "project")
    shutil.rmtree(root / "experiments")
    shutil.copytree(wikis.PROJECT / "experiments", root / "experiments")
    book = make(root / "made", 3)
    (book / "content").rename(root / "content")
    shutil.copytree(book / "experiments", root / "experiments", dirs_exist_ok=True)
    shutil.rmtree(book)
    for name in CONFIGURED:
        shutil.copy(wikis.PROJECT / name, root / name)
    (root / "tests").mkdir()
    (root / "tests/__init__.py").write_text("", "utf-8")
    for name in TESTS[1:]:
        shutil.copytree(wikis.PROJECT / "tests" / name, root / "tests" / name)
    (root / "before").write_text(check(root), "utf-8")
    for kind, name in (
        ("chapter", "new-one"),
        ("calculator", "new_one"),
        ("experiment", "new_run"),
    ):
        done = python(root, "build.py", "new", kind, name)
        assert done.returncode == 0, done.stderr
    return root


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=root, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, timeout=300,
    )  # fmt: skip


def check(root: Path) -> str:
    """What is wrong with a book, its count aside."""
    said = python(root, "build.py", "--check", "--cache", str(root / "own-cache"))
    assert said.returncode in (0, 1)
    lines = said.stderr.splitlines()
    assert "Traceback" not in said.stderr, said.stderr
    return "\n".join(line for line in lines if "errors, " not in line)


def test_nothing_is_wrong_with_the_new_things(made: Path) -> None:
    # Before and after, this small book lacks a place for most of the project's calculators.
    before = (made / "before").read_text("utf-8").splitlines()
    assert set(check(made).splitlines()) <= set(before)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "ruff", "check", "--no-cache", *FILES),
        ("-m", "ruff", "format", "--no-cache", "--check", *FILES),
        (
            "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "new_one or new_run",
            "tests/calculators/test_new_one.py", "tests/calculators/test_contract.py",
            "tests/experiments/test_new_run.py",
            "tests/experiments/test_registry.py",
        ),
    ],
    ids=["lint", "format", "tests"],
)  # fmt: skip
def test_the_new_things_pass_the_project_s_own_checks(
    made: Path, arguments: tuple[str, ...]
) -> None:
    done = python(made, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no tests ran" not in done.stdout


def test_the_new_things_are_in_both_languages(made: Path) -> None:
    assert '"new-one"' in (made / "content/summary.toml").read_text("utf-8")
    for language in ("en", "zh-cn"):
        text = (made / f"content/new-one/{language}.md").read_text("utf-8")
        assert ":::{calculator} new_one\n" in text
        assert ":::{record} new_run.gloo\n" in text
        assert "[new_one.verdicts]" in (made / f"calculators/strings/{language}.toml").read_text()
    assert (made / "experiments/records/new_run.gloo.json").exists()


def test_a_new_thing_in_a_language_without_skeleton_is_to_be_translated(tmp_path: Path) -> None:
    root = make(tmp_path / "book", 1)
    path = root / "content/locales.toml"
    path.write_text(path.read_text("utf-8").replace('"zh-cn"', '"fr"'), "utf-8")
    assert new.main(root, ["chapter", "other"]) == 0
    english = (root / "content/other/en.md").read_text("utf-8")
    french = (root / "content/other/fr.md").read_text("utf-8")
    assert "follows: " in french
    assert french.split("{#situation}")[1] == english.split("{#situation}")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["chapter", "Bad Slug"],
            "name 'Bad Slug': a slug is lower-case letters, digits and hyphens, a letter first; "
            "take another",
        ),
        (
            ["chapter", "chapter-1"],
            "content/chapter-1/en.md exists already; take another name, or change that file",
        ),
        (
            ["chapter", "other", "--part", "none"],
            "part 'none': the book has the parts all; name one of them",
        ),
        (
            ["calculator", "class"],
            "name 'class': a calculator's name is that of a Python module; take another",
        ),
        (
            ["calculator", "other"],
            "calculators/strings/en.toml cannot be read: No such file or directory",
        ),
        (
            ["calculator", "other", "--chapter", "about"],
            "chapter 'about': the summary has chapter-1; name one of them",
        ),
        (
            ["calculator", "numpy"],
            "name 'numpy': Python has a module of that name; take another",
        ),
        (
            ["chapter", "index"],
            "name 'index': the site has a page or folder of that name; take another",
        ),
        (
            ["chapter", "en"],
            "name 'en': the site has a page or folder of that name; take another",
        ),
        (
            ["experiment", "tiny"],
            "experiments/tiny.py exists already; take another name, or change that file",
        ),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line_and_nothing_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    root = make(tmp_path / "book", 1)
    before = sorted(root.rglob("*"))
    assert new.main(root, arguments) == 1
    assert capsys.readouterr().err == f"build.py new: {message}\n"
    assert sorted(root.rglob("*")) == before


def test_a_write_that_fails_takes_the_others_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "book", 1)
    summary = (root / "content/summary.toml").read_text("utf-8")
    write = Path.write_text

    def full(self: Path, text: str, encoding: str = "utf-8") -> int:
        if self.name == "summary.toml":
            raise OSError(28, "No space left on device", str(self))
        return write(self, text, encoding)

    monkeypatch.setattr(Path, "write_text", full)
    assert new.main(root, ["chapter", "other"]) == 1
    assert "summary.toml cannot be written: No space left on device" in capsys.readouterr().err
    assert not list((root / "content/other").glob("*"))
    assert (root / "content/summary.toml").read_text("utf-8") == summary
