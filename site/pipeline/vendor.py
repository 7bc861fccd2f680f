"""The Python that runs in the page: Pyodide and numpy, checked and packed.

Pyodide's core is in the npm package `pyodide`; numpy's wheel is not, but the package names the
wheel and its SHA-256. So it does not matter who hands the wheel over: the first source that has it
is asked, and what does not have that hash is never used. Once a wheel lies in the cache no network
is needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.fetch import PYODIDE, SOURCES, Source, SourceError
from pipeline.prune import touch
from pipeline.repack import compile_archives, compressed, named_parts, repack

ROOT = Path(__file__).resolve().parents[2]
HOW = tuple(
    ROOT / "site" / path
    for path in ("pipeline/repack.py", "pipeline/bytecode.py", "node/compile.mjs")
)
Compile = Callable[[dict[str, bytes]], dict[str, bytes]]
CORE = {
    "pyodide.mjs": "31afa960fdf68333de6f3f0513bad154495c8fc635a66b7e58ab9cf356a76501",
    "pyodide.asm.js": "f1e70077bd701757b2798fc57f540fe39cf23d36ee5cd7c1a9b3a6f35cf500a7",
    "pyodide.asm.wasm": "615172c6b2f5efe53e41d0201a98eb37c1f3aa7675d11cb06b6079b3a6b2bef5",
    "python_stdlib.zip": "e389fbdc394a00d31ff0624386c9e3e52e04727130ac73597a99c477afe4f1ca",
    "pyodide-lock.json": "701557726114e9a968d2088153414b2f126b8631aa734ed98eaf1797d4e4d087",
}


class VendorError(Exception):
    """The runtime cannot be had: one line that says what was tried and what to do."""


@dataclass(frozen=True)
class RuntimeFile:
    """A published file: SHA-256 and size as published, and of the original it was made from."""

    name: str
    path: Path
    sha256: str
    size: int
    br_size: int
    gz_size: int
    original_sha256: str
    original_size: int


@dataclass(frozen=True)
class Runtime:
    """The published files, all in `folder`, each with its `.br` and `.gz` beside it."""

    folder: Path
    files: tuple[RuntimeFile, ...]

    @property
    def wheel(self) -> str:
        """The name of numpy's wheel."""
        return next(file.name for file in self.files if file.name.endswith(".whl"))

    @property
    def brotli_size(self) -> int:
        """Bytes that a browser fetches when the host sends brotli."""
        return sum(file.br_size for file in self.files)

    def manifest(self) -> dict[str, Any]:
        """What was made from what: file name -> hashes and sizes."""
        return {
            file.name: {key: value for key, value in asdict(file).items() if key != "path"}
            for file in self.files
        }


def sha256(data: bytes) -> str:
    """The digest as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()


def runtime(
    cache: Path = ROOT / ".cache",
    *,
    modules: Path = ROOT / "node_modules",
    calculators: Path = ROOT / "calculators",
    sources: Sequence[Source] = SOURCES,
    compile: Compile = compile_archives,
    say: Callable[[str], None] = print,
) -> Runtime:
    """The files to publish, from `cache` if they were made before. Raises `VendorError`."""
    originals = core_files(modules / "pyodide")
    name, expected = wheel_of(originals.pop("pyodide-lock.json"))
    originals[name] = wheel(name, expected, cache / "vendor", sources, say)
    named = named_parts(sorted(calculators.glob("*.py")))
    key = _key(originals, named)
    folder = cache / "runtime" / key
    touch(folder)
    known = _read(folder)
    if known is None:
        say("runtime: compiling and compressing Pyodide and numpy (about a minute, once)")
        published = {name: repack(name, data, named) for name, data in originals.items()}
        _make(folder, originals, compile(published))
        known = _read(folder)
    if known is None:
        raise VendorError(f"runtime: {folder} changed while it was written; run the build again")
    return known


def core_files(folder: Path) -> dict[str, bytes]:
    """Pyodide's own files from the npm package, each with the hash it must have."""
    found = {}
    for name, expected in CORE.items():
        path = folder / name
        if not path.is_file():
            raise VendorError(
                f"{name}: not in {folder}, where the npm package pyodide {PYODIDE} puts it; "
                "run `make site`, which installs it"
            )
        found[name] = _checked(name, path.read_bytes(), expected, str(path), "run `npm ci` again")
    return found


