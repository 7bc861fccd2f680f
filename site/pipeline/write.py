"""Write: the site goes to a fresh folder beside the last one, then the two change places.

A build that fails or is killed leaves the last good site as it was; what it left is removed by
the next one. Only this step writes outside the cache.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline import bundle
from pipeline.errors import BuildError, Finding, has_errors
from pipeline.model import Checked
from pipeline.shell import BUILD_PLACEHOLDER

MANIFEST = "build.json"
SERVICE_WORKER = "sw.js"
LOCK_TIMEOUT = 60.0
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
Index = Callable[[Path], None]


@dataclass(frozen=True)
class Written:
    """What was written: where, how many pages and files, the hash of the whole."""

    out: Path
    pages: int
    files: int
    build: str


def write(checked: Checked, index: Index | None = None) -> Written:
    """The step. Raises `BuildError` with all findings when there are errors among them.

    `index` adds the search index to the finished folder, before the manifest is made.
    """
    if has_errors(checked.findings):
        raise BuildError(*checked.findings)
    options = checked.rendered.resolved.parsed.book.options
    out = options.out.absolute()
    _require_ours(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with _locked(options.cache, out):
        _remove_leftovers(out)
        fresh = out.with_name(f"{out.name}.building-{os.getpid()}")
        try:
            contents, build = _fill(fresh, checked, index)
            swap(fresh, out)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return Written(out, len(checked.rendered.pages), len(contents) + 1, build)


def _require_ours(out: Path) -> None:
    """A folder that no build made is not replaced."""
    if out.is_dir() and not (out / MANIFEST).exists() and any(out.iterdir()):
        raise BuildError(_refusal(out, "it is not empty and holds no build.json"))
    if out.exists() and not out.is_dir():
        raise BuildError(_refusal(out, "it is a file"))
    if out == Path.cwd() or out in Path.cwd().parents:
        raise BuildError(_refusal(out, "this is where the build runs"))


def _refusal(out: Path, rule: str) -> Finding:
    return Finding(
        str(out),
        1,
        "not a folder to build into",
        out.name,
        rule,
        "name another with --out, or empty it",
    )


@contextmanager
def _locked(cache: Path, out: Path) -> Iterator[None]:
    """One build at a time for one output folder; the lock ends with the process that holds it."""
    cache.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(out).encode()).hexdigest()[:16]
    with (cache / f"lock-{name}").open("w") as handle:
        deadline = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise BuildError(
                        Finding(
                            str(out),
                            1,
                            "another build",
                            out.name,
                            f"it has not ended within {LOCK_TIMEOUT:g} s",
                            "end it",
                        )
                    ) from None
                time.sleep(0.05)
        yield


def _remove_leftovers(out: Path) -> None:
    """With the lock held, a folder of an unfinished build belongs to nobody."""
    for path in out.parent.glob(f"{out.name}.building-*"):
        shutil.rmtree(path, ignore_errors=True)


def _contents(checked: Checked) -> dict[str, bytes]:
    rendered = checked.rendered
    contents = {path: html.encode() for path, html in rendered.pages.items()}
    for path, data in rendered.files.items():
        contents[path] = data if isinstance(data, bytes) else data.read_bytes()
    return contents


def _build_hash(contents: Mapping[str, bytes], worker: bytes) -> str:
    """The hash of all that is published; pages count with the placeholder in them."""
    total = hashlib.sha256(worker)
    for path in sorted(contents):
        total.update(f"{path}\0{hashlib.sha256(contents[path]).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def _fill(fresh: Path, checked: Checked, index: Index | None) -> tuple[dict[str, bytes], str]:
    """Write everything into `fresh`; all contents but the worker, and the hash of the build."""
    contents = _contents(checked)
    worker = checked.rendered.assets.service_worker
    build = _build_hash(contents, worker)
    for path in checked.rendered.pages:
        contents[path] = contents[path].replace(BUILD_PLACEHOLDER.encode(), build.encode())
    pages = {path: contents.pop(path) for path in checked.rendered.pages}
    _write_all(fresh, pages)
    with ThreadPoolExecutor(1) as aside:  # the index is made while everything else is written
        indexing = aside.submit(index, fresh) if index is not None else None
        _write_all(fresh, contents)
        contents |= pages
        if indexing is not None:
            indexing.result()
            contents |= _added(fresh, contents)
    (fresh / MANIFEST).write_bytes(bundle.build_manifest(contents, build))
    if worker:
        (fresh / SERVICE_WORKER).write_bytes(bundle.service_worker(worker, build))
    return contents, build


def _write_all(fresh: Path, contents: Mapping[str, bytes]) -> None:
    made: set[Path] = set()
    for path, data in contents.items():
        target = fresh / path
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        target.write_bytes(data)


def _added(fresh: Path, known: Mapping[str, bytes]) -> dict[str, bytes]:
    found = {}
    for path in sorted(fresh.rglob("*")):
        name = path.relative_to(fresh).as_posix()
        if path.is_file() and name not in known:
            found[name] = path.read_bytes()
    return found


def swap(fresh: Path, out: Path) -> None:
    """Put `fresh` in the place of `out`, in one step where the system can.

    The last site is then where `fresh` was.
    """
    if not out.exists():
        fresh.rename(out)
        return
    if _exchange(fresh, out):
        return
    # Without an exchange the site is away for the moment between two renames.
    old = out.with_name(f"{out.name}.building-{os.getpid()}-old")
    out.rename(old)
    try:
        fresh.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchange(left: Path, right: Path) -> bool:
    """Exchange two folders atomically; False where the system or file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done = rename(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _RENAME_EXCHANGE)
    if done != 0 and ctypes.get_errno() not in (errno.ENOSYS, errno.EINVAL):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(right))
    return bool(done == 0)
