"""Checks of the templates: names that nothing gives, also where no page has come yet.

Rendering refuses a missing name only where it gets to it. Here every branch is looked at, against
all names that the code hands to any template, read from that code: what is well written is never
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, meta, nodes

from pipeline.cache import TextCache, content_key
from pipeline.code import PIPELINE, PROJECT, TEMPLATES, code_digest
from pipeline.errors import Finding, suggest
from pipeline.faults import relative
from pipeline.model import Rendered

GIVERS = ("render.py", "fill.py", "shell.py")
MACROS = ("icon", "breakable")  # of a template that this one extends, or that includes it


def names(rendered: Rendered) -> Iterator[Finding]:
    """Templates ask for what they are given, in every branch, and only where all is looked at.

    Templates with which nothing was wrong are not looked at again.
    """
    book = rendered.resolved.parsed.book
    if not book.options.is_check:
        return
    files = {path: path.read_bytes().hex() for path in sorted(TEMPLATES.rglob("*.html"))}
    key = content_key(code_digest(), *map(str, files), *files.values(), repr(book.strings))
    store = TextCache(book.options.cache / "looked-at.sqlite")
    if store.get_many([key]):
        return
    found = tuple(unknown(TEMPLATES, book.strings))
    if not found:
        store.put_many({key: "sound"})
    yield from found


@cache
def given() -> frozenset[str]:
    """The names that the build hands to its templates: no other of its code does."""
    found = set(MACROS)
    for name in GIVERS:
        for node in ast.walk(ast.parse((PIPELINE / name).read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg:
                found.add(node.arg)
            elif isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                found |= {key for key in keys if isinstance(key, str)}
    return frozenset(found)


def unknown(folder: Path, strings: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """What the templates below `folder` name that is not there: names, templates, words."""
    environment = Environment(autoescape=True)
    environment.filters["csp_hash"] = str
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.*"))}
    for path in files.values():
        if path.suffix != ".html":
            continue
        file = relative(path, PROJECT)
        try:
            tree = environment.parse(path.read_text("utf-8"))
        except TemplateSyntaxError as error:
            rule = str(error.message)
            yield Finding(file, error.lineno, "not a template", path.name, rule, "mend it")
            continue
        yield from _names(file, tree)
        yield from _templates(file, tree, files)
        yield from _words(file, tree, strings)


def _names(file: str, tree: nodes.Template) -> Iterator[Finding]:
    known = given()
    for name in sorted(meta.find_undeclared_variables(tree) - known):
        at = min(n.lineno for n in tree.find_all(nodes.Name) if n.name == name)
        action = suggest(name, sorted(known), otherwise="mend the name, or give it in render.py")
        rule = "a template takes what the build gives it"
        yield Finding(file, at, "unknown name in a template", name, rule, action)


def _templates(file: str, tree: nodes.Template, files: Mapping[str, Path]) -> Iterator[Finding]:
    kinds = (nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)
    for node in tree.find_all(kinds):
        wanted = getattr(node, "template", None)
        if isinstance(wanted, nodes.Const) and wanted.value not in files:
            action = suggest(str(wanted.value), files, otherwise="add it or name another")
            rule = "templates are in site/templates/"
            yield Finding(file, node.lineno, "unknown template", str(wanted.value), rule, action)


def _words(
    file: str, tree: nodes.Template, strings: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    """Words that are asked for by a whole name, `t("nav.next")`, in a language without them."""
    for node in tree.find_all(nodes.Call):
        asked = node.args[0] if node.args else None
        if not (isinstance(node.node, nodes.Name) and node.node.name == "t"):
            continue
        if not isinstance(asked, nodes.Const) or not isinstance(asked.value, str):
            continue
        lacking = [name for name, words in strings.items() if not _is_there(words, asked.value)]
        if lacking:
            known = _keys(next(iter(strings.values())))
            action = suggest(asked.value, known, otherwise="add it there")
            rule = f"site/strings/{lacking[0]}.toml has no such text"
            yield Finding(file, node.lineno, "unknown words", asked.value, rule, action)


def _is_there(words: Any, key: str) -> bool:
    for step in key.split("."):
        words = words.get(step) if isinstance(words, Mapping) else None
    return isinstance(words, str)


def _keys(words: Mapping[str, Any], above: str = "") -> list[str]:
    found = []
    for key, value in words.items():
        if isinstance(value, Mapping):
            found += _keys(value, f"{above}{key}.")
        else:
            found.append(above + key)
    return found
