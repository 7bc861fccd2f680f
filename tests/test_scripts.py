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


def test_of_an_endless_list_only_so_much_is_read_as_shows_that_it_is_too_long() -> None:
    script = """
    const { decodeInputs } = await import(scripts + "codec.js");
    return data.map(([text, properties]) => decodeInputs(text, properties));
    """
    flat = contract.schema("two_replica_ledger")["properties"]
    rows = contract.schema("update_ledger")["properties"]
    endless = ",".join(["1"] * 100_000)
    data = [["counts=" + endless, flat], ["counts=" + ";".join([endless] * 30), rows]]
    assert run_node(script, data) == [{"counts": [1] * 17}, {"counts": [[1] * 17] * 17}]


def test_a_list_of_any_length_is_read_whole() -> None:
    script = """
    const { decodeInputs } = await import(scripts + "codec.js");
    return data.map((text) => decodeInputs(text, {
      topic: { type: "array", items: { type: "string" } },
      rows: { type: "array", items: { type: "array", items: { type: "number" } } },
    }));
    """
    data = ["topic=a%20b,c", "rows=1,2;3"]
    assert run_node(script, data) == [{"topic": ["a b", "c"]}, {"rows": [[1, 2], [3]]}]


def test_an_address_that_is_none_is_read_as_it_stands() -> None:
    script = """
    const { decodeInputs, splitHash } = await import(scripts + "codec.js");
    return data.map(([hash, properties]) => {
      const [[id, text]] = [...splitHash(hash)];
      return [id, JSON.stringify(decodeInputs(text, properties))];
    });
    """
    properties = contract.schema("two_replica_ledger")["properties"]
    hashes = ["#%ZZ?theta=1", "#a?counts=%,8", "#a?theta=100%", "#a?scheme=%E0%A4%A"]
    expected = [
        ["%ZZ", '{"theta":1}'], ["a", '{"counts":["%",8]}'], ["a", '{"theta":"100%"}'],
        ["a", '{"scheme":"%E0%A4%A"}'],
    ]  # fmt: skip
    assert run_node(script, [[text, properties] for text in hashes]) == expected


def test_what_a_link_may_hold_is_read_as_it_is_meant() -> None:
    script = """
    const { decodeInputs, splitHash } = await import(scripts + "codec.js");
    return data.map(([hash, properties]) => JSON.stringify(
      [...splitHash(hash)].map(([id, text]) => [id, decodeInputs(text, properties)])));
    """
    number = {"x": {"type": "number"}}
    names = {"x": {"type": "array", "items": {"type": "string"}, "maxItems": 3}}
    rows = {"x": {"type": "array", "items": {"type": "object"}, "maxItems": 2}}
    cases = [
        ("#a?x=1e999", number, '[["a",{"x":"1e999"}]]'),
        ("#a?x=-1e999", number, '[["a",{"x":"-1e999"}]]'),
        ("#a?x=1e+3+b?x=2", number, '[["a",{"x":1000}],["b",{"x":2}]]'),
        ("#a?x=1%2B1+b?x=-1e-320", number, '[["a",{"x":"1+1"}],["b",{"x":-1e-320}]]'),
        ("#a?x=-%E2%88%9E", number, '[["a",{"x":"-inf"}]]'),
        ("#a?x=%E2%88%92inf", number, '[["a",{"x":"-inf"}]]'),
        ("#a?x=NaN", number, '[["a",{"x":"nan"}]]'),
        ("#a?x=%EF%BC%91%EF%BC%92", number, '[["a",{"x":12}]]'),
        ("#a?x=1e3,%2B%23%25%26,07", names, '[["a",{"x":["1e3","+#%&","07"]}]]'),
        ("#a?x=[1,2,3,4,5]", rows, '[["a",{"x":[1,2,3]}]]'),
        ('#a?x={"length":9}', rows, '[["a",{"x":{"length":9}}]]'),
        ("#a?__proto__=1&constructor=2", number, '[["a",{"__proto__":1,"constructor":2}]]'),
    ]
    found = run_node(script, [[text, properties] for text, properties, _ in cases])
    assert found == [expected for _, _, expected in cases]


