"""Records as cards: what ran, where, what it claims, what it found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline import expressions
from pipeline.holes import Binding
from pipeline.model import Book, Record
from pipeline.views import Bound, ClaimView, RecordView, Row, Side

BACKENDS = ("gloo", "nccl")
MAX_TEXT = 120
ROW_SPEC = ".9g"


def card(book: Book, record: Record, language: str, show: tuple[Binding, ...] = ()) -> RecordView:
    """The card of a record. Raises `ExpressionError` for a path that the record lacks."""
    body = record.body
    return RecordView(
        name=record.name,
        experiment=body["experiment"],
        backend=body["backend"],
        what=book.experiments.get(body["experiment"], {}).get(language, ""),
        world_size=body["world_size"],
        dtype=body["dtype"],
        seed=body["seed"],
        environment=_environment(body["environment"]),
        command=body["command"],
        recorded_at=body["recorded_at"],
        sha256=body["record_sha256"],
        claims=tuple(_claim(item) for item in body["claims"]),
        rows=tuple(_row(record, b) for b in show),
        missing=tuple(_missing(book, body["experiment"])),
        recompute=book.recompute.get(body["experiment"], ""),
    )


def _row(record: Record, binding: Binding) -> Row:
    """A line of the card: a number of many digits is rounded for the eye, its raw value kept."""
    found = expressions.resolve(record.body, binding.path, binding.text)
    if isinstance(found, float) and not binding.spec:
        binding = replace(binding, spec=ROW_SPEC)
    return Row(path_text(binding), value(record, binding))


def value(record: Record, binding: Binding) -> Bound:
    """A value of a record as the page shows it. Raises `ExpressionError`."""
    found = expressions.resolve(record.body, binding.path, binding.text)
    shown = expressions.present(found, binding.spec, binding.text)
    return Bound(shown, json.dumps(found), f"record:{record.name}#{path_text(binding)}")


def path_text(binding: Binding) -> str:
    """The path as it is written: results.a[0]."""
    pieces = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in binding.path]
    return "".join(pieces).lstrip(".")


def _environment(environment: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(item)) for key, item in environment.items() if item is not None)


def _claim(claim: Mapping[str, Any]) -> ClaimView:
    bounds = [f"{key} {claim[key]:g}" for key in ("rtol", "atol", "at_least") if claim.get(key)]
    return ClaimView(
        name=claim["name"],
        relation=claim["relation"],
        bounds=", ".join(bounds),
        left=_side(claim["left"]),
        right=_side(claim["right"]),
        is_held=bool(claim["held"]),
        is_observation=bool(claim.get("observation")),
    )


def _side(side: Mapping[str, Any]) -> Side:
    found = side.get("value")
    shown = json.dumps(found) if isinstance(found, str | type(None)) else _plain(found)
    if len(shown) > MAX_TEXT:
        shown = f"{shown[: MAX_TEXT - 2]} …"
    return Side(str(side.get("path") or ""), shown)


def _plain(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False)


def _missing(book: Book, experiment: str) -> list[tuple[str, str]]:
    """The backends without a record of this experiment, and what makes one."""
    return [
        (backend, f"python -m experiments run {experiment} --backend {backend}")
        for backend in BACKENDS
        if f"{experiment}.{backend}" not in book.records
    ]
