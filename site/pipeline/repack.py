"""The runtime made small: archives without what no calculator can reach, stored, then compressed.

Pyodide's two archives, the standard library and the numpy wheel, are deflated. Stored instead, and
compressed as a whole by the host or by the files beside them, they take a third less to send.
"""

from __future__ import annotations

import gzip
import io
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import brotli

from pipeline.node import NodeError, NodeProgram

COMPILER = Path(__file__).resolve().parents[1] / "node" / "compile.mjs"
COMPILE_TIMEOUT = 300.0

# Modules of the standard library that a page cannot use: no processes, sockets, terminal, tests or
# mail. Everything else stays, so that a new calculator may import what it likes.
DROPPED_MODULES = frozenset(
    """_aix_support _android_support _apple_support _ios_support _pyio _pyrepl antigravity bdb cmd
    code codeop compileall configparser cProfile curses doctest ensurepip filecmp fileinput ftplib
    getopt getpass http idlelib imaplib lib2to3 mailbox mimetypes modulefinder multiprocessing netrc
    nturl2path optparse pdb pickletools plistlib poplib profile pstats pty pyclbr pydoc pydoc_data
    rlcompleter runpy smtplib socketserver sqlite3 symtable tabnanny tarfile this timeit tkinter
    trace tracemalloc turtle turtledemo tty unittest uuid venv wave webbrowser wsgiref xml xmlrpc
    zipapp zoneinfo""".split()
)
DROPPED_PATHS = re.compile(
    r"logging/(config|handlers)\.py|asyncio/(windows|proactor)_\w+\.py|ctypes/(_aix|util)\.py|"
    r"ctypes/macholib/|concurrent/futures/(process|thread)\.py|urllib/(request|robotparser)\.py|"
    r"sysconfig/__main__\.py|site-packages/|.*/__pycache__/"
)
KEPT_ENCODINGS = frozenset(
    """__init__ aliases ascii charmap cp1252 cp437 iso8859_1 latin_1 raw_unicode_escape
    unicode_escape undefined utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le utf_8
    utf_8_sig""".split()
)

# Parts of numpy that the rest of numpy does without: kept only when a calculator names them.
# (`numpy.ma` is not one: a median of values with a NaN among them needs it.)
OPTIONAL_NUMPY = ("fft", "polynomial", "random")
DROPPED_NUMPY = re.compile(
    r"numpy/(f2py|testing|_pyinstaller|distutils|typing|doc)/|.*/tests?/|.*/(include|lib/pkgconfig)/|"
    r".*\.(pyi|pxd|pyx|h|a|c|in|rst|md|ini|typed)$|numpy/(conftest|_configtool|matlib)\.py|"
    r".*\.dist-info/(RECORD|entry_points\.txt)$"
)

_EPOCH = (1980, 1, 1, 0, 0, 0)


def repack(name: str, data: bytes, named: Iterable[str]) -> bytes:
    """The file as it is published. `named`: the optional parts of numpy that calculators use."""
    if name == "python_stdlib.zip":
        return stored(data, is_needed_module)
    if name.endswith(".whl"):
        kept = frozenset(named)
        return stored(data, lambda path: is_needed_numpy(path, kept))
    return data


def stored(data: bytes, is_needed: Callable[[str], bool]) -> bytes:
    """The archive with its needed files only, uncompressed; equal contents make equal bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w") as archive:
        for path in sorted(source.namelist()):
            if is_needed(path) and not path.endswith("/"):
                archive.writestr(zipfile.ZipInfo(path, _EPOCH), source.read(path))
    return target.getvalue()


def is_needed_module(path: str) -> bool:
    """Whether a file of the standard library's archive is published."""
    folder, _, rest = path.partition("/")
    if folder == "encodings":
        return rest.removesuffix(".py") in KEPT_ENCODINGS
    if DROPPED_PATHS.match(path):
        return False
    return folder.removesuffix(".py") not in DROPPED_MODULES


def is_needed_numpy(path: str, named: frozenset[str]) -> bool:
    """Whether a file of the numpy wheel is published."""
    unused = [part for part in OPTIONAL_NUMPY if part not in named]
    if any(path.startswith(f"numpy/{part}/") for part in unused):
        return False
    return not DROPPED_NUMPY.match(path)


def named_parts(sources: Iterable[Path]) -> tuple[str, ...]:
    """Which optional parts of numpy these Python files name, as in `np.random.default_rng`."""
    text = "\n".join(path.read_text("utf-8") for path in sources)
    spelling = r"\b(np|numpy)\.{0}\b|\bfrom numpy import [^\n]*\b{0}\b"
    return tuple(part for part in OPTIONAL_NUMPY if re.search(spelling.format(part), text))


def compile_archives(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, with bytecode in the two archives; see pipeline/bytecode.py."""
    library = "python_stdlib.zip"
    wheel = next(name for name in files if name.endswith(".whl"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in (library, wheel):
            (folder / name).write_bytes(files[name])
        request = {"folder": temporary, "library": library, "wheel": wheel}
        with NodeProgram(COMPILER, timeout=COMPILE_TIMEOUT) as node:
            [answer] = node.request([request])
        if "error" in answer:
            raise NodeError(
                f"{COMPILER.name}: {answer['error']['message'].strip().splitlines()[-1]}"
            )
        return {**files, **{name: (folder / name).read_bytes() for name in (library, wheel)}}


def compressed(data: bytes) -> dict[str, bytes]:
    """The forms that lie beside a file for hosts that can send them: suffix -> bytes."""
    return {
        "br": brotli.compress(data, quality=11, lgwin=24),
        "gz": gzip.compress(data, compresslevel=9, mtime=0),
    }
