"""A small stand-in for the packages that the runtime is made from."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline import vendor
from pipeline.fetch import Source, SourceError
from pipeline.vendor import Runtime, VendorError, sha256

WHEEL = "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"


def archive(members: Mapping[str, str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as opened:
        for path, text in members.items():
            opened.writestr(path, text)
    return target.getvalue()


NUMPY = archive(
    {
        "numpy/__init__.py": "core",
        "numpy/fft/__init__.py": "fft",
        "numpy/ma/core.py": "masked",
        "numpy/random/_generator.so": "random",
        "numpy/linalg/tests/test_linalg.py": "test",
        "numpy/_core/include/numpy/npy_math.h": "header",
        "numpy-2.2.5.dist-info/LICENSE.txt": "terms",
        "numpy-2.2.5.dist-info/RECORD": "hashes",
    }
)
STANDARD = archive(
    {"json/__init__.py": "json", "pydoc.py": "pydoc", "encodings/utf_8.py": "utf", "this.py": "zen",
     "encodings/big5.py": "big", "logging/__init__.py": "log", "logging/handlers.py": "handlers"}
)  # fmt: skip


class World:
    """A small npm package, calculators and cache, with a source that notes who is asked."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cache = root / ".cache"
        self.modules = root / "node_modules"
        self.calculators = root / "calculators"
        self.asked: list[str] = []
        self.said: list[str] = []
        lock = {"packages": {"numpy": {"file_name": WHEEL, "sha256": sha256(NUMPY)}}}
        files = {"pyodide.mjs": b"export {}" * 50, "python_stdlib.zip": STANDARD,
                 "pyodide-lock.json": json.dumps(lock).encode()}  # fmt: skip
        (self.modules / "pyodide").mkdir(parents=True)
        self.calculators.mkdir()
        for name, data in files.items():
            (self.modules / "pyodide" / name).write_bytes(data)
        monkeypatch.setattr(vendor, "CORE", {name: sha256(data) for name, data in files.items()})
        self.sources = [self.source("shelf", NUMPY)]

    def source(self, name: str, answer: bytes | str) -> Source:
        def fetch(_: str) -> bytes:
            self.asked.append(name)
            if isinstance(answer, str):
                raise SourceError(answer)
            return answer

        return Source(name, fetch)

    def runtime(self) -> Runtime:
        return vendor.runtime(
            self.cache,
            modules=self.modules,
            calculators=self.calculators,
            sources=self.sources,
            compile=lambda files: files,
            say=self.said.append,
        )

    def error(self) -> str:
        with pytest.raises(VendorError) as caught:
            self.runtime()
        return str(caught.value)

    @property
    def kept(self) -> Path:
        return self.cache / "vendor" / WHEEL
