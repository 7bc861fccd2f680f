"""What the page's worker loads, and the scripts themselves: everything under a name with its hash.

The order of a build: `runtime` (Pyodide's files, the calculators of each language, their
manifest), `scripts` (which hold the manifest's address), and last, when the hash of the whole
site is known, `service_worker` and `build_manifest`. A file whose name holds its hash is never
another file: that is why a page of one build cannot get a part of another.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import faults, model_data
from pipeline.errors import BuildError, Finding

RUNTIME = "runtime"
ASSETS = "assets"
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
VARIANTS = ("br", "gz")
PAGE_EXCLUDES = frozenset({"__main__.py"})
BUILD_PLACEHOLDER = "WIKI_BUILD_PLACEHOLDER"


@dataclass(frozen=True)
class Runtime:
    """The published files of the runtime, and the address of the manifest that lists them."""

    files: Mapping[str, bytes]
    manifest: str


@dataclass(frozen=True)
class Scripts:
    """The published scripts. `urls`: main.js (a module) and theme.js (classic)."""

    files: Mapping[str, bytes]
    urls: Mapping[str, str]
    service_worker: bytes


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def runtime(vendored: Path, root: Path, languages: Sequence[str]) -> Runtime:
    """The runtime from the folder `vendored`: Pyodide's core files, the numpy wheel, and beside
    any of them its compressed forms (NAME.br, NAME.gz). Raises BuildError when one is missing.
    """
    originals = {name: (vendored / name).read_bytes() for name in _runtime_names(vendored)}
    digests = {name: digest(data) for name, data in originals.items()}
    listing = "".join(f"{name} {digests[name]}\n" for name in sorted(digests))
    folder = f"pyodide-{digest(listing.encode())[:12]}"
    files: dict[str, bytes] = {}
    entries = {}
    for name, data in originals.items():
        files[f"{RUNTIME}/{folder}/{name}"] = data
        variants = _variants(vendored, name)
        files.update({f"{RUNTIME}/{folder}/{name}.{kind}": v for kind, v in variants.items()})
        entries[name] = _entry(f"{folder}/{name}", data, variants, digests[name])
    bundles = {}
    for language in languages:
        data = calculators_bundle(root, language)
        name = f"calculators-{language}-{digest(data)[:12]}.json"
        files[f"{RUNTIME}/{name}"] = data
        bundles[language] = _entry(name, data, {})
    wheel = next(name for name in originals if name.endswith(".whl"))
    extra = {}
    for name, (data, forms) in model_data.data_files(vendored.parent).items():
        path = f"model-{name}-{digest(data)[:12]}{Path(model_data.PLACES[name]).suffix}"
        files[f"{RUNTIME}/{path}"] = data
        files.update({f"{RUNTIME}/{path}.{kind}": form for kind, form in forms.items()})
        extra[name] = {**_entry(path, data, forms), "at": model_data.PLACES[name]}
    listed = {"core": entries, "wheel": wheel, "bundles": bundles, "data": extra, "key": folder}
    body = canonical(listed)
    manifest = f"{RUNTIME}/manifest-{digest(body)[:12]}.json"
    return Runtime({**files, manifest: body}, manifest)


def _runtime_names(vendored: Path) -> list[str]:
    wheels = sorted(path.name for path in vendored.glob("numpy-*.whl"))
    missing = [name for name in CORE if not (vendored / name).is_file()]
    if missing or len(wheels) != 1:
        what = missing[0] if missing else f"{len(wheels)} numpy wheels"
        rule = f"the runtime needs {', '.join(CORE)} and one numpy wheel"
        raise BuildError(
            Finding(str(vendored), 1, "runtime file", what, rule, "fetch the runtime again")
        )
    return [*CORE, wheels[0]]


def _variants(vendored: Path, name: str) -> dict[str, bytes]:
    paths = {kind: vendored / f"{name}.{kind}" for kind in VARIANTS}
    return {kind: path.read_bytes() for kind, path in paths.items() if path.is_file()}


def _entry(
    path: str, data: bytes, variants: Mapping[str, bytes], sha256: str = ""
) -> dict[str, Any]:
    sizes = {kind: len(body) for kind, body in variants.items()}
    sha256 = sha256 or digest(data)
    return {"path": path, "sha256": sha256, "bytes": len(data), "variants": sizes}


def canonical(value: Any) -> bytes:
    """JSON with one spelling, so that equal content has an equal hash."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def calculators_bundle(root: Path, language: str) -> bytes:
    """The calculators and the strings of one language, as the worker unpacks them.

    `files`: path -> text. `template` and `checkout`: the scripts that 'Python' hands out, to be
    filled in the page; the second is for calculators that read the project's records.
    """
    folder = root / "calculators"
    files = {
        f"calculators/{path.name}": path.read_text("utf-8")
        for path in sorted(folder.glob("*.py"))
        if path.name not in PAGE_EXCLUDES
    }
    words = tomllib.loads((folder / "strings" / f"{language}.toml").read_text("utf-8"))
    files[f"calculators/strings/{language}.json"] = canonical(words).decode()
    scripts_folder = root / "site" / "scripts"
    templates = {
        key: (scripts_folder / f"{stem}_script.py.txt").read_text("utf-8")
        for key, stem in (("template", "state"), ("checkout", "checkout"))
    }
    return canonical({"files": files, "language": language, **templates})


