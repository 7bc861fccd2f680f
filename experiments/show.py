"""A record as a table for the terminal."""

from __future__ import annotations

from typing import Any

from experiments.compare import leaves
from experiments.record import Record, problems

SHOWN = 8  # elements of a long list


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.17g}"
    return str(value)


def _rows(value: Any, path: str) -> list[tuple[str, str]]:
    """One row a quantity: flat lists stay on one line, long ones are cut with their length."""
    if isinstance(value, dict) and value:
        return [row for key, item in value.items() for row in _rows(item, f"{path}.{key}")]
    if isinstance(value, list):
        items = [_text(item) for _, item in leaves(value, "")] if value else []
        more = f", … ({len(items)} in all)" if len(items) > SHOWN else ""
        return [(path, "[" + ", ".join(items[:SHOWN]) + more + "]")]
    return [(path, _text(value))]


def _claim(claim: dict[str, Any]) -> str:
    bounds = [f"{key} {claim[key]:g}" for key in ("rtol", "atol", "at_least") if key in claim]
    kind = ", ".join([claim["relation"], *bounds, *(["observation"] * claim["observation"])])
    return f"  {'held' if claim['held'] else 'NOT HELD':9}{claim['name']} ({kind})"


def table(record: Record) -> str:
    """Everything a reader wants of a record: where it ran, what it found, what it claims."""
    environment = record.environment
    rows = _rows(record.results, "results")
    width = max((len(path) for path, _ in rows), default=0)
    state = problems(record) or ["hashes match"]
    return "\n".join(
        [
            f"{record.name}  {record.world_size} ranks, {record.dtype}, seed {record.seed}",
            f"  {record.command}",
            f"  torch {environment.get('torch')} on {environment.get('processor')}, "
            f"{record.recorded_at}",
            f"  sha256 {record.record_sha256}",
            *(f"  {line}" for line in state),
            "",
            *(f"  {path:{width}}  {value}" for path, value in rows),
            "",
            *(_claim(claim) for claim in record.claims),
        ]
    )
