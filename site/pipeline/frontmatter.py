"""The head of a page: YAML between two lines of dashes, every value a string or a list of them.

Values are taken as typed (`follows: 12e4` is the text '12e4', not a number), so the YAML is read
as nodes; aliases and tags do not exist here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

KNOWN = ("title", "question", "checks", "mistake", "mistake_label", "constants", "follows")
LISTS = ("checks", "constants")
MAX_LENGTH = 20_000
_FENCED = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Head:
    """Front matter: values by key, the line of each, and the body padded to keep its lines."""

    values: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    lines: dict[str, int]
    body: str


class HeadError(Exception):
    """Front matter that cannot be read: line, what, value, rule, what to do."""

    def __init__(self, line: int, what: str, value: str, rule: str, action: str) -> None:
        super().__init__(what)
        self.parts = (line, what, value, rule, action)


def split(text: str) -> Head:
    """The head and the body of a page. Raises `HeadError` at the first thing that is wrong."""
    found = _FENCED.match(text)
    if found is None:
        first = text.split("\n", 1)[0]
        raise HeadError(
            1,
            "missing front matter",
            first,
            "a page begins with a line '---', its fields and another '---'",
            "add title and question there",
        )
    source = found.group(1) or ""
    if len(source) > MAX_LENGTH:
        raise HeadError(
            1,
            "front matter too long",
            f"{len(source)} characters",
            f"at most {MAX_LENGTH}",
            "move text into the page",
        )
    head = Head({}, {}, {}, "\n" * found.group(0).count("\n") + text[found.end() :])
    for key, value in _fields(source):
        _take(head, key, value)
    return head


def _fields(source: str) -> list[tuple[yaml.Node, yaml.Node]]:
    try:
        node = yaml.compose(source, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 2
        lines = source.split("\n")
        shown = lines[line - 2] if line - 2 < len(lines) else ""
        problem = getattr(error, "problem", None) or "it is nested too deeply"
        raise HeadError(
            line,
            "front matter is not YAML",
            shown,
            str(problem),
            "put a value that holds ': ', quotes or backticks in quotes",
        ) from None
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        raise HeadError(
            2,
            "front matter is not a list of fields",
            source.strip(),
            "each line is 'key: value'",
            "write title: …",
        )
    return list(node.value)


def _take(head: Head, key: yaml.Node, value: yaml.Node) -> None:
    name = str(key.value)
    line = key.start_mark.line + 2
    if name not in KNOWN:
        raise HeadError(
            line,
            "unknown field",
            name,
            f"the fields are {', '.join(KNOWN)}",
            "correct or remove it",
        )
    if name in head.lines:
        raise HeadError(
            line, "field given twice", name, "a field is given once", "remove one of the two"
        )
    head.lines[name] = line
    if name in LISTS:
        head.lists[name] = _strings(name, value, line)
    elif isinstance(value, yaml.ScalarNode):
        head.values[name] = str(value.value).strip()
    else:
        raise HeadError(
            line, "field is not a text", name, "this field is one text", f"write {name}: …"
        )


def _strings(name: str, value: yaml.Node, line: int) -> tuple[str, ...]:
    items = value.value if isinstance(value, yaml.SequenceNode) else None
    if items is None or not all(isinstance(item, yaml.ScalarNode) for item in items):
        raise HeadError(
            line,
            "field is not a list of texts",
            name,
            "this field is a list",
            f'write {name}: ["…", "…"]',
        )
    return tuple(str(item.value) for item in items)
