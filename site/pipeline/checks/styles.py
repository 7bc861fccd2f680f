"""Checks of the stylesheets: browsers pass over a property or a rule that they do not know.

Properties are those that TypeScript's description of the browsers lists, which is installed for
the scripts anyway and follows the standards; what it does not list yet stands below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.code import PROJECT
from pipeline.errors import Finding, suggest
from pipeline.faults import line_text, relative
from pipeline.model import Rendered

FOLDERS = ("site/styles", "site/templates")
LIST = "node_modules/@typescript/*/lib/lib.dom.d.ts"
START = "interface CSSStyleProperties "
NEWER = frozenset(("text-size-adjust", "hanging-punctuation", "text-spacing-trim"))
DESCRIPTORS = frozenset(
    "src font-display unicode-range size-adjust ascent-override descent-override "
    "line-gap-override syntax inherits initial-value size marks bleed system negative prefix "
    "suffix range pad fallback symbols additive-symbols speak-as navigation types".split()
)
RULES = (
    "charset", "color-profile", "container", "counter-style", "font-face",
    "font-feature-values", "font-palette-values", "import", "keyframes", "layer", "media",
    "namespace", "page", "position-try", "property", "scope", "starting-style", "supports",
    "view-transition",
)  # fmt: skip
_VENDOR = re.compile(r"-(?:webkit|moz|ms|o)-")
_ASIDE = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|url\([^)"']*\)""", re.DOTALL
)
_MEMBER = re.compile(r"^    (?:readonly )?(\w+): string;", re.MULTILINE)
_PROPERTY = re.compile(r"(?<=[{;}])\s*([A-Za-z-]+)\s*:(?=[^;{}]*[;}])")
_RULE = re.compile(r"@([\w-]+)")


def properties(rendered: Rendered) -> Iterator[Finding]:
    """Every property and every rule is one that browsers know; only where all is looked at."""
    if rendered.resolved.parsed.book.options.is_check:
        yield from unknown(PROJECT)


def unknown(root: Path) -> Iterator[Finding]:
    """What the stylesheets of `root` name that browsers do not know."""
    known = known_properties(PROJECT)
    if not known:
        rule = f"no property is listed in {LIST}"
        yield Finding("package.json", 1, "list of CSS properties", "", rule, "run `npm ci`")
        return
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.css")):
            text = path.read_text("utf-8", errors="replace")
            yield from _unknown(relative(path, root), text, known)


def known_properties(root: Path) -> frozenset[str]:
    """All names of properties; none where the list is not installed."""
    for path in sorted(root.glob(LIST)):
        _, _, rest = path.read_text("utf-8").partition(START)
        names = _MEMBER.findall(rest.partition("\n}")[0])
        if names:
            spelled = {re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", n) for n in names}
            spelled |= {name.removeprefix("css-") for name in spelled}
            return frozenset(spelled | NEWER | DESCRIPTORS)
    return frozenset()


def _unknown(file: str, text: str, known: frozenset[str]) -> Iterator[Finding]:
    bare = _ASIDE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for pattern, what, names, rule in (
        (_PROPERTY, "unknown CSS property", known, "browsers pass over what they do not know"),
        (_RULE, "unknown CSS rule", frozenset(RULES), "browsers pass over what they do not know"),
    ):
        for found in pattern.finditer(bare):
            name = found[1]
            plain = _VENDOR.sub("", name)
            if name.startswith("--") or plain in names:
                continue
            if plain != name and f"webkit-{plain}" in names:
                continue
            line = bare.count("\n", 0, found.start(1)) + 1
            action = suggest(plain, sorted(names), otherwise="correct or remove it")
            shown = f"{rule}: {line_text(text, line)}"
            yield Finding(file, line, what, name, shown, action)
