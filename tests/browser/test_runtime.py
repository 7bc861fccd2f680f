"""The repacked runtime in a real browser: it starts, numpy works, every calculator answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from pipeline import vendor

# What `transformer_ledger` reads.
RECORDS = [
    "language_model.gloo.safetensors",
    "language_model.gloo.json",
    "transformer_update.gloo.json",
]
PAGE = "<!doctype html><script type=module src=page.js></script>"
SCRIPT = """
const worker = new Worker("worker.js", { type: "module" });
worker.onmessage = ({ data }) => { document.title = JSON.stringify(data); };
worker.onerror = (event) => { document.title = JSON.stringify({ error: String(event.message) }); };
"""
WORKER = """
import { loadPyodide } from "./runtime/pyodide.mjs";
try {
  const [wheel, files, lock] = await Promise.all([
    fetch("runtime/%s").then((answer) => answer.arrayBuffer()),
    fetch("calculators.json").then((answer) => answer.json()),
    fetch("lock.json").then((answer) => answer.text()),
  ]);
  const python = await loadPyodide({ indexURL: "./runtime/", lockFileContents: lock });
  python.unpackArchive(wheel, "wheel");
  const home = "/home/pyodide/";
  python.FS.mkdirTree(home + "calculators/strings");
  for (const [path, text] of Object.entries(files)) python.FS.writeFile(home + path, text);
  const records = home + "experiments/records/";
  python.FS.mkdirTree(records);
  for (const name of %s) {
    const data = await fetch("records/" + name).then((answer) => answer.arrayBuffer());
    python.FS.writeFile(records + name, new Uint8Array(data));
  }
  postMessage(JSON.parse(python.runPython(files["check.py"])));
} catch (error) {
  postMessage({ error: String(error) });
}
"""
CHECK = """
import json
import sys
import numpy as np
from calculators import contract, page

answers = {
    name: json.loads(page.respond(json.dumps({"calculator": name, "language": "en"})))["ok"]
    for name in contract.names()
}
solved = np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 1.0])).tolist()
with np.errstate(all="ignore"):
    median = str(np.median(np.array([1.0, np.nan])))
json.dumps({"numpy": np.__version__, "solved": solved, "median": median, "answers": answers,
            "python": sys.version_info[:2]})
"""


class Handler(SimpleHTTPRequestHandler):
    """Files with the types that module scripts and WebAssembly need; nothing is logged."""

    extensions_map = {  # noqa: RUF012 - as the class it comes from declares it
        **SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript",
        ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json",
    }  # fmt: skip

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The runtime and a worker that runs CHECK, served on this machine."""
    yield from served(tmp_path, CHECK, {})


def served(tmp_path: Path, check: str, besides: dict[str, str]) -> Iterator[str]:
    """A folder with the real runtime, the calculators, files `besides` them, and a worker that
    runs the Python text `check` and tells the JSON that it ends with.
    """
    made = vendor.runtime(vendor.ROOT / ".cache")
    (tmp_path / "runtime").symlink_to(made.folder)
    (tmp_path / "records").symlink_to(vendor.ROOT / "experiments" / "records")
    info = {"abi_version": "2025_0", "arch": "wasm32", "platform": "emscripten_4_0_9",
            "python": "3.13.2", "version": "0.29.0"}  # fmt: skip
    (tmp_path / "lock.json").write_text(json.dumps({"info": info, "packages": {}}), "utf-8")
    folder = vendor.ROOT / "calculators"
    paths = [*folder.glob("*.py"), *folder.glob("strings/*.toml")]
    files = {str(path.relative_to(vendor.ROOT)): path.read_text("utf-8") for path in paths}
    (tmp_path / "calculators.json").write_text(
        json.dumps({**files, **besides, "check.py": check}), "utf-8"
    )
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "page.js").write_text(SCRIPT, "utf-8")
    (tmp_path / "worker.js").write_text(WORKER % (made.wheel, json.dumps(RECORDS)), "utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_repacked_runtime_runs_every_calculator_in_a_browser(
    address: str, browser: Browser
) -> None:
    page = browser.new_page()
    page.goto(address)
    page.wait_for_function("document.title.startsWith('{')", timeout=120_000)
    answer = json.loads(page.title())
    page.close()
    assert answer.get("error") is None
    assert answer["numpy"] == "2.2.5"
    assert answer["python"] == [3, 13]
    assert answer["solved"] == [0.5, 0.25]
    assert answer["median"] == "nan"
    assert answer["answers"]
    assert [name for name, is_ok in answer["answers"].items() if not is_ok] == []


def test_the_runtime_keeps_its_budget() -> None:
    assert vendor.runtime(vendor.ROOT / ".cache").brotli_size <= 6_000_000
