"""What Python says in the page is what it says in CPython, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from calculators import contract
from calculators.page import answer
from pipeline.node import NodeProgram
from pipeline.plots import PROGRAM, draw_with
from tests.browser import links
from tests.browser.examples import COUNT, examples
from tests.browser.server import Host
from tests.browser.support import Calculator, places

NUMERIC = re.compile(r"[\d\s.,−×⁻⁰¹²³⁴-⁹-]+")
# Matrix products of a whole model: their last digits are the library's, not the calculator's.
ROUNDED = frozenset({"transformer_ledger"})
# An evaluation of a whole model takes a second, here and there.
FEWER = dict.fromkeys(ROUNDED, 6)
EMPTY_CANVAS = re.compile(r'(data-plot="([^"]+)"><div class="plot-canvas"[^>]*>)(</div>)')


@pytest.fixture(scope="module")
def plotter() -> Iterator[NodeProgram]:
    """The build's drawer of plots, started once."""
    with NodeProgram(PROGRAM) as started:
        yield started


def spec_of(calculator: Calculator) -> dict[str, Any]:
    text = calculator.root.locator("[data-spec]").text_content() or ""
    spec: dict[str, Any] = json.loads(text)
    return spec


def expected(spec: dict[str, Any], inputs: dict[str, Any], plotter: NodeProgram) -> dict[str, Any]:
    """The answer of CPython to what the page asks, with its plots drawn by the build's Node."""
    request = {"calculator": spec["name"], "inputs": {**spec["inputs"], **inputs}}
    told = answer({**request, **{key: spec[key] for key in ("language", "show", "hide", "plot")}})
    if told["ok"]:
        specs = list(told["plots"].values())
        svgs = draw_with(plotter, specs, range(len(specs))) if specs else []
        drawn = dict(zip(told["plots"], svgs, strict=True))
        told["html"] = EMPTY_CANVAS.sub(
            lambda found: f"{found[1]}{drawn[found[2]]}{found[3]}", told["html"]
        )
    return told


def assert_same_to_rounding(shown: str, told: str) -> None:
    """The same words, tables and roles; numbers equal as far as two BLAS libraries agree."""
    figure = re.compile(r'<figure class="calc-plot".*?</figure>', re.DOTALL)
    left, right = (figure.sub("", html) for html in (shown, told))
    skeletons = [NUMERIC.sub("", re.sub(r'<data value="[^"]*">', "", h)) for h in (left, right)]
    assert skeletons[0] == skeletons[1]
    values = [
        [float(value) for value in re.findall(r'<data value="([^" ]*)">', html)]
        for html in (left, right)
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-7, atol=1e-5)


def as_browser_writes(page: Page, html: str) -> str:
    """The same HTML as a browser serialises it (entities, attribute quotes)."""
    text: str = page.evaluate(
        "html => { const t = document.createElement('template');"
        " t.innerHTML = html; return t.innerHTML }",
        html,
    )
    return text


@pytest.mark.parametrize("name", contract.names())
def test_page_and_cpython_agree(
    name: str, page: Page, host: Host, built: Path, plotter: NodeProgram
) -> None:
    assert name in places(built), f"no page has the calculator {name}"
    page.goto(host.url + places(built)[name])
    calculator = Calculator(page, name)
    spec = spec_of(calculator)
    calculator.wait()
    start = as_browser_writes(page, expected(spec, {}, plotter)["html"])
    assert calculator.result.inner_html() == start
    for inputs in examples(name, FEWER.get(name, COUNT)):
        told = expected(spec, inputs, plotter)
        calculator.set_address(links.state(name, inputs))
        if told["ok"]:
            assert calculator.message.is_hidden(), (inputs, calculator.message.inner_text())
            html = as_browser_writes(page, told["html"])
            if name in ROUNDED:
                assert_same_to_rounding(calculator.result.inner_html(), html)
            else:
                assert calculator.result.inner_html() == html, inputs
        else:
            assert told["message"] in calculator.message.inner_text(), inputs


def test_agreement_is_not_vacuous(
    page: Page, host: Host, built: Path, plotter: NodeProgram
) -> None:
    """Different inputs give different HTML: the comparison above sees a change."""
    name = "two_replica_ledger"
    page.goto(host.url + places(built)[name])
    spec = spec_of(Calculator(page, name))
    shown = {expected(spec, inputs, plotter)["html"] for inputs in examples(name)}
    assert len(shown) > 10
