"""What a directive is, and the options every directive reads in the same way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.page import Page

MAX_OPTION = 20_000


@dataclass(frozen=True)
class Call:
    """A directive as it stands on the page: `body` is raw text, `parent` the one around it."""

    name: str
    argument: str
    options: Mapping[str, str]
    body: str
    line: int
    parent: str = ""


Build = Callable[[Page, Call, str], str]


@dataclass(frozen=True)
class Directive:
    """The rule of a directive: `build` takes the page, the call and the body as HTML."""

    build: Build
    argument: str = ""
    options: tuple[str, ...] = ()
    is_raw: bool = False
    parents: tuple[str, ...] | None = None


@dataclass
class Rules:
    """The directives by name; each module registers its own."""

    by_name: dict[str, Directive] = field(default_factory=dict)

    def directive(self, name: str, rule: Directive) -> None:
        """Register `rule` under `name`, once."""
        assert name not in self.by_name, name
        self.by_name[name] = rule


def words(text: str) -> tuple[str, ...]:
    """The names in a list separated by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def json_object(page: Page, call: Call, option: str) -> str:
    """An option that is a JSON object, as canonical JSON; '{}' when absent or wrong."""
    text = call.options.get(option, "{}")
    try:
        value: Any = json.loads(text[:MAX_OPTION], parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        page.error(
            call.line,
            f"option {option} is not a JSON object",
            text,
            'it is written {"field": value}, without NaN',
            "correct it",
        )
        return "{}"
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _refuse(name: str) -> None:
    raise ValueError(name)
