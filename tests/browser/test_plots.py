"""Plots in a real browser: the bytes that the build drew, readable on a phone, drawn in time."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from pipeline.plots import ROOT, draw_all
from tests.plot_examples import EXAMPLES, STEPS


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return draw_all(EXAMPLES, tmp_path_factory.mktemp("plots"))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    """plot.js as a page gets it."""
    out = tmp_path_factory.mktemp("bundle") / "plot.js"
    command = [
        str(ROOT / "node_modules/.bin/esbuild"), str(ROOT / "site/scripts/plot.js"), "--bundle",
        "--minify",
        "--format=iife", "--global-name=plots", f"--outfile={out}", "--log-level=error",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return out.read_text("utf-8")


@pytest.fixture(params=[1, 2], ids=["density 1", "density 2"])
def page(browser: Browser, bundle: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(device_scale_factor=request.param)
    fresh = context.new_page()
    fresh.set_content("<!doctype html><html><body><div id=canvas></div></body></html>")
    fresh.evaluate(bundle + ";window.plots = plots")
    yield fresh
    context.close()


def test_the_page_draws_what_the_build_drew(page: Page, drawn: list[str]) -> None:
    live = page.evaluate("specs => specs.map((spec) => plots.plotMarkup(spec, document))", EXAMPLES)
    assert live == drawn


def test_the_browser_reads_and_writes_the_markup_unchanged(page: Page, drawn: list[str]) -> None:
    script = "html => { canvas.innerHTML = html; return canvas.innerHTML; }"
    for html in drawn[:1] + drawn[2:]:
        assert page.evaluate(script, html) == html


def test_nothing_leaves_a_phone_and_its_numbers_can_be_read(page: Page, drawn: list[str]) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    sheet = (
        "#canvas { width: 328px } .plot-svg { display: block; width: 100%; font: 13px sans-serif }"
    )
    page.evaluate("css => { document.head.append(Object.assign(document.createElement('style'), "
                  "{ textContent: css })) }", sheet)  # fmt: skip
    for html in drawn:
        measured = page.evaluate(
            """html => {
              canvas.innerHTML = html;
              const { left, right } = canvas.getBoundingClientRect();
              return [...canvas.querySelectorAll('svg text')].map((text) => {
                const box = text.getBoundingClientRect();
                return [box.left >= left - 1 && box.right <= right + 1, box.height];
              });
            }""",
            html,
        )
        assert all(inside for inside, _ in measured)
        assert all(height > 9 for _, height in measured)


def test_a_long_run_is_redrawn_within_a_frame(page: Page) -> None:
    """The best of fifteen: what the work takes, whatever else the machine is doing."""
    times = page.evaluate(
        """count => {
          const points = Array.from({ length: count }, (_, k) => [k, Math.sin(k / 999)]);
          const spec = { marks: [{ type: "line", role: "correct", points }] };
          const draw = () => { canvas.innerHTML = plots.plotMarkup(spec, document); };
          for (let warm = 0; warm < 8; warm += 1) draw();
          return Array.from({ length: 15 }, () => {
            const start = performance.now();
            draw();
            return performance.now() - start;
          });
        }""",
        STEPS,
    )
    assert min(times) < 16.7
