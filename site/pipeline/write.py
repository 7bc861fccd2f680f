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
from pipeline.bundle import Entry
from pipeline.errors import BuildError, Finding, has_errors
from pipeline.model import Checked, Rendered
from pipeline.shell import BUILD_PLACEHOLDER

MANIFEST = "build.json"
SERVICE_WORKER = "sw.js"
SEARCH = "pagefind"
SOURCES = ("content", "calculators", "experiments", "site", "tests")
LOCK_TIMEOUT = 60.0
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
Index = Callable[[], Mapping[str, bytes]]


@dataclass(frozen=True)
class Written:
    """What was written: where, how many pages and files, the hash of the whole."""

    out: Path
    pages: int
    files: int
    build: str


def write(checked: Checked, index: Index = dict) -> Written:
    """The step. Raises `BuildError` with all findings when there are errors among them.

    `index` gives the files of the search index, when it is ready.
    """
    if has_errors(checked.findings):
        raise BuildError(*checked.findings)
    options = checked.rendered.resolved.parsed.book.options
    out = options.out.absolute()
    _require_ours(out, options.root)
    with _locked(options.cache, out):
        _remove_leftovers(out)
        fresh = out.with_name(f"{out.name}.building-{os.getpid()}")
        try:
            files, build = _fill(fresh, checked, index)
            swap(fresh, out)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return Written(out, len(checked.rendered.pages), files, build)


def _require_ours(out: Path, root: Path) -> None:
    """A folder that no build made is not replaced, and none is made among the sources."""
    if any((root / name) in (out, *out.parents) for name in SOURCES):
        raise BuildError(_refusal(out, "the book's sources are there"))
    if out.is_dir() and not (out / MANIFEST).exists() and any(out.iterdir()):
        raise BuildError(_refusal(out, "it is not empty and holds no build.json"))
    if out.exists() and not out.is_dir():
        raise BuildError(_refusal(out, "it is a file"))
    if out == Path.cwd() or out in Path.cwd().parents:
        raise BuildError(_refusal(out, "this is where the build runs"))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"its folder cannot be made ({error.strerror})"
        raise BuildError(_refusal(out, rule)) from error


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


def _fill(fresh: Path, checked: Checked, index: Index) -> tuple[int, str]:
    """Write everything into `fresh`; how many files, and the hash of the build.

    What is large is written and hashed beside the pages: both leave the interpreter free.
    """
    rendered = checked.rendered
    fresh.mkdir()
    with ThreadPoolExecutor(2) as aside:
        indexing = aside.submit(index)
        others = aside.submit(_write_files, fresh, rendered.files)
        listed = dict(aside.map(_listed, rendered.files.items()))
        build = _build_hash(rendered, listed)
        for path, html in rendered.pages.items():
            data = html.replace(BUILD_PLACEHOLDER.encode(), build.encode())
            listed[path] = bundle.entry(data)
            _write_file(fresh / path, data)
        others.result()
        # The folder of the index is named by the build: its files have plain names, and a page of
        # one build must not search the index of another.
        for name, data in indexing.result().items():
            path = f"{SEARCH}/{build}/{name}"
            listed[path] = bundle.entry(data)
            _write_file(fresh / path, data)
    (fresh / MANIFEST).write_bytes(bundle.build_manifest(listed, build))
    worker = rendered.assets.service_worker
    if worker:
        (fresh / SERVICE_WORKER).write_bytes(bundle.service_worker(worker, build))
    return len(listed) + 1, build


def _build_hash(rendered: Rendered, others: Mapping[str, Entry]) -> str:
    """The hash of all that is published; pages count with the placeholder in them."""
    total = hashlib.sha256(rendered.assets.service_worker)
    for path in sorted([*rendered.pages, *others]):
        page = rendered.pages.get(path)
        digest = others[path].sha256 if page is None else bundle.digest(page)
        total.update(f"{path}\0{digest}\n".encode())
    return total.hexdigest()[:16]


def _listed(item: tuple[str, bytes | Path]) -> tuple[str, Entry]:
    path, data = item
    return path, bundle.entry(data if isinstance(data, bytes) else data.read_bytes())


def _write_files(fresh: Path, files: Mapping[str, bytes | Path]) -> None:
    for path, data in files.items():
        _write_file(fresh / path, data if isinstance(data, bytes) else data.read_bytes())


def _write_file(target: Path, data: bytes) -> None:
    try:
        target.write_bytes(data)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


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