def scripts(root: Path, manifest: str, languages: Sequence[str]) -> Scripts:
    """The bundled scripts: the worker first, then the page's own, which name it."""
    sources = root / "site" / "scripts"
    words = {language: script_words(root, language) for language in languages}
    worker = _esbuild(root, sources / "worker.js")
    names = _defines(WIKI_WORKER=_published(worker, "worker"), WIKI_MANIFEST=manifest)
    pages = _esbuild(root, sources / "main.js", "--splitting", *names, *_defines(WIKI_WORDS=words))
    theme = _esbuild(root, sources / "theme.js", "--format=iife")
    offline = {
        language: {key: text for key, text in own.items() if key.startswith("offline_")}
        for language, own in words.items()
    }
    service = _esbuild(root, sources / "sw.js", "--format=iife", *_defines(WIKI_WORDS=offline))
    return Scripts(
        files={**worker, **pages, **theme},
        urls={"main.js": _published(pages, "main"), "theme.js": _published(theme, "theme")},
        service_worker=service[_published(service, "sw")],
    )


def _defines(**constants: Any) -> list[str]:
    return [f"--define:{key}={canonical(value).decode()}" for key, value in constants.items()]


def script_words(root: Path, language: str) -> dict[str, str]:
    """What the scripts say in a language: the table `script` of its strings."""
    strings = tomllib.loads((root / "site/strings" / f"{language}.toml").read_text("utf-8"))
    words: dict[str, str] = strings["script"]
    return words


def _published(files: Mapping[str, bytes], stem: str) -> str:
    return next(path for path in files if path.startswith(f"{ASSETS}/{stem}-"))


def _esbuild(root: Path, entry: Path, *options: str) -> dict[str, bytes]:
    """The bundle of `entry` by published path; BuildError with what esbuild says."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(_esbuild_binary(root)), str(entry), "--bundle", "--minify", "--format=esm",
            "--target=es2022", "--charset=utf8", "--legal-comments=none", "--log-level=error",
            "--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]",
            f"--outdir={folder}", *options,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
        if done.returncode != 0:
            raise BuildError(*faults.of_esbuild(done.stderr, "site/scripts", "mend the script"))
        found = sorted(path for path in Path(folder).iterdir() if path.is_file())
        return {f"{ASSETS}/{path.name}": path.read_bytes() for path in found}


def _esbuild_binary(root: Path) -> Path:
    folder = root / "node_modules" / "@esbuild"
    found = [*folder.glob("*/bin/esbuild"), *folder.glob("*/esbuild.exe")]
    if not found:
        rule = "scripts are bundled by esbuild"
        raise BuildError(Finding("package.json", 1, "esbuild", "", rule, "run `npm ci`"))
    return found[0]


def service_worker(script: bytes, build: str) -> bytes:
    """The service worker of the build with this hash."""
    text = script.decode()
    if text.count(BUILD_PLACEHOLDER) != 1:
        rule = f"sw.js names {BUILD_PLACEHOLDER} once"
        count = f"{text.count(BUILD_PLACEHOLDER)} times"
        raise BuildError(
            Finding("site/scripts/sw.js", 1, "build placeholder", count, rule, "mend it")
        )
    return text.replace(BUILD_PLACEHOLDER, build).encode()


@dataclass(frozen=True)
class Entry:
    """A published file as build.json lists it."""

    size: int
    sha256: str


def entry(data: bytes) -> Entry:
    """The entry of a file with this content."""
    return Entry(len(data), digest(data))


def build_manifest(files: Mapping[str, Entry], build: str) -> bytes:
    """build.json: the hash of the build and, for every published file, its SHA-256 and size.

    `files` holds all of the site but build.json and sw.js, which cannot hold their own hashes.
    """
    listed = {path: {"bytes": item.size, "sha256": item.sha256} for path, item in files.items()}
    return canonical({"build": build, "files": listed})
