"""The words of the calculators: modules hold keys, `strings/<language>.toml` the sentences."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from calculators.numbers import format_number

# What an empty box sends is Python's word for nothing, which is no word of a reader's.
EMPTY = "None"
FOLDER = Path(__file__).parent / "strings"


class MissingTextError(KeyError):
    """A key that a language's strings lack."""


@cache
def strings(language: str) -> Mapping[str, Any]:
    """All strings of a language; the page ships them as JSON, which parses faster than TOML."""
    shipped = FOLDER / f"{language}.json"
    if shipped.exists():
        loaded: Mapping[str, Any] = json.loads(shipped.read_text("utf-8"))
        return loaded
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


def languages() -> list[str]:
    """The languages that have strings."""
    return sorted({path.stem for path in FOLDER.iterdir() if path.suffix in (".toml", ".json")})


def lookup(language: str, *keys: str) -> str:
    """The string under `keys`, e.g. lookup('en', 'infonce', 'verdicts', 'same')."""
    found: Any = strings(language)
    for key in keys:
        if not isinstance(found, Mapping) or key not in found:
            raise MissingTextError(f"strings/{language}.toml lacks {'.'.join(keys)}")
        found = found[key]
    if not isinstance(found, str):
        raise MissingTextError(f"strings/{language}.toml has no text at {'.'.join(keys)}")
    return found


class _NumberFormatter(Formatter):
    """`{x}` becomes the reader's form of x; a number after the colon is its significant digits."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return format_number(value, int(format_spec)) if format_spec else format_number(value)


def fill(template: str, params: Mapping[str, Any]) -> str:
    """`template` with its `{names}` replaced by formatted numbers."""
    return _NumberFormatter().vformat(template, (), params)


def sentence(language: str, name: str, kind: str, key: str, params: Mapping[str, Any]) -> str:
    """A filled sentence of calculator `name`, or the one all calculators share under `common`."""
    if params.get("came") == EMPTY:
        params = {**params, "came": lookup(language, "common", "words", "empty")}
    own = strings(language).get(name, {}).get(kind, {})
    owner = name if key in own else "common"
    return fill(lookup(language, owner, kind, key), params)
