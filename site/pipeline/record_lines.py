"""Where a record was changed after its run: by its hashes, so that the answer is not a guess.

A record's hash covers all of it, and each rank's output has a hash of its own. Where one digit was
changed, putting back the right one gives the hash again: that is looked for, within a bounded
amount of work, and only in a record that is known to be changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from experiments import record as records_of

Path = tuple[str | int, ...]
MAX_HASHED = 1_500_000_000
_SPACE = re.compile(r"[ \t\n\r]*")
_DIGIT = re.compile(r"\d")
_decode = json.JSONDecoder().raw_decode


class Spelled(float):
    """A number as the file spells it: a digit stands elsewhere in another spelling."""

    def __new__(cls, text: str) -> Spelled:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


@dataclass(frozen=True)
class Place:
    """A place in a record, and what is known of it: '' where that is only that it was changed."""

    line: int
    said: str = ""


def place(record: records_of.Record, text: str, rule: str) -> tuple[int, str]:
    """The line that a problem of a record is about, and the problem with what is known of that."""
    kind, _, rest = rule.partition(": ")
    if kind == "stale":
        return line(text, ("sources", rest.partition(" is ")[0])), rule
    if kind == "tensors":
        return line(text, ("tensors", "sha256")), rule
    found = changed(record, text)
    return found.line, f"{rule}; {found.said}" if found.said else rule


def changed(record: records_of.Record, text: str) -> Place:
    """Where a record, whose file says `text`, is not what its hash was made of."""
    body = json.loads(text, parse_float=Spelled)
    body.pop("record_sha256")
    spoilt = [
        number
        for number, rank in enumerate(record.ranks)
        if "output" in rank and _hash(rank["output"]) != rank.get("output_sha256")
    ]
    if _distance(_hash(body), record.record_sha256) == 1:
        return Place(line(text, ("record_sha256",)), "one digit of record_sha256 was changed")
    if len(spoilt) == 1:
        rank, above = body["ranks"][spoilt[0]], ("ranks", spoilt[0], "output")
        found = _digit(rank["output"], str(rank.get("output_sha256")))
        said = f"the output of rank {spoilt[0]} is not what its own hash was made of"
        return _told(text, above, found) if found else Place(line(text, above), said)
    found = None if spoilt else _digit(body, record.record_sha256, is_aside=_is_output)
    return _told(text, (), found) if found else Place(1)


def _hash(value: Any) -> str:
    try:
        return records_of.sha256(value)
    except (TypeError, ValueError):
        return ""


def _distance(one: str, other: str) -> int:
    same = len(one) == len(other)
    return sum(a != b for a, b in zip(one, other, strict=True)) if same else len(one)


def _told(text: str, above: Path, found: tuple[Path, Any, Any]) -> Place:
    path, now, before = found
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in (*above, *path)]
    name = "".join(steps).lstrip(".")
    said = f"{name} is {json.dumps(now)}, and the hash was made of {json.dumps(before)}"
    return Place(line(text, (*above, *path)), said)


def line(text: str, path: Path) -> int:
    """The line of the value at `path` in a JSON text."""
    at = 0
    for step in path:
        at = _member(text, _skipped(text, at), step)
    return text.count("\n", 0, _skipped(text, at)) + 1


def _skipped(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _member(text: str, at: int, step: str | int) -> int:
    """Where the member `step` begins of the object or list at `at`; `at` where it has none."""
    start, number, is_list = at, 0, text[at] == "["
    while text[at] in "{[,":
        at = _skipped(text, at + 1)
        key: str | int = number
        if text[at] in "}]":
            break
        if not is_list:
            key, at = _decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        if key == step:
            return at
        at = _skipped(text, _decode(text, at)[1])
        number += 1
    return start


def _is_output(path: Path) -> bool:
    return path[:1] == ("ranks",) and path[2:3] == ("output",)


def _digit(
    body: Any, wanted: str, is_aside: Callable[[Path], bool] = lambda _: False
) -> tuple[Path, Any, Any] | None:
    """The one digit that gives the hash `wanted` again: its path, what is there, what was."""
    pieces = list(_pieces(body, ()))
    whole = b"".join(data for data, _, _ in pieces)
    if whole != records_of.canonical(body):
        return None
    state, states, position = hashlib.sha256(), [], 0
    for data, _, _ in pieces:
        states.append((state.copy(), position + len(data)))
        state.update(data)
        position += len(data)
    hashed = 0
    for (data, path, value), (before, end) in reversed(list(zip(pieces, states, strict=True))):
        if path is None or is_aside(path):
            continue
        rest = memoryview(whole)[end:]
        for other in _others(value):
            attempt = before.copy()
            attempt.update(records_of.canonical(other))
            attempt.update(rest)
            if attempt.hexdigest() == wanted:
                return path, value, other
            hashed += len(rest) + len(data)
        if hashed > MAX_HASHED:
            return None
    return None


def _others(value: str | float) -> Iterator[str | float]:
    """The value with one digit replaced by each other one."""
    text = value if isinstance(value, str) else getattr(value, "text", repr(value))
    for found in _DIGIT.finditer(text):
        for digit in "0123456789".replace(found[0], ""):
            other = text[: found.start()] + digit + text[found.end() :]
            yield other if isinstance(value, str) else _number(value, other)


def _number(like: float, text: str) -> float:
    return float(text) if isinstance(like, float) else int(text)


def _pieces(value: Any, path: Path) -> Iterator[tuple[bytes, Path | None, Any]]:
    """Canonical JSON in pieces: numbers and texts with their paths, what is between without."""
    if isinstance(value, dict):
        keys: Sequence[str] = sorted(value, key=lambda key: key.encode("utf-16-be"))
        yield b"{", None, None
        for number, key in enumerate(keys):
            mark = b"," if number else b""
            yield mark + records_of.canonical(key) + b":", None, None
            yield from _pieces(value[key], (*path, key))
        yield b"}", None, None
    elif isinstance(value, list):
        yield b"[", None, None
        for number, item in enumerate(value):
            if number:
                yield b",", None, None
            yield from _pieces(item, (*path, number))
        yield b"]", None, None
    else:
        is_plain = value is None or isinstance(value, bool)
        yield records_of.canonical(value), None if is_plain else path, value
