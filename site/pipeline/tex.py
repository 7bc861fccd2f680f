"""Formulas: TeX to HTML with MathML, all formulas of a build in one batch, kept between builds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.cache import TextCache, content_key
from pipeline.node import NodeError, NodeProgram

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "site" / "node" / "katex.mjs"
TIMEOUT = 10.0


@dataclass(frozen=True)
class Formula:
    """TeX without its dollars; `display` is true for a formula on a line of its own."""

    tex: str
    display: bool = False


@dataclass(frozen=True)
class Failure:
    """A formula that cannot be set; `position` counts characters of its TeX, where known."""

    formula: Formula
    message: str
    position: int | None = None

    def __str__(self) -> str:
        return f"formula {self.formula.tex!r}: {self.message}"


class TexError(Exception):
    """One or more formulas cannot be set; the message has a line for each."""

    def __init__(self, failures: tuple[Failure, ...]) -> None:
        super().__init__("\n".join(str(failure) for failure in failures))
        self.failures = failures


def render_all(
    formulas: Iterable[Formula],
    cache: Path = ROOT / ".cache",
    *,
    program: Path = PROGRAM,
    timeout: float = TIMEOUT,
) -> dict[Formula, str]:
    """HTML with MathML for every formula. Raises `TexError` naming all that KaTeX refuses."""
    wanted = list(dict.fromkeys(formulas))
    made_by = version(program)
    keys = {item: content_key(made_by, item.tex, item.display) for item in wanted}
    store = TextCache(cache / "tex.sqlite")
    known = store.get_many(keys.values())
    missing = [item for item in wanted if keys[item] not in known]
    with NodeProgram(program, timeout=timeout) as node:
        fresh, failures = set_with(node, missing)
    store.put_many({keys[item]: html for item, html in fresh.items()})
    if failures:
        raise TexError(failures)
    return {item: known[key] if (key := keys[item]) in known else fresh[item] for item in wanted}


def set_with(
    node: NodeProgram, formulas: list[Formula]
) -> tuple[dict[Formula, str], tuple[Failure, ...]]:
    """The HTML of those that KaTeX sets, and those that it refuses. Nothing is kept.

    Raises `TexError` for a formula on which KaTeX does not come to an end.
    """
    requests = [{"tex": item.tex, "display": item.display} for item in formulas]
    try:
        answers = node.request(requests)
    except NodeError as error:
        if error.index is None:
            raise
        raise TexError((Failure(formulas[error.index], str(error)),)) from error
    done: dict[Formula, str] = {}
    failures: list[Failure] = []
    for item, answer in zip(formulas, answers, strict=True):
        if "ok" in answer:
            done[item] = answer["ok"]
        else:
            failures.append(_failure(item, answer["error"]))
    return done, tuple(failures)


def _failure(formula: Formula, error: Mapping[str, Any]) -> Failure:
    # KaTeX's messages begin with its name and hold combining marks that underline the place.
    text = str(error["message"]).removeprefix("KaTeX parse error: ").replace("\u0332", "")
    return Failure(formula, " ".join(text.split()), error.get("position"))


def version(program: Path = PROGRAM) -> str:
    """What, besides the TeX, decides how a formula looks: KaTeX's release and our options."""
    package = json.loads((ROOT / "node_modules/katex/package.json").read_text("utf-8"))
    return content_key(package["version"], program.read_text("utf-8"))
