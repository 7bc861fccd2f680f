"""How a number looks to a reader: the same text in the built page, the live page and a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MINUS = "\N{MINUS SIGN}"
UNDEFINED = "\N{EM DASH}"
FIGURE_SPACE = "\N{FIGURE SPACE}"
PUNCTUATION_SPACE = "\N{PUNCTUATION SPACE}"
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DIGITS = 6
LARGEST_WHOLE = 1e10  # whole reals below it are written out, larger ones as powers of ten


def format_number(value: Any, digits: int = DIGITS) -> str:
    """`value` to `digits` significant digits; lists in brackets; None is an em dash."""
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "[" + ", ".join(format_number(item, digits) for item in value) + "]"
    if isinstance(value, int):
        return _format_whole(value)
    return _format_real(float(value), digits)


def _format_whole(value: int) -> str:
    """Groups of three from five digits on: 1024, 19 073."""
    grouped = f"{value:,}" if abs(value) >= 10_000 else str(value)
    return grouped.replace(",", "\N{NARROW NO-BREAK SPACE}").replace("-", MINUS)


def _format_real(value: float, digits: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return _format_whole(int(value))
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    if exponent:
        power = str(int(exponent)).translate(SUPERSCRIPTS)
        return f"{mantissa.replace('-', MINUS)}×10{power}"
    return mantissa.replace("-", MINUS)


def align_decimals(texts: Sequence[str]) -> list[str]:
    """Pad the fractions of a column with figure spaces, so that right-aligned points line up."""
    if any("×" in text for text in texts):
        return list(texts)
    fractions = [len(text.partition(".")[2]) for text in texts]
    longest = max(fractions, default=0)
    padding = [
        (PUNCTUATION_SPACE if longest and not length else "") + FIGURE_SPACE * (longest - length)
        for length in fractions
    ]
    return [text + pad for text, pad in zip(texts, padding, strict=True)]
