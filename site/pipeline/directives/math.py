"""`:::{math}`: a formula on a line of its own, numbered when it has a label."""

from __future__ import annotations

from pipeline.directives.base import Call, Directive, Rules
from pipeline.page import Page


def register(rules: Rules) -> None:
    """Add the directive."""
    parents = ("", "answer", "exercise", "note", "pitfall", "check")
    rules.directive("math", Directive(build, options=("label",), is_raw=True, parents=parents))


def build(page: Page, call: Call, _: str) -> str:
    """The formula's hole; the body is TeX."""
    if not call.body.strip():
        page.error(call.line, "empty formula", "math", "it holds TeX", "write it")
        return ""
    label = call.options.get("label", "")
    first = call.line + 1 + len(call.options)
    return page.formula(call.body, True, first, label)