def test_numbers_are_read_as_readers_write_them() -> None:
    script = """
    const { readings } = await import(scripts + "numbers.js");
    return data.map(readings);
    """
    meant: dict[str, list[float]] = {
        "0.5": [0.5], " 1e-3 ": [0.001], "1,5": [1.5], "½": [0.5], "2½": [2.5],
        "-2 1/2": [-2.5],
        "１２": [12], "－０．５": [-0.5], "−0.5": [-0.5], "– 5": [-5], "12。5": [12.5],
        "5，5": [5.5],
        "7/3": [7 / 3], "−⅓": [-1 / 3], "40 %": [0.4], "1 234": [1234], "19\u202f073": [19073],
        "5_000": [5000], "1,234": [1.234, 1234], "0,125": [0.125], "1,234.5": [1234.5],
        "1.234,5": [1234.5], "1.234.567": [1234567], "406,382,592": [406382592], "10⁻³": [0.001],
        "−8.39161×10⁻⁷": [-8.39161e-7], "1.2*10^3": [1200], "-10^2": [-100], "1e-320": [1e-320],
        "": [], "abc": [], "一半": [], "🙂": [], "1 2": [], "1,2,3": [], "12³": [], "2*103": [],
        "1e999": [], "1/0": [], "--5": [], "0x10": [], "1e": [], "NaN": [],
    }  # fmt: skip
    found = dict(zip(meant, run_node(script, list(meant)), strict=True))
    assert found == {text: pytest.approx(values, rel=1e-15) for text, values in meant.items()}


def test_axis_of_values_that_hardly_differ_comes_to_an_end() -> None:
    script = """
    const { axisOf } = await import(scripts + "plot-scale.js");
    return data.map(([low, high, domain]) => axisOf({ domain }, [[[0, low], [1, high]]], 1, 5));
    """
    pairs = [[999999.9999999998, 1e6], [1e12, 1e12 + 2e-4], [0, 1e-323], [-1e-310, 5e-310]]
    narrow = [1e12, 1e12 + 2e-4]
    for axis in run_node(script, [*pairs, [*narrow, narrow]]):
        low, high = axis["domain"]
        assert low < high
        assert len(axis["ticks"]) < 20
    assert run_node(script, [[1, 2]])[0]["ticks"] == [1, 1.2, 1.4, 1.6, 1.8, 2]


def test_path_with_a_stray_percent_sign_is_no_error() -> None:
    script = """
    const { pathOf } = await import(scripts + "site-paths.js");
    return data.map((path) => pathOf("https://a.example/wiki/" + path, "https://a.example/wiki/"));
    """
    paths = ["en/%zz/", "en/index.html?x=1#y", "%E5%90%8C/"]
    assert run_node(script, paths) == ["en/%zz/", "en/", "同/"]


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
    return data.map(([text, isColumn]) => parseBlock(text, isColumn));
    """
    blocks = [
        ("1\n2\r\n3\n", [["1"], ["2"], ["3"]]), ("1\t2\n3\t4", [["1", "2"], ["3", "4"]]),
        ("1, 2; 3", [["1", "2", "3"]]), ("7", [["7"]]), ("", []), ("−1\t1e-3", [["−1", "1e-3"]]),
        ("1\t\t3\t\r4\t5\t\t\r", [["1", "", "3"], ["4", "5"]]),
        ("1，2、3；4", [["1", "2", "3", "4"]]),
        ("1,5;2,5\n3;4", [["1,5", "2,5"], ["3", "4"]]), ('"1,5"\t"2"', [["1,5", "2"]]),
        ("19\u202f073\xa0", [["19\u202f073"]]), ("1,2\n3,4", [["1", "2"], ["3", "4"]]),
    ]  # fmt: skip
    expected = [cells for _, cells in blocks]
    assert run_node(script, [[text, False] for text, _ in blocks]) == expected
    columns = ["0,5\n1,5\n", '"1,234"\n"5"', "1,5", "a,b\nc,d"]
    assert run_node(script, [[text, True] for text in columns]) == [
        [["0,5"], ["1,5"]], [["1,234"], ["5"]], [["1", "5"]], [["a", "b"], ["c", "d"]],
    ]  # fmt: skip


def test_csv_file_in_chinese_says_that_it_is_utf_8() -> None:
    script = """
    const { csvFile } = await import(scripts + "data-export.js");
    return data.map(csvFile);
    """
    assert run_node(script, ["a,b\r\n", "副本,a\r\n"]) == ["a,b\r\n", "\ufeff副本,a\r\n"]


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
    said |= {f"failed_{key}" for key in re.findall(r': "(\w+)"', reasons[1]) if key != "snapshot"}
    said |= {"live", "computing", "unavailable"}
    for path in (ROOT / "site" / "strings").glob("*.toml"):
        words = tomllib.loads(path.read_text("utf-8"))["script"]
        assert said - set(words) == set(), path.name
