"""The head of a page: YAML between two lines of dashes, every value a string or a list of them.

Values are taken as typed (`follows: 12e4` is the text '12e4', not a number), so the YAML is read
as nodes; aliases and tags do not exist here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from pipeline.errors import suggest

KNOWN = ("title", "question", "checks", "mistake", "mistake_label", "constants", "follows")
LISTS = ("checks", "constants")
LIST_RULE = "this field is a list"
MAX_LENGTH = 20_000
_FENCED = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_END = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Head:
    """Front matter: values by key, the line of each, and the body padded to keep its lines.

    `wrong` is what is wrong with single fields: line, what, value, rule, what to do.
    """

    values: dict[str, str]
    lists: dict[str, tuple[str, ...]]
    lines: dict[str, int]
    body: str
    wrong: list[tuple[int, str, str, str, str]] = field(default_factory=list)


class HeadError(Exception):
    """Front matter that cannot be read: line, what, value, rule, what to do."""

    def __init__(self, line: int, what: str, value: str, rule: str, action: str) -> None:
        super().__init__(what)
        self.parts = (line, what, value, rule, action)


def body_of(text: str) -> str:
    """What follows a head, whatever it says: other pages refer to it. Padded to keep its lines."""
    found = _END.search(text, 3)
    return "\n" * text.count("\n", 0, found.end()) + text[found.end() :] if found else ""


def split(text: str) -> Head:
    """The head and the body of a page. Raises `HeadError` where the head cannot be read."""
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
    """Keep one field, or what is wrong with it."""
    name = str(key.value)
    line = key.start_mark.line + 2
    is_list = isinstance(value, yaml.SequenceNode)
    items = value.value if is_list else []
    if name not in KNOWN:
        rule = f"the fields are {', '.join(KNOWN)}"
        head.wrong.append((line, "unknown field", name, rule, suggest(name, KNOWN, "fields")))
        return
    if name in head.lines:
        rule = f"a field is given once, and line {head.lines[name]} gives it"
        head.wrong.append((line, "field given twice", name, rule, "remove one of the two"))
        return
    head.lines[name] = line
    if name in LISTS and is_list and all(isinstance(item, yaml.ScalarNode) for item in items):
        head.lists[name] = tuple(str(item.value) for item in items)
    elif name not in LISTS and isinstance(value, yaml.ScalarNode):
        head.values[name] = str(value.value).strip()
    elif name in LISTS:
        action = f'write {name}: ["…", "…"]'
        head.wrong.append((line, "field is not a list of texts", name, LIST_RULE, action))
    else:
        rule, action = "this field is one text", f"write {name}: …"
        head.wrong.append((line, "field is not a text", name, rule, action))
