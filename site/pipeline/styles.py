"""The stylesheet and its fonts as published files: bundled, cut down, named by their hashes."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import faults, fonts
from pipeline.errors import BuildError, Finding

ASSETS = "assets"
OTHER_FORMATS = re.compile(r',\s*url\(["\']?["\']?\)\s*format\(["\'](?:woff|truetype)["\']\)')
# Logical names, for the templates to preload what the first screen is set in.
PRELOADABLE = {
    "serif.woff2": "source-serif-4-latin-400-normal",
    "serif-italic.woff2": "source-serif-4-latin-400-italic",
    "sans.woff2": "ibm-plex-sans-latin-400-normal",
}


@dataclass(frozen=True)
class Styles:
    """Published path to content, and logical name (main.css, serif.woff2) to published path."""

    files: Mapping[str, bytes]
    urls: Mapping[str, str]


def styles(root: Path, cache: Path, texts: Sequence[str], formulas: Sequence[str]) -> Styles:
    """The bundle of site/styles/main.css.

    `texts` are whatever the book says in its own fonts, `formulas` the HTML of its formulas: the
    fonts keep the characters of these. Raises BuildError with what esbuild says.
    """
    sheet, faces = _bundled(root)
    written, in_formulas = fonts.characters(texts), fonts.characters(formulas)
    files: dict[str, bytes] = {}
    urls: dict[str, str] = {}
    for name, data in faces.items():
        wanted = in_formulas if name.startswith("KaTeX") else written
        small = fonts.cut(data, wanted, cache / "fonts")
        stem = name.rpartition("-")[0]
        published = f"{stem}-{_short(small)}.woff2"
        sheet = sheet.replace(name, published)
        files[f"{ASSETS}/{published}"] = small
        urls.update({key: f"{ASSETS}/{published}" for key, s in PRELOADABLE.items() if s == stem})
    body = OTHER_FORMATS.sub("", sheet).encode()
    main = f"{ASSETS}/main-{_short(body)}.css"
    return Styles({**files, main: body}, {**urls, "main.css": main})


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8].upper()


def _bundled(root: Path) -> tuple[str, dict[str, bytes]]:
    """esbuild's bundle: the sheet, and the fonts that it names (NAME-HASH.woff2)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(_esbuild(root)), str(root / "site" / "styles" / "main.css"), "--bundle", "--minify",
            "--charset=utf8", "--legal-comments=none", "--log-level=error",
            "--loader:.woff2=file", "--loader:.woff=empty", "--loader:.ttf=empty",
            "--asset-names=[name]-[hash]", f"--outdir={folder}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
        if done.returncode != 0:
            raise BuildError(*faults.of_esbuild(done.stderr, "site/styles", "mend the stylesheet"))
        out = Path(folder)
        sheet = (out / "main.css").read_text("utf-8")
        return sheet, {path.name: path.read_bytes() for path in sorted(out.glob("*.woff2"))}


def _esbuild(root: Path) -> Path:
    found = sorted((root / "node_modules" / "@esbuild").glob("*/bin/esbuild"))
    found += sorted((root / "node_modules" / "@esbuild").glob("*/esbuild.exe"))
    if not found:
        rule = "styles are bundled by esbuild"
        raise BuildError(Finding("package.json", 1, "esbuild", "", rule, "run `npm ci`"))
    return found[0]
