"""The scripts' pure modules, run in Node: addresses, CSV, pasted blocks, archives; their types."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from calculators import contract
from pipeline.node import node_executable
from tests.browser.examples import examples

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "site" / "scripts"


def run_node(script: str, data: Any) -> Any:
    """What `script`, a module body with `data` and `scripts` (the folder's URL), returns."""
    body = (
        f"const scripts = {json.dumps(SCRIPTS.as_uri() + '/')};\n"
        "let text = ''; for await (const part of process.stdin) text += part;\n"
        "const data = JSON.parse(text);\n"
        f"const run = async () => {{ {script} }};\n"
        "process.stdout.write(JSON.stringify(await run()));"
    )
    command = [node_executable(), "--input-type=module", "-e", body]
    done = subprocess.run(
        command, input=json.dumps(data), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.worker.json"])
def test_types(project: str) -> None:
    tsc = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    command = [node_executable(), str(tsc), "--project", str(ROOT / "site" / project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout + done.stderr == ""


ROUND_TRIP = """
const { encodeInputs, decodeInputs, splitHash, joinHash } = await import(scripts + "codec.js");
return data.map(({ inputs, properties }) => {
  const text = encodeInputs(inputs, {}, properties);
  const hash = joinHash(new Map([["ledger", text], ["a b", "x=1"]]));
  return [text, decodeInputs(splitHash(hash).get("ledger") ?? "", properties)];
});
"""


def test_address_keeps_every_input() -> None:
    data = [
        {"inputs": inputs, "properties": contract.schema(name)["properties"]}
        for name in contract.names()
        for inputs in examples(name)
    ]
    for case, (text, back) in zip(data, run_node(ROUND_TRIP, data), strict=True):
        assert back == case["inputs"], text


def test_address_reads_as_promised() -> None:
    cases = [
        ("two_replica_ledger", {"counts": [4, 8]}, "counts=4,8"),
        ("two_replica_ledger", {"targets": [0.5, -1e-7]}, "targets=0.5,-1e-7"),
        ("update_ledger", {"counts": [[1, 2], [3]]}, "counts=1,2;3"),
        ("update_ledger", {"weights": None}, "weights=null"),
        ("clip_ownership", {"scaled_gradients": [["inf"], ["nan"]]}, "scaled_gradients=inf;nan"),
        ("sampler_padding", {"drop_last": True}, "drop_last=true"),
    ]
    data = [
        {"inputs": inputs, "properties": contract.schema(name)["properties"]}
        for name, inputs, _ in cases
    ]
    texts = [text for text, _ in run_node(ROUND_TRIP, data)]
    assert texts == [text for _, _, text in cases]


def test_equal_states_are_equal_in_any_order() -> None:
    script = """
    const { isSame } = await import(scripts + "codec.js");
    return data.map(([a, b]) => isSame(a, b));
    """
    pairs = [
        ({"a": 1, "b": [1, None]}, {"b": [1, None], "a": 1}), ({"a": 1}, {"a": 2}),
        ([1, 2], [1, 2, 3]), ({"a": None}, {"b": None}), ([], {}), (None, None), (0, None),
    ]  # fmt: skip
    expected = [True, False, False, False, False, True, False]
    assert run_node(script, pairs) == expected


def test_csv_is_read_back() -> None:
    script = """
    const { tableCsv } = await import(scripts + "data-export.js");
    return tableCsv(data);
    """
    rows = [["a,b", 'say "x"', "two\nlines"], [None, 1.5, [1, 2]]]
    text = run_node(script, {"key": "t", "title": "", "columns": ["x", "y", "z"], "rows": rows})
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read == [["x", "y", "z"], ["a,b", 'say "x"', "two\nlines"], ["", "1.5", "1 2"]]


def test_pasted_blocks() -> None:
    script = """
    const { parseBlock } = await import(scripts + "cells.js");
    return data.map(parseBlock);
    """
    texts = ["1\n2\r\n3\n", "1\t2\n3\t4", "1, 2; 3", "7", "", "−1\t1e-3"]
    expected = [
        [["1"], ["2"], ["3"]], [["1", "2"], ["3", "4"]], [["1", "2", "3"]], [["7"]], [],
        [["−1", "1e-3"]],
    ]  # fmt: skip
    assert run_node(script, texts) == expected


def test_archive_gives_what_was_packed() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("numpy/a.py", "x = 1\n", zipfile.ZIP_STORED)
        archive.writestr("numpy/b.py", "y = 2\n" * 500, zipfile.ZIP_DEFLATED)
        archive.writestr("numpy/c.txt", "not wanted")
    script = """
    const { entries } = await import(scripts + "archive.js");
    const bytes = new Uint8Array(Buffer.from(data, "base64"));
    const found = await entries(bytes, (name) => name.endsWith(".py"));
    return found.map(([name, body]) => [name, Buffer.from(body).toString()]);
    """
    found = run_node(script, base64.b64encode(packed.getvalue()).decode())
    assert found == [["numpy/a.py", "x = 1\n"], ["numpy/b.py", "y = 2\n" * 500]]


def test_archive_that_is_none_is_refused() -> None:
    script = """
    const { entries } = await import(scripts + "archive.js");
    return entries(new Uint8Array(40), () => true).catch((error) => error.message);
    """
    assert run_node(script, None) == "not a zip archive: it has no end record"


def test_every_sentence_of_the_scripts_is_there_in_every_language() -> None:
    said = set()
    for path in SCRIPTS.glob("*.js"):
        said |= set(re.findall(r'\bsay\("(\w+)"', path.read_text("utf-8")))
    constants = (SCRIPTS / "constants.js").read_text("utf-8")
    reasons = re.search(r"REASONS = Object.freeze\(\{(.*?)\}\)", constants, re.DOTALL)
    assert reasons
    # A damaged snapshot is dropped without a word: the reader loses nothing by it.
    said |= {f"failed_{key}" for key in re.findall(r"(\w+):", reasons[1]) if key != "snapshot"}
    said |= {"live", "computing", "unavailable"}
    for path in (ROOT / "site" / "strings").glob("*.toml"):
        words = tomllib.loads(path.read_text("utf-8"))["script"]
        assert said - set(words) == set(), path.name
