"""The runtime made small: nothing that is needed is lost, and a killed build leaves no half."""

from __future__ import annotations

import gzip
import importlib
import io
import zipfile
from pathlib import Path
from typing import Any

import brotli
import pytest

from pipeline import bytecode, repack, vendor
from pipeline.node import NodeError
from pipeline.vendor import sha256
from tests.runtimes import NUMPY, STANDARD, WHEEL, World, archive


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def members(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert {item.compress_type for item in opened.infolist()} == {zipfile.ZIP_STORED}
        assert opened.testzip() is None
        return opened.namelist()


def test_archives_are_stored_without_what_a_page_cannot_use() -> None:
    assert members(repack.repack("python_stdlib.zip", STANDARD, ())) == [
        "encodings/utf_8.py", "json/__init__.py", "logging/__init__.py",
    ]  # fmt: skip
    assert members(repack.repack(WHEEL, NUMPY, ())) == [
        "numpy-2.2.5.dist-info/LICENSE.txt", "numpy/__init__.py", "numpy/ma/core.py",
    ]  # fmt: skip
    assert repack.repack("pyodide.mjs", b"as it is", ()) == b"as it is"


def test_equal_archives_are_equal_bytes_whatever_their_order() -> None:
    with zipfile.ZipFile(io.BytesIO(NUMPY)) as opened:
        names = opened.namelist()
        shuffled = archive({name: opened.read(name).decode() for name in reversed(names)})
    assert shuffled != NUMPY
    assert repack.repack(WHEEL, shuffled, ()) == repack.repack(WHEEL, NUMPY, ())


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("np.random.default_rng(1)", ["random"]),
        ("from numpy import fft, linalg", ["fft"]),
        ("numpy.polynomial.Polynomial", ["polynomial"]),
        ("rng.random(3); np.randomly", []),
    ],
)
def test_a_part_of_numpy_is_kept_when_a_calculator_names_it(
    source: str, parts: list[str], world: World
) -> None:
    before = world.runtime()
    (world.calculators / "new.py").write_text(source, "utf-8")
    assert list(repack.named_parts(world.calculators.glob("*.py"))) == parts
    after = world.runtime()
    assert (after.folder != before.folder) == bool(parts)
    wheel = (after.folder / WHEEL).read_bytes()
    kept = {path.split("/")[1] for path in members(wheel)}
    assert {"fft", "random"} & kept == set(parts) & {"fft", "random"}


def test_each_file_has_its_forms_and_both_hashes(world: World) -> None:
    made = world.runtime()
    assert [file.name for file in made.files] == ["pyodide.mjs", "python_stdlib.zip", WHEEL]
    assert made.wheel == WHEEL
    for file in made.files:
        data = file.path.read_bytes()
        assert (file.size, file.sha256) == (len(data), sha256(data))
        packed = {
            kind: file.path.with_name(f"{file.name}.{kind}").read_bytes() for kind in ("br", "gz")
        }
        assert brotli.decompress(packed["br"]) == gzip.decompress(packed["gz"]) == data
        assert (file.br_size, file.gz_size) == (len(packed["br"]), len(packed["gz"]))
    assert made.manifest()[WHEEL]["original_sha256"] == sha256(NUMPY)
    assert made.brotli_size == sum(file.br_size for file in made.files)


@pytest.mark.parametrize("name", [WHEEL, f"{WHEEL}.br", "manifest.json"])
def test_a_damaged_file_in_the_cache_is_made_again(name: str, world: World) -> None:
    first = world.runtime()
    (first.folder / name).write_bytes(b"damaged")
    assert world.runtime() == first
    assert (first.folder / name).read_bytes() != b"damaged"


def test_a_build_that_is_ended_leaves_nothing_half_made(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(vendor, "_row", end)
        with pytest.raises(KeyboardInterrupt):
            world.runtime()
    assert list((world.cache / "runtime").iterdir()) == []
    assert world.runtime().wheel == WHEEL


def test_compiled_modules_need_no_source_and_name_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "library.zip"
    path.write_bytes(archive({"compiled_one.py": 'def place():\n    "words"\n    raise KeyError\n',
                              "left_as_it_is.py": "VALUE = 3\n"}))  # fmt: skip
    bytecode.compile_archive(str(path), "/lib/", 2, "compiled_one.py".__eq__)
    assert members(path.read_bytes()) == ["compiled_one.pyc", "left_as_it_is.py"]
    monkeypatch.syspath_prepend(str(path))
    module = importlib.import_module("compiled_one")
    with pytest.raises(KeyError) as caught:
        module.place()
    assert str(caught.traceback[-1].path) == "/lib/compiled_one.py"
    assert module.place.__doc__ is None
    assert importlib.import_module("left_as_it_is").VALUE == 3


def test_what_a_start_imports_is_compiled() -> None:
    made = vendor.runtime(vendor.ROOT / ".cache")
    library = members((made.folder / "python_stdlib.zip").read_bytes())
    assert [path for path in library if path.endswith(".py")] == []
    numpy = members((made.folder / made.wheel).read_bytes())
    assert {"numpy/__init__.pyc", "numpy/linalg/_linalg.pyc", "numpy/ma/core.py"} <= set(numpy)


def test_a_compiler_that_fails_is_quoted_in_one_line() -> None:
    with pytest.raises(NodeError) as caught:
        repack.compile_archives({"python_stdlib.zip": STANDARD, WHEEL: b"no archive"})
    assert str(caught.value) == "compile.mjs: zipfile.BadZipFile: File is not a zip file"
