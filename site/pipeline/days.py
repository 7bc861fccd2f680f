"""Days of the calendar, as texts and tables give them: YYYY-MM-DD."""

from __future__ import annotations

import re
from datetime import date

LIKE_A_DAY = re.compile(r"(?<![\w./-])(?:19|20)\d\d-\d\d-\d\d(?![\w/-])")
FORM = "2026-11-29"


def is_day(text: str) -> bool:
    """Whether a text is a day that there is."""
    try:
        return len(text) == len(FORM) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def impossible(text: str) -> list[str]:
    """What looks like a day in a text and is none."""
    return [found for found in LIKE_A_DAY.findall(text) if not is_day(found)]
