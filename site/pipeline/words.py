"""The interface's words in one language, as templates ask for them: t("nav.next")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.code import PROJECT
from pipeline.errors import BuildError, Finding
from pipeline.toml_lines import Lines


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
            rule = "templates ask for it"
            at = Lines.of(PROJECT / file).line(*key.split(".")[:-1])
            raise BuildError(Finding(file, at, "interface text missing", key, rule, "add it"))
        return found
