"""What is looked at before a site is written, in order. A check takes the site, gives findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.checks import content, parity, recompute, site, styles, templates, usage
from pipeline.errors import Finding
from pipeline.model import Rendered

Check = Callable[[Rendered], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    content.outlines,
    content.typed_numbers,
    content.constants,
    content.figures,
    parity.pages,
    parity.translations,
    usage.calculators,
    usage.records,
    usage.experiments,
    recompute.tasks,
    templates.names,
    styles.properties,
    site.pages,
    site.assets,
    site.budgets,
)
