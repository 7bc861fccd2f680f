"""Fonts cut down to the characters that the book uses: a page carries no glyph for nothing."""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from pipeline.prune import touch

# What a page may show beyond its text: every printable ASCII character, since readers type into
# it, and the signs that numbers, quotations and the interface are made with.
ALWAYS = "".join(map(chr, range(0x20, 0x7F))) + "\u00a0\u2007\u2009\u202f±·×÷–—‘’“”…−°µ"
FEATURES = ("kern", "liga", "lnum", "tnum", "pnum", "mark", "mkmk", "ccmp")


def characters(texts: Iterable[str]) -> str:
    """Every character of `texts` and of `ALWAYS`, once each and in order."""
    # A mark for each code point: a book has millions of characters, and few different ones.
    is_there = np.zeros(sys.maxunicode + 1, dtype=bool)
    for text in (ALWAYS, *texts):
        is_there[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")] = True
    return "".join(map(chr, np.flatnonzero(is_there)))


def cut(font: bytes, wanted: str, folder: Path) -> bytes:
    """The WOFF2 `font` with the glyphs of `wanted` only; kept in `folder` between builds.

    Characters that the font lacks are passed over: the browser takes them from the next font.
    """
    key = hashlib.sha256(b"\0".join((font, wanted.encode(), _code_version()))).hexdigest()
    kept = folder / f"{key}.woff2"
    touch(kept)
    if not kept.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_suffix(".part")
        fresh.write_bytes(_cut(font, wanted))
        fresh.replace(kept)
    return kept.read_bytes()


@cache
def _code_version() -> bytes:
    here = Path(__file__).read_bytes()
    return hashlib.sha256(here + version("fonttools").encode()).digest()


def _cut(font: bytes, wanted: str) -> bytes:
    # Imported here: it takes longer than a whole build whose fonts are cut already.
    from fontTools.subset import Options, Subsetter  # type: ignore[import-untyped]
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    options = Options()
    options.layout_features = list(FEATURES)
    options.hinting = False
    options.notdef_outline = True
    face = TTFont(io.BytesIO(font), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=wanted)
    subsetter.subset(face)
    face.flavor = "woff2"
    out = io.BytesIO()
    face.save(out)
    return out.getvalue()
