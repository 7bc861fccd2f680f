"""Where things stand in a TOML file: tomllib gives values without their lines.

A file is looked through only when something in it is wrong, so a sound one costs nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

Keys = tuple[str | int, ...]
_TOKEN = re.compile(
    r"""\#[^\n]*|\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
    r"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>\n)|[^\[\]{}"'\#\n]+|.""",
    re.DOTALL,
)
_STEP = re.compile(r"""\s*(?:"([^"\n]*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))\s*(\.|=|\]|$)""")
_HEADER = re.compile(r"\s*(\[{1,2})")


class Lines:
    """The statements of a file by path: `("term", 2, "definition", "en")` is in the third term."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Keys, tuple[int, int]] = {}
        self.last = 0
        prefix: Keys = ()
        counts: dict[str, int] = {}
        for start, end in self._statements():
            header = _HEADER.match(text, start, end)
            keys = _keys(text, header.end() if header else start, end)
            if not keys:
                continue
            self.last = start
            if header:
                prefix, keys = _prefix(keys, header.group(1) == "[[", counts), ()
            for length in range(len(keys) + 1):
                self.spans.setdefault((*prefix, *keys[:length]), (start, end))

    @classmethod
    def of(cls, file: Path) -> Lines:
        """Those of a file; of one that cannot be read, which is told elsewhere, none."""
        try:
            return cls(file.read_text("utf-8", errors="replace"))
        except OSError:
            return cls("")

    def _statements(self) -> list[tuple[int, int]]:
        """From where to where each statement goes: to a line's end outside of all brackets."""
        found = []
        start = depth = 0
        for token in _TOKEN.finditer(self.text):
            if token["open"]:
                depth += 1
            elif token["close"]:
                depth -= 1
            elif token["end"] and depth <= 0:
                found.append((start, token.start()))
                start, depth = token.end(), 0
        return [*found, (start, len(self.text))]

    def line(self, *path: str | int) -> int:
        """The line of a path, or of as much of it as there is; 1 for a file without any."""
        while path and path not in self.spans:
            path = path[:-1]
        return self._line(self.spans[path][0]) if path else 1

    def within(self, path: Keys, value: str) -> int:
        """The line of the string `value` in the statement at `path`, else that statement's."""
        start, end = self.spans.get(path, (0, 0))
        at = self.text.find(f'"{value}"', start, end)
        return self._line(at) if at >= 0 else self.line(*path)

    def last_line(self) -> int:
        """The line where the last statement begins: an unclosed one goes to the file's end."""
        return self._line(self.last)

    def _line(self, position: int) -> int:
        while self.text[position : position + 1].isspace():
            position += 1
        return self.text.count("\n", 0, position) + 1


def _keys(text: str, start: int, end: int) -> tuple[str, ...]:
    """The dotted key that a statement begins with; nothing where it is none."""
    keys = []
    while found := _STEP.match(text, start, end):
        keys.append(found[1] or found[2] or found[3] or "")
        start = found.end()
        if found[4] != ".":
            return tuple(keys)
    return ()


def _prefix(keys: tuple[str, ...], is_entry: bool, counts: dict[str, int]) -> Keys:
    """The path of what follows a header: entries of one name are counted from 0."""
    first, *rest = keys
    if is_entry and not rest:
        counts[first] = counts.get(first, -1) + 1
    return (first, counts[first], *rest) if first in counts else keys
