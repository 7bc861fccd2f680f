"""What a reader takes away runs and reads elsewhere: scripts, notebooks, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from calculators import contract
from tests.browser import links
from tests.browser.examples import examples
from tests.browser.server import Host
from tests.browser.support import CHAPTER, Calculator, open_live, places

ROOT = Path(__file__).resolve().parents[3]


def script_of(calculator: Calculator) -> str:
    calculator.root.locator("[data-action=python]").click()
    listing = calculator.root.locator(".calc-drawer pre").nth(1)
    listing.wait_for()
    return listing.text_content() or ""


def run_in_checkout(script: str, folder: Path) -> dict[str, Any]:
    """The output of a script that says it needs the project around it."""
    path = folder / "state.py"
    path.write_text(script, "utf-8")
    command = [sys.executable, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)["values"]
    return values


def run(script: str, folder: Path) -> dict[str, Any]:
    """The script's output in an empty folder, by a Python that knows nothing of this project."""
    path = folder / "state.py"
    path.write_text(script, "utf-8")
    command = [sys.executable, "-I", "-W", "error", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


@pytest.mark.parametrize("name", contract.names())
def test_script_of_a_state_runs_by_itself(
    name: str, page: Page, host: Host, built: Path, tmp_path: Path
) -> None:
    inputs = examples(name, 1)[0]
    page.goto(host.url + places(built)[name])
    calculator = Calculator(page, name)
    calculator.set_address(links.state(name, inputs))
    calculator.wait()
    spec = json.loads(calculator.root.locator("[data-spec]").text_content() or "{}")
    expected = contract.evaluate(name, {**spec["inputs"], **inputs})[1].values
    script = script_of(calculator)
    values = (run_in_checkout if "checkout" in script else run)(script, tmp_path)
    assert values == json.loads(json.dumps(expected))
    assert ("checkout" in script) == (name == "transformer_ledger")


def test_panel_shows_the_source_as_it_is(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    script = script_of(ledger)
    source = ledger.root.locator(".calc-drawer pre").first.text_content()
    assert source == contract.get("two_replica_ledger").source
    assert source is not None
    assert source in script


def test_downloads(page: Page, host: Host, tmp_path: Path) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    script = script_of(ledger)
    buttons = ledger.root.locator(".calc-drawer button")
    with page.expect_download() as as_py:
        buttons.filter(has_text=".py").first.click()
    assert as_py.value.suggested_filename == "two_replica_ledger.py"
    assert Path(as_py.value.path()).read_text("utf-8") == script
    with page.expect_download() as as_notebook:
        buttons.filter(has_text=".ipynb").click()
    notebook = json.loads(Path(as_notebook.value.path()).read_text("utf-8"))
    code = "".join(cell_source for cell_source in notebook["cells"][1]["source"])
    assert notebook["nbformat"] == 4
    assert run(code, tmp_path)["correct_gradient"] == pytest.approx(0.4)


def test_data_as_csv_and_json(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.set("counts", 4, "0")
    ledger.root.locator("[data-action=data]").click()
    listings = ledger.root.locator(".calc-drawer pre")
    listings.first.wait_for()
    given = json.loads(listings.first.text_content() or "")
    inputs, result = contract.evaluate("two_replica_ledger", {"counts": [4, 8]})
    assert given["inputs"] == inputs
    assert given["values"] == json.loads(json.dumps(result.values))
    with page.expect_download() as saved:
        ledger.root.locator(".calc-drawer button").filter(has_text="CSV").first.click()
    text = Path(saved.value.path()).read_bytes().decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[1:] == [
        ["" if v is None else str(v) for v in row] for row in plain(given["tables"][0])
    ]


def plain(table: dict[str, Any]) -> list[list[Any]]:
    """Rows with whole floats as JavaScript writes them."""
    return [
        [int(v) if isinstance(v, float) and v == int(v) else v for v in row]
        for row in table["rows"]
    ]


def test_panels_close_again(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    button = ledger.root.locator("[data-action=link]")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    ledger.root.locator("[data-action=data]").click()
    assert ledger.root.locator(".calc-drawer").count() == 1
    assert button.get_attribute("aria-expanded") == "false"
    ledger.root.locator("[data-action=data]").click()
    assert ledger.root.locator(".calc-drawer").count() == 0


def test_an_open_panel_is_about_the_result_shown(page: Page, host: Host) -> None:
    ledger = open_live(page, host.url + CHAPTER)
    ledger.root.locator("[data-action=link]").click()
    box = ledger.root.locator(".calc-drawer input")
    ledger.set("counts", 7, "0")
    expect(box).to_have_value(re.compile(r"counts=7,8$"))
    ledger.root.locator("[data-action=reset]").click()
    expect(box).to_have_value(re.compile(rf"#{ledger.id}$"))


def test_page_without_a_clipboard_says_that_it_could_not_copy(page: Page, host: Host) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(host.url + CHAPTER)
    root = Calculator(page).root
    root.locator("[data-action=link]").click()
    root.locator(".calc-drawer button").click()
    expect(root.locator(".calc-drawer button")).to_have_text(
        "Could not copy: select the text instead"
    )
