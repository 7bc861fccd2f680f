"""No page of an earlier build survives a change of anything that it was made from.

For each kind of thing that a page depends on: change it, build with everything that earlier builds
have kept, and compare with a build that has kept nothing, byte by byte.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from experiments import record as records_of
from tests import wikis
from tests.test_build import tree

COPIED = ("build.py", "package.json", "package-lock.json", "calculators", "experiments", "site")
KEPT = ("runtime", "vendor", "model")  # what is fetched and packed once, by its own hashes
LEDGER = "calculators/two_replica_ledger.py"


class Checkout:
    """A copy of the project and of the tiny wiki, to change anything in."""

    def __init__(self, folder: Path) -> None:
        self.project, self.wiki = folder / "project", folder / "wiki"
        self.last: dict[str, bytes] = {}
        self.project.mkdir()
        skipped = shutil.ignore_patterns("__pycache__", "records")
        for name in COPIED:
            source, target = wikis.PROJECT / name, self.project / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=skipped)
            else:
                shutil.copy(source, target)
        (self.project / "node_modules").symlink_to(wikis.PROJECT / "node_modules")
        (self.project / ".cache").mkdir()
        for name in KEPT:
            if (wikis.PROJECT / ".cache" / name).exists():
                shutil.copytree(wikis.PROJECT / ".cache" / name, self.project / ".cache" / name)
        shutil.copytree(wikis.WIKI, self.wiki)

    def built(self, cache: str) -> dict[str, bytes]:
        """Build with what is kept in the folder `cache`; the site."""
        out = self.wiki.parent / f"site-{cache}"
        command = [sys.executable, "build.py", "--draft", "--root", str(self.wiki)]
        command += ["--out", str(out), "--cache", str(self.wiki.parent / cache)]
        done = subprocess.run(
            command, cwd=self.project, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return tree(out)

    def clean(self) -> dict[str, bytes]:
        """Build with nothing kept; the site."""
        shutil.rmtree(self.wiki.parent / "nothing", ignore_errors=True)
        return self.built("nothing")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("stale"))
    made.last = made.built("kept")
    return made


def text(name: str, old: str, new: str) -> Callable[[Checkout], None]:
    """Change the one place of a file that says `old`; content is the wiki's."""

    def change(checkout: Checkout) -> None:
        root = checkout.wiki if name.startswith("content/") else checkout.project
        wikis.replace(root / name, old, new)

    return change


def new_record(checkout: Checkout) -> None:
    """A record with another result, sealed as a run would."""
    path = checkout.wiki / "experiments/records/tiny.gloo.json"
    body = records_of.load(path).body()
    body["results"]["sum"]["total"] = 4.5
    path.write_text(json.dumps(asdict(records_of.seal(body))), "utf-8")


def tampered_record(checkout: Checkout) -> None:
    """A record changed by one digit, its own hash left as it was."""
    wikis.replace(checkout.wiki / "experiments/records/tiny.gloo.json", "4.5", "4.6")


def second_backend(checkout: Checkout) -> None:
    """A record of the same experiment for another backend."""
    folder = checkout.wiki / "experiments/records"
    shutil.copy(folder / "tiny.gloo.json", folder / "tiny.nccl.json")


def fewer_chapters(checkout: Checkout) -> None:
    """A chapter that others name goes."""
    shutil.move(checkout.wiki / "content/beta", checkout.wiki / "beta")


CHANGES: dict[str, Callable[[Checkout], None]] = {
    "a text": text("content/alpha/en.md", "A trap with", "Another trap with"),
    "a title that others name": text("content/beta/en.md", "title: Beta", "title: Gamma"),
    "a label that others name": text("content/beta/en.md", ":label: other", ":label: another"),
    "a heading that others name": text("content/beta/en.md", "{#limits}", "{#borders}"),
    "a question that others show": text("content/beta/en.md", "question: ", "question: So, "),
    "a drawing": text("content/alpha/drawing.svg", "A box", "A case"),
    "a definition": text("content/glossary.toml", "One process of", "A process of"),
    "a source": text("content/sources.toml", "The manual", "The handbook"),
    "an experiment's sentence": text("content/experiments.toml", "Two ranks add", "Two ranks sum"),
    "the order": text("content/summary.toml", '"alpha", "beta"', '"beta", "alpha"'),
    "a part's title": text("content/summary.toml", "First part", "Part one"),
    "a language's name": text("content/locales.toml", 'name = "English"', 'name = "Anglais"'),
    "a record": new_record,
    "a record's digit": tampered_record,
    "another record": second_backend,
    "a template": text("site/templates/page.html", '<div class="prose">', '<div class="prose x">'),
    "a part of a template": text("site/templates/parts/turn.html", "→", "⇒"),
    "a word": text("site/strings/en.toml", 'next = "Next"', 'next = "Onwards"'),
    "a calculator": text(LEDGER, "(2, 8), fields.whole", "(2, 9), fields.whole"),
    "a module of calculators": text("calculators/render.py", '"metric role-', '"metric x role-'),
    "a calculator's words": text("calculators/strings/en.toml", "Replica ledger", "Replica book"),
    "the pipeline": text("site/pipeline/fill.py", '"bound" value', '"bound x" value'),
    "how formulas are set": text("site/node/katex.mjs", '("htmlAndMathml")', '("html")'),
    "a style": text("site/styles/prose.css", "fit-content", "max-content"),
    "a chapter that others name": fewer_chapters,
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_kept_never_outlives_a_change(checkout: Checkout, kind: str) -> None:
    """The changes add up: each meets all that the builds before it have kept."""
    CHANGES[kind](checkout)
    before, after = checkout.last, checkout.built("kept")
    checkout.last = after
    assert after != before
    clean = checkout.clean()
    assert after.keys() == clean.keys()
    assert [path for path in clean if after[path] != clean[path]] == []
