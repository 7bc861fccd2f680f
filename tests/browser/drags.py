"""A slider's way to the page, and the same way without the page around it, measured in one run.

Both start when the slider moves and end when the new result is laid out, which is what the next
frame paints; the frame itself comes when the screen is ready for one, for both alike. The bare way
is what a page must do at the very least: a worker with Pyodide as it is released gets the same
request, runs the same `respond`, and sends its answer back, whose HTML takes the place of the old
one by `innerHTML`, in a page without styles. Their ratio is what the controls, the address, the
check that nothing newer is asked for, and the care for focus and scroll positions cost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser.server import Host
from tests.browser.support import CHAPTER, DESK, START, open_live

ROOT = Path(__file__).resolve().parents[2]
MOVES = 120
# Before this many moves code is not compiled and caches are cold, on both ways.
WARM = 40
ROUNDS = 3
FOLDER = "runtime/bare/"

# Pyodide and numpy as released, loaded as their documentation says; WHEEL is numpy's file.
LOAD = """
const { loadPyodide } = await import("./bare/pyodide.mjs");
const lockFileContents = JSON.stringify({
  info: { abi_version: "2025_0", arch: "wasm32", platform: "emscripten_4_0_9", python: "3.13.2",
    version: "0.29.0" },
  packages: {},
});
const python = await loadPyodide({
  indexURL: new URL("./bare/", import.meta.url).href,
  lockFileContents,
});
await python.loadPackage(new URL("./bare/WHEEL", import.meta.url).href);
"""
WORKER = (
    LOAD
    + """
const { files } = await (await fetch("BUNDLE")).json();
python.FS.mkdirTree("/home/pyodide/calculators/strings");
for (const [path, text] of Object.entries(files)) {
  python.FS.writeFile("/home/pyodide/" + path, text);
}
const { respond } = python.pyimport("calculators.page");
addEventListener("message", ({ data }) => postMessage(respond(data)));
postMessage("ready");
"""
)
PAGE = (
    b"<!doctype html><meta charset=utf-8><title>bare</title><link rel=icon href=data:,><div></div>"
)
# The value of the slider at its i-th move: each is new, or nothing would change.
VALUE = "(-5 + i / 20).toFixed(2)"
BARE = """async ([request, moves]) => {
  const worker = new Worker("runtime/bare-respond.js", { type: "module" });
  const answer = () => new Promise((resolve) => { worker.onmessage = resolve; });
  const region = document.querySelector("div");
  await answer();
  const times = [];
  for (let i = 0; i < moves; i += 1) {
    await new Promise(requestAnimationFrame);
    const started = performance.now();
    request.inputs.theta = Number(VALUE);
    const answered = answer();
    worker.postMessage(JSON.stringify(request));
    region.innerHTML = JSON.parse((await answered).data).html;
    region.getBoundingClientRect();
    times.push(performance.now() - started);
  }
  worker.terminate();
  return times;
}""".replace("VALUE", VALUE)
DRAG = """async ([id, moves]) => {
  const calculator = document.getElementById(id);
  const slider = calculator.querySelector("[name=theta][data-part=slider]");
  slider.step = "any";
  const shown = () => new Promise((resolve) => {
    const watch = new MutationObserver(() => {
      if (calculator.hasAttribute("data-stale")) return;
      watch.disconnect();
      resolve();
    });
    watch.observe(calculator, { attributes: true, attributeFilter: ["data-stale"] });
  });
  const times = [];
  for (let i = 0; i < moves; i += 1) {
    await new Promise(requestAnimationFrame);
    const started = performance.now();
    slider.value = VALUE;
    const answered = shown();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await answered;
    calculator.getBoundingClientRect();
    times.push(performance.now() - started);
  }
  return times;
}""".replace("VALUE", VALUE)
REQUEST = """(id) => {
  const spec = document.getElementById(id).querySelector("[data-spec]").textContent;
  const { name, inputs, language, show, hide, plot } = JSON.parse(spec);
  return { calculator: name, inputs, language, show, hide, plot };
}"""


@dataclass(frozen=True)
class Times:
    """Milliseconds of one way, the fastest of several rounds."""

    median: float
    p95: float


def serve_bare(host: Host) -> str:
    """Pyodide's own files as they are released, beside the site. The wheel's name."""
    wheel = next((ROOT / ".cache" / "vendor").glob("numpy-*.whl"))
    names = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
    files = [*(ROOT / "node_modules" / "pyodide" / name for name in names), wheel]
    host.besides |= {f"{FOLDER}{file.name}": file.read_bytes() for file in files}
    return wheel.name


def _serve_respond(host: Host) -> None:
    manifest = json.loads(next((host.folder / "runtime").glob("manifest-*.json")).read_text())
    worker = WORKER.replace("WHEEL", serve_bare(host))
    worker = worker.replace("BUNDLE", manifest["bundles"]["en"]["path"])
    host.besides |= {"bare.html": PAGE, "runtime/bare-respond.js": worker.encode()}


def _times(taken: list[float]) -> Times:
    settled = sorted(taken[WARM:])
    return Times(settled[len(settled) // 2], settled[int(0.95 * len(settled))])


def measure(browser: Browser, host: Host) -> tuple[Times, Times]:
    """The page's way and the bare one, in turns, so that both meet the same machine."""
    _serve_respond(host)
    # What is kept for offline reading is fetched once, and is no part of a slider's way.
    context = browser.new_context(service_workers="block", viewport=DESK)
    page, bare = context.new_page(), context.new_page()
    page.set_default_timeout(START)
    ledger = open_live(page, host.url + CHAPTER)
    request: dict[str, Any] = page.evaluate(REQUEST, ledger.id)
    bare.goto(f"{host.url}bare.html")
    own: list[Times] = []
    least: list[Times] = []
    for _ in range(ROUNDS):
        own.append(_dragged(page, DRAG, [ledger.id, MOVES]))
        least.append(_dragged(bare, BARE, [request, MOVES]))
    context.close()
    return min(own, key=lambda times: times.p95), min(least, key=lambda times: times.p95)


def _dragged(page: Page, script: str, arguments: list[Any]) -> Times:
    page.bring_to_front()
    return _times(page.evaluate(script, arguments))
