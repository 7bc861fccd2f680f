"""The interface's words in one language, as templates ask for them: t("nav.next")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import BuildError, Finding


class Words:
    """`words("a.b")` is the text at that key; a missing one stops the build by name."""

    def __init__(self, language: str, strings: Mapping[str, Any]) -> None:
        self.language, self.strings = language, strings

    def __call__(self, key: str) -> str:
        found: Any = self.strings
        for step in key.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
        if not isinstance(found, str):
            file = f"site/strings/{self.language}.toml"
            raise BuildError(
                Finding(file, 1, "interface text missing", key, "templates ask for it", "add it")
            )
        return found
