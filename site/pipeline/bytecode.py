"""Modules compiled in advance, so that a page does not compile a hundred of them at every start.

Bytecode belongs to one Python release, the one in the page. So this file is run by that very
Python, in Node (site/node/compile.mjs), and needs nothing but the standard library.
"""

from __future__ import annotations

import importlib
import importlib.util
import marshal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

STANDARD_LIBRARY = "/lib/python313.zip/"
SITE_PACKAGES = "/lib/python3.13/site-packages/"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NEVER_CHECK_THE_SOURCE = 1


def bytecode(source: bytes, path: str, optimize: int) -> bytes:
    """The content of a .pyc file that is valid without its source."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=optimize)
    flags = _NEVER_CHECK_THE_SOURCE.to_bytes(4, "little")
    digest = importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + flags + digest + marshal.dumps(code)


def compile_archive(
    archive: str, folder: str, optimize: int, is_compiled: Callable[[str], bool]
) -> None:
    """Put bytecode in place of the source of each module that `is_compiled`.

    `folder` is where the archive's files will lie: tracebacks name it.
    """
    target = f"{archive}.new"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w") as new:
        for path in old.namelist():
            data = old.read(path)
            if path.endswith(".py") and is_compiled(path):
                path, data = f"{path}c", bytecode(data, folder + path, optimize)
            new.writestr(zipfile.ZipInfo(path, _EPOCH), data)
    Path(target).replace(archive)


def compile_standard_library(archive: str) -> None:
    """All of it, without docstrings, which nobody reads in a page."""
    compile_archive(archive, STANDARD_LIBRARY, 2, lambda _: True)


def compile_numpy(archive: str, folder: str) -> None:
    """The modules that `import numpy` loads; they need their docstrings to be there at import.

    `folder`: an empty one to unpack the archive into.
    """
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    sys.path.insert(0, folder)
    importlib.import_module("numpy")
    loaded = {
        str(module.__file__).removeprefix(f"{folder}/")
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "numpy" and getattr(module, "__file__", None)
    }
    compile_archive(archive, SITE_PACKAGES, 0, loaded.__contains__)