def wheel_of(lock: bytes) -> tuple[str, str]:
    """File name and SHA-256 of the numpy wheel that belongs to this Pyodide."""
    entry = json.loads(lock)["packages"]["numpy"]
    return str(entry["file_name"]), str(entry["sha256"])


def wheel(
    name: str,
    expected: str,
    folder: Path,
    sources: Sequence[Source],
    say: Callable[[str], None] = print,
) -> bytes:
    """The wheel from `folder`, or from the first source that has it, and then kept in `folder`."""
    kept = folder / name
    touch(kept)
    if kept.is_file():
        return _checked(name, kept.read_bytes(), expected, str(kept), "delete that file and retry")
    tried = []
    for source in sources:
        say(f"runtime: fetching {name} from {source.name}")
        try:
            data = source.fetch(name)
        except SourceError as error:
            tried.append(f"{source.name} ({error})")
            continue
        _checked(name, data, expected, source.name, "do not use it; try again from another network")
        _write(kept, data)
        return data
    raise VendorError(
        f"{name}: no source has it: {'; '.join(tried)}; connect to a network and run again, "
        f"or put the file with SHA-256 {expected} at {kept}"
    )


def _checked(name: str, data: bytes, expected: str, origin: str, action: str) -> bytes:
    found = sha256(data)
    if found != expected:
        raise VendorError(
            f"{name}: SHA-256 {found} from {origin}, must be {expected}; nothing was kept; {action}"
        )
    return data


def _key(originals: dict[str, bytes], named: Sequence[str]) -> str:
    """Changes with every original, with what is dropped from them and with how that is done."""
    parts = [f"{name} {sha256(data)}" for name, data in sorted(originals.items())]
    how = [path.read_text("utf-8") for path in HOW]
    return sha256("\n".join([*parts, *named, *how]).encode())[:16]


def _make(folder: Path, originals: dict[str, bytes], published: dict[str, bytes]) -> None:
    """Write all files to a new folder and rename it: a killed build leaves nothing half made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary) / folder.name
        made.mkdir()
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            forms = dict(zip(published, pool.map(compressed, published.values()), strict=True))
        rows = []
        for name, data in published.items():
            for suffix, body in forms[name].items():
                (made / f"{name}.{suffix}").write_bytes(body)
            (made / name).write_bytes(data)
            rows.append(_row(name, data, forms[name], originals[name]))
        (made / "manifest.json").write_text(json.dumps(rows, indent=1), "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        # Another build may have been faster; whose files lie there is all the same.
        with contextlib.suppress(OSError):
            made.rename(folder)


def _row(name: str, data: bytes, forms: dict[str, bytes], original: bytes) -> dict[str, Any]:
    return {
        "name": name,
        "sha256": sha256(data),
        "size": len(data),
        "br_size": len(forms["br"]),
        "gz_size": len(forms["gz"]),
        "original_sha256": sha256(original),
        "original_size": len(original),
    }


def _read(folder: Path) -> Runtime | None:
    """What lies in `folder`, or None when it is not there or not as it was made."""
    try:
        rows = json.loads((folder / "manifest.json").read_text("utf-8"))
        files = tuple(RuntimeFile(path=folder / row["name"], **row) for row in rows)
        whole = all(_is_whole(file) for file in files)
    except (OSError, ValueError):
        return None
    return Runtime(folder, files) if whole else None


def _is_whole(file: RuntimeFile) -> bool:
    beside = [file.path.with_name(f"{file.name}.{kind}").stat().st_size for kind in ("br", "gz")]
    return beside == [file.br_size, file.gz_size] and sha256(file.path.read_bytes()) == file.sha256


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)
