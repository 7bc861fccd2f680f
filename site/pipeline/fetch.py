"""Where numpy's WebAssembly wheel may come from: not who hands it over matters but its hash."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PYODIDE = "0.29.0"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
# A package whose wheel carries Pyodide's numpy wheel unchanged, for places that reach a Python
# package index and nothing else.
CARRIER = "gbdraw==0.14.2"
CARRIER_FOLDER = "gbdraw/web/vendor/pyodide-wheels/"
CDN_TIMEOUT = 5.0
CARRIER_TIMEOUT = 300.0


class SourceError(Exception):
    """A source does not have the file; says why in a few words."""


@dataclass(frozen=True)
class Source:
    """Somewhere a file may come from: `fetch` takes its name and returns bytes or raises
    `SourceError`."""

    name: str
    fetch: Callable[[str], bytes]


def from_cdn(name: str) -> bytes:
    """From Pyodide's public network; a place without it answers within seconds."""
    # Imported here: with TLS they take longer than many a build, and one build in the life of a
    # checkout needs them.
    import urllib.error
    import urllib.request

    request = urllib.request.Request(CDN + name, headers={"User-Agent": "same-update build"})
    try:
        with urllib.request.urlopen(request, timeout=CDN_TIMEOUT) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        raise SourceError(f"status {error.code}") from None
    except (OSError, ValueError) as error:
        raise SourceError(str(getattr(error, "reason", error)) or type(error).__name__) from None


def from_carrier(name: str) -> bytes:
    """The copy inside a package from the Python package index that pip is set up to use."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input",
           "--disable-pip-version-check", "--only-binary=:all:", "--retries=1"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [*pip, "--dest", folder, CARRIER],
                capture_output=True,
                text=True,
                timeout=CARRIER_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SourceError(f"pip took more than {CARRIER_TIMEOUT:g} s") from None
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise SourceError((errors or ["ERROR: pip failed"])[-1].removeprefix("ERROR: "))
        return _member(next(Path(folder).glob("*.whl")), CARRIER_FOLDER + name)


def _member(archive: Path, path: str) -> bytes:
    try:
        with zipfile.ZipFile(archive) as opened:
            return opened.read(path)
    except (KeyError, zipfile.BadZipFile):
        raise SourceError(f"{archive.name} does not hold {path}") from None


SOURCES = (
    Source("the Pyodide CDN", from_cdn),
    Source(f"the Python package {CARRIER}", from_carrier),
)
