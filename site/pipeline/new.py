"""New chapters, calculators and experiments: working ones, to be changed into what is meant."""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.code import PROJECT
from pipeline.parse import text_digest

SKELETONS = PROJECT / "site" / "skeletons"
SLUG = re.compile(r"[a-z][a-z0-9-]{0,63}")
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
CALCULATOR = ":::{{calculator}} {name}\n:id: {id}\n{caption}\n:::\n\n"
SHOWN = "results.reduced.total, results.alone.total"
RECORD = f":::{{{{record}}}} {{name}}.gloo\n:show: {SHOWN}\n{{caption}}\n:::\n\n"
CAPTIONS = {"en": "What to look at.", "zh-cn": "看什么。"}
BEFORE = "{#limits}\n"


class NewError(Exception):
    """Why nothing was written: what (value), rule, what to do."""


class Draft:
    """Files to write, all or none of them: `texts` by path below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts: dict[Path, str] = {}

    def read(self, name: str) -> str:
        """A file as it will be. Raises `NewError` when there is none."""
        path = self.root / name
        try:
            return self.texts.get(path) or path.read_text("utf-8")
        except OSError as error:
            raise NewError(f"{name} cannot be read: {error.strerror}") from None

    def create(self, name: str, text: str) -> None:
        """A file that must not be there yet."""
        if (self.root / name).exists():
            raise NewError(f"{name} exists already; take another name, or change that file")
        self.texts[self.root / name] = text

    def change(self, name: str, text: str) -> None:
        """A file that is there, as it will be."""
        self.texts[self.root / name] = text

    def write(self) -> list[str]:
        """Write all of them, or as they were when one fails. Returns their names."""
        before = {path: path.read_bytes() if path.exists() else None for path in self.texts}
        try:
            for path, text in self.texts.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
        except OSError as error:
            for path, data in before.items():
                if data is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(data)
            raise NewError(f"{error.filename} cannot be written: {error.strerror}") from None
        return [path.relative_to(self.root).as_posix() for path in self.texts]


def main(root: Path, arguments: Sequence[str]) -> int:
    """`new chapter SLUG`, `new calculator NAME`, `new experiment NAME`. The exit status."""
    parser = argparse.ArgumentParser(prog="build.py new", description=__doc__)
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("name", help="a slug (a-z, 0-9, -) or a module's name (a-z, 0-9, _)")
    parser.add_argument("--part", default="", help="part of the book that a chapter is added to")
    parser.add_argument("--chapter", default="", help="chapter that shows the new thing")
    given = parser.parse_args(arguments)
    draft = Draft(root)
    try:
        hint = KINDS[given.kind](draft, given.name, given)
        written = draft.write()
    except NewError as error:
        print(f"build.py new: {error}", file=sys.stderr)
        return 1
    print("\n".join(f"written  {name}" for name in written))
    print(hint)
    if given.kind == "experiment":
        return _run(draft, given.name, given.chapter)
    return 0


def _require(name: str, pattern: re.Pattern[str], rule: str) -> None:
    if pattern.fullmatch(name) is None or keyword.iskeyword(name):
        raise NewError(f"name {name!r}: {rule}; take another")


def _filled(skeleton: str, name: str) -> str:
    words = name.replace("_", " ").replace("-", " ").capitalize()
    text = (SKELETONS / skeleton).read_text("utf-8")
    return text.replace("@NAME@", name).replace("@SLUG@", name).replace("@WORDS@", words).replace(
        "@TITLE@", words
    )  # fmt: skip


def languages(draft: Draft) -> list[str]:
    """The languages of the book, the first of them the one that others follow."""
    return [item["id"] for item in tomllib.loads(draft.read("content/locales.toml"))["language"]]


def _skeleton_for(stem: str, language: str, suffix: str) -> str:
    """The skeleton in a language; in one without its own, the English one to be translated."""
    own = f"{stem}.{language}{suffix}"
    return own if (SKELETONS / own).exists() else f"{stem}.en{suffix}"


def new_chapter(draft: Draft, slug: str, given: argparse.Namespace) -> str:
    """A chapter in every language, at the end of a part."""
    _require(slug, SLUG, "a slug is lower-case letters, digits and hyphens, a letter first")
    if slug == "index" or slug in languages(draft):
        raise NewError(f"name {slug!r}: the site has a page or folder of that name; take another")
    follows = ""
    for language in languages(draft):
        text = _filled(_skeleton_for("chapter", language, ".md"), slug)
        if follows:
            text = text.replace("\n---\n", f"\nfollows: {follows}\n---\n", 1)
        else:
            follows = text_digest(text)
        draft.create(f"content/{slug}/{language}.md", text)
    summary = draft.read("content/summary.toml")
    part = given.part or _parts(summary)[-1]["id"]
    draft.change("content/summary.toml", _listed(summary, part, slug))
    return f"It is the last chapter of part {part!r}: move it in content/summary.toml as you like."


def _parts(summary: str) -> list[Mapping[str, Any]]:
    return list(tomllib.loads(summary).get("part", ()))


def _listed(summary: str, part: str, slug: str) -> str:
    """The summary with a chapter more at the end of a part."""
    ids = [item["id"] for item in _parts(summary)]
    if part not in ids:
        raise NewError(f"part {part!r}: the book has the parts {', '.join(ids)}; name one of them")
    start = summary.index(f'id = "{part}"')
    found = re.compile(r"chapters\s*=\s*\[([^\]]*)\]").search(summary, start)
    if found is None:
        raise NewError(f"part {part!r}: it has no chapters = []; add that to content/summary.toml")
    inside = found.group(1).rstrip().rstrip(",")
    entry = f'"{slug}"' if not inside.strip() else f'{inside}, "{slug}"'
    return f"{summary[: found.start(1)]}{entry}{summary[found.end(1) :]}"


def new_calculator(draft: Draft, name: str, given: argparse.Namespace) -> str:
    """A calculator with its test and its words, in a chapter."""
    _require(name, NAME, "a calculator's name is that of a Python module")
    if importlib.util.find_spec(name) is not None:
        raise NewError(f"name {name!r}: Python has a module of that name; take another")
    _require_chapter(draft, given.chapter)
    draft.create(f"calculators/{name}.py", _filled("calculator.py.txt", name))
    draft.create(f"tests/calculators/test_{name}.py", _filled("test_calculator.py.txt", name))
    for language in languages(draft):
        file = f"calculators/strings/{language}.toml"
        words = _filled(_skeleton_for("calculator", language, ".toml"), name)
        draft.change(file, draft.read(file).rstrip("\n") + "\n" + words)
    place = {"name": name, "id": name.replace("_", "-")}
    return _placed(draft, given.chapter, CALCULATOR, place)


def new_experiment(draft: Draft, name: str, given: argparse.Namespace) -> str:
    """An experiment with its test and its sentence; it is shown once it has run."""
    _require(name, NAME, "an experiment's name is that of a Python module")
    _require_chapter(draft, given.chapter)
    draft.create(f"experiments/{name}.py", _filled("experiment.py.txt", name))
    draft.create(f"tests/experiments/test_{name}.py", _filled("test_experiment.py.txt", name))
    sentences = {"en": "What is run, in one sentence.", "zh-cn": "用一句话说明运行了什么。"}
    entry = "".join(
        f'{language} = "{sentences.get(language, sentences["en"])}"\n'
        for language in languages(draft)
    )
    file = "content/experiments.toml"
    draft.change(file, f'{draft.read(file).rstrip()}\n\n[[experiment]]\nid = "{name}"\n{entry}')
    return "Change what it runs, then run it again: the record is renewed."


def _placed(draft: Draft, chapter: str, form: str, values: Mapping[str, str]) -> str:
    """Put a directive into a chapter before its limits, in every language."""
    slug = chapter or _last_chapter(draft)
    names = [f"content/{slug}/{language}.md" for language in languages(draft)]
    before = [draft.read(name) for name in names]
    digest = text_digest(before[0])
    for language, name, text in zip(languages(draft), names, before, strict=True):
        if text.count(BEFORE) != 1:
            raise NewError(f"{name}: it has no {BEFORE.strip()}; name a chapter with --chapter")
        shown = form.format(caption=CAPTIONS.get(language, CAPTIONS["en"]), **values)
        draft.change(name, text.replace(BEFORE, shown + BEFORE))
    renewed = text_digest(draft.read(names[0]))
    for name in names[1:]:
        text = draft.read(name)
        draft.change(name, text.replace(f"\nfollows: {digest}\n", f"\nfollows: {renewed}\n"))
    return f"It stands in {' and '.join(names)}: move it to where it belongs."


def _require_chapter(draft: Draft, slug: str) -> None:
    slugs = _slugs(draft)
    if slug and slug not in slugs:
        raise NewError(f"chapter {slug!r}: the summary has {', '.join(slugs)}; name one of them")


def _slugs(draft: Draft) -> list[str]:
    """The chapters in order: reference pages are none."""
    parts = _parts(draft.read("content/summary.toml"))
    return [str(slug) for part in parts for slug in part.get("chapters", ())]


def _last_chapter(draft: Draft) -> str:
    """The last chapter that has limits, where things are put that are to be moved anyway."""
    first = languages(draft)[0]
    for slug in reversed(_slugs(draft)):
        path = draft.root / "content" / slug / f"{first}.md"
        if path.exists() and BEFORE in path.read_text("utf-8"):
            return slug
    raise NewError("chapter: the book has none with a section {#limits}; write one first")


def _run(draft: Draft, name: str, chapter: str) -> int:
    """Make the experiment's record and show it in a chapter, where torch is installed."""
    command = ["-m", "experiments", "run", name]
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed here; `make experiments` installs it and makes the record.")
        return 0
    status = subprocess.run([sys.executable, *command], cwd=draft.root, check=False).returncode
    if status != 0:
        return status
    shown = Draft(draft.root)
    try:
        hint = _placed(shown, chapter, RECORD, {"name": name})
    except NewError as error:
        print(f"build.py new: {error}", file=sys.stderr)
        return 1
    shown.write()
    print(hint)
    return 0


KINDS: dict[str, Callable[[Draft, str, argparse.Namespace], str]] = {
    "chapter": new_chapter,
    "calculator": new_calculator,
    "experiment": new_experiment,
}
