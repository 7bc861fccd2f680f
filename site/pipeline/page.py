"""What one page gathers while it is parsed: holes, anchors, links, numbers, findings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipeline.errors import Finding
from pipeline.holes import FormulaHole, Hole
from pipeline.model import Heading
from pipeline.tex import Formula

MARK = re.compile("\x00(\\d+)\x00")
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")
_VERSION = r"(?<!arXiv:)(?<!arXiv: )(?<![Tt]orch )(?<!Python )(?<!NumPy )(?<!CUDA )(?<!ersion )"
_DECIMAL = re.compile(
    _VERSION + r"(?<![\w.])\d+(?:[,\u202f]\d{3})*\.\d+(?:[eE][+-]?\d+)?(?!\w|\.\d)", re.ASCII
)
MIN_DIGITS = 3


@dataclass
class Page:
    """The only mutable value of parsing; `parse.document` freezes it."""

    file: str
    slug: str
    language: str
    source_lines: list[str]
    findings: list[Finding] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, int]] = field(default_factory=list)
    decimals: list[tuple[str, int]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    section: str = ""
    answer: str | None = None

    def error(self, line: int, what: str, value: str, rule: str, action: str) -> None:
        """Note one thing that is wrong."""
        self.findings.append(Finding(self.file, line, what, value, rule, action))

    def hole(self, hole: Hole) -> str:
        """Keep a hole and return the mark that stands for it in the HTML."""
        self.holes.append(hole)
        return f"\x00{len(self.holes) - 1}\x00"

    def count(self, kind: str) -> int:
        """The number of the next figure, calculator, exercise or formula, from 1."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return self.counters[kind]

    def anchor(self, name: str, line: int) -> str:
        """Claim an id of the page; a bad or second one is noted."""
        if _ID.fullmatch(name) is None:
            self.error(
                line,
                "id not allowed",
                name,
                "an id is lower-case letters, digits and hyphens, 64 at most, a letter first",
                "rename it",
            )
        elif name in self.anchors:
            self.error(
                line,
                "id used twice",
                name,
                f"line {self.anchors[name]} has it already",
                "rename one of the two",
            )
        self.anchors.setdefault(name, line)
        return name

    def formula(self, tex: str, display: bool, line: int, label: str = "") -> str:
        """A formula's mark. A label gives it a number that other places can refer to."""
        self.note_decimals(tex, line)
        formula = Formula(tex.strip(), display)
        if not display:
            return self.hole(FormulaHole(line, formula))
        if not label:
            anchor = self.anchor(f"formula-{self.count('formula')}", line)
            return self.hole(FormulaHole(line, formula, anchor))
        number = self.count("equation")
        self.labels.setdefault(label, number)
        return self.hole(FormulaHole(line, formula, self.anchor(f"eq-{label}", line), number))

    def note_decimals(self, text: str, line: int) -> None:
        """Keep the typed decimals of `text` that have three or more significant digits."""
        for found in _DECIMAL.finditer(text):
            if significant_digits(found.group()) >= MIN_DIGITS:
                at = line + text.count("\n", 0, found.start())
                self.decimals.append((found.group(), at))


def significant_digits(number: str) -> int:
    """How many significant digits a typed number has: 3 for 0.0125, 4 for 1.250."""
    mantissa = re.split("[eE]", number)[0]
    digits = re.sub(r"\D", "", mantissa)
    return len(digits.lstrip("0"))
