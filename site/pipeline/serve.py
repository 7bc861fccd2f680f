"""Serve: the book while it is being written. A saved change is in the open page at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import uvicorn
import watchfiles

from pipeline.code import PROJECT
from pipeline.errors import Finding
from pipeline.model import Options
from pipeline.serving import terminal
from pipeline.serving.app import LAST, Server
from pipeline.serving.behind import Behind
from pipeline.serving.changes import Changes, sort
from pipeline.serving.limits import limit
from pipeline.serving.workshop import Workshop

HOST = "127.0.0.1"
PORTS_TRIED = 20
STEP = 5  # milliseconds without a further change after which changes are taken
REST = 1.0  # seconds without a change after which the whole site is looked at
_PLACE = re.compile(r'^\s*File "(.+)", line (\d+)')
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(options: Options, port: int) -> int:
    """Serve until interrupted. The exit status."""
    sys.dont_write_bytecode = True
    try:
        listener = listen(port)
    except OSError as error:
        print(f"build.py: port {port}: {error.strerror}; name another with --port", file=sys.stderr)
        return 1
    with listener:
        found = listener.getsockname()[1]
        if found != port:
            terminal.say(f"port {port} is in use, taking {found}")
        session = Session(options, listener)
        again = asyncio.run(session.run())
    if again:
        arguments = [*_without_port(sys.argv), "--port", str(found)]
        os.execv(sys.executable, [sys.executable, *arguments])
    terminal.say("stopped")
    if not session.has_ended:  # a computation that nothing interrupts would be waited for
        os._exit(0)
    return 0


def _without_port(arguments: Sequence[str]) -> Iterator[str]:
    """The command line without --port and its number."""
    skips = False
    for item in arguments:
        if not skips and not item.startswith("--port"):
            yield item
        skips = item == "--port"


def listen(port: int) -> socket.socket:
    """A listening socket at `port` or the next one that is free. Raises OSError."""
    for candidate in range(port, port + PORTS_TRIED):
        # Said to be TCP, or asyncio leaves it to the system when an answer goes out: 40 ms late.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen(128)
        except OverflowError:
            listener.close()
            raise OSError(0, "ports go up to 65535") from None
        except OSError:
            listener.close()
            if candidate == port + PORTS_TRIED - 1:
                raise
            continue
        return listener
    raise AssertionError("unreachable")


class _Quiet(uvicorn.Server):
    """Leaves the signals to the session."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: see `Session.run`."""
        yield


class Session:
    """One run of the server, until it is stopped or its own code has changed."""

    def __init__(self, options: Options, listener: socket.socket) -> None:
        self.options, self.listener = options, listener
        self.server = Server(Workshop(options))
        self.server.tell = self._tell
        self.behind = Behind(options)
        self.stopping = asyncio.Event()
        self.resting: asyncio.Task[None] | None = None
        self.from_behind: list[Finding] = []
        self.own: tuple[Finding, ...] = ()
        self.is_again, self.has_ended = False, True

    async def run(self) -> bool:
        """Serve; whether to start again with other code."""
        loop = asyncio.get_running_loop()
        for name in SIGNALS:
            loop.add_signal_handler(name, self.stopping.set)
        config = uvicorn.Config(
            self.server.app(), log_level="error", timeout_graceful_shutdown=1, lifespan="off"
        )
        web = _Quiet(config)
        working = [
            asyncio.create_task(web.serve([self.listener])),
            asyncio.create_task(self._watch()),
            asyncio.create_task(self._open()),
        ]
        for task in working[:2]:
            task.add_done_callback(lambda _: self.stopping.set())
        working[2].add_done_callback(self._opened)
        await self.stopping.wait()
        limit.end()
        if self.resting is not None:
            self.resting.cancel()
        await self.behind.stop()
        self.server.hub.close()
        web.should_exit = True
        await asyncio.wait(working, timeout=LAST)
        self.has_ended = self.server.close()
        return self.is_again

    def _opened(self, task: asyncio.Task[None]) -> None:
        """A book that cannot even be tried is the end, and the reason of it."""
        if not task.cancelled() and task.exception() is not None:
            self.stopping.set()
            task.result()

    async def _open(self) -> None:
        port = self.listener.getsockname()[1]
        started = time.perf_counter()
        terminal.say(f"reading {self.options.root}")
        await self.server.work(self.server.workshop.open)
        book = self.server.workshop.holdings.book
        pages = len(self.server.workshop.holdings.documents)
        terminal.say(f"{pages} pages in {time.perf_counter() - started:.2f} s")
        first = book.languages[0].id if book else ""
        terminal.say(f"serving http://{HOST}:{port}/{first + '/' if first else ''}  (Ctrl-C stops)")
        await self._tell()
        self._rest()

    # -- changes -------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Take changes until the session stops."""
        root = self.options.root
        places = [root / "content", root / "experiments", PROJECT / "calculators", PROJECT / "site"]
        watched = {path for path in (*places, PROJECT / "build.py") if path.exists()}
        changed = watchfiles.awatch(
            *watched, step=STEP, debounce=100, stop_event=self.stopping, rust_timeout=1000
        )
        async for found in changed:
            changes = sort((Path(path) for _, path in found), root, PROJECT)
            if not changes.is_empty:
                await self._change(changes)

    async def _change(self, changes: Changes) -> None:
        started = time.perf_counter()
        if self.resting is not None:
            self.resting.cancel()
        self.behind.end()
        if "code" in changes.parts and await self._can_start():
            self.is_again = True
            self.stopping.set()
            return
        # A chapter's languages are compared: what was said of one may be the other's.
        touched = (*changes.names, *(f"content/{slug}/" for slug in changes.chapters))
        self.from_behind = [f for f in self.from_behind if not f.file.startswith(touched)]
        await self.server.work(self.server.workshop.change, changes)
        shown = await self._show(changes)
        took = (time.perf_counter() - started) * 1000
        terminal.say(f"{terminal.named(changes.names)}: {took:.0f} ms, {shown} open pages changed")
        await self.server.work(self.server.workshop.look, changes.chapters)
        await self._tell()
        self._rest()

    async def _show(self, changes: Changes) -> int:
        """Tell the open pages how they are now."""
        hub, shown = self.server.hub, 0
        for path in sorted(hub.paths()):
            html = await self.server.work(self.server.workshop.page, path)
            if html is not None:
                shown += hub.show(path, html)
        names = sorted(self.server.workshop.holdings.calculations.edited)
        if changes.calculators or "sentences" in changes.parts:
            hub.tell({"kind": "calculators", "names": names})
        return shown

    async def _tell(self) -> None:
        """Say what is wrong, in the pages and here, if that is news."""
        found = await self.server.work(self.server.workshop.findings)
        # A draft's errors are warnings to the build; whoever writes it wants to see them.
        known = {replace(item, level="error"): item for item in (*self.from_behind, *self.own)}
        known |= {replace(item, level="error"): item for item in found}
        everything = sorted(known.values())
        errors = [item for item in everything if item.level == "error"]
        root = self.options.root
        before = self.server.hub.troubles
        self.server.hub.trouble(terminal.described(item, root) for item in errors)
        if self.server.hub.troubles != before:
            terminal.report(everything, root)
            if not errors:
                terminal.say("mended")

    async def _can_start(self) -> bool:
        """Whether the changed code starts; if not, why is told like any other error."""
        command = [sys.executable, "-B", "-c", "import build; from pipeline import serve"]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, check=False, cwd=PROJECT
        )
        if done.returncode == 0:
            self.own = ()
            terminal.say("the build's own code has changed, starting again")
            return True
        self.own = (_own_fault(done.stderr, done.returncode),)
        return False

    def _rest(self) -> None:
        self.resting = asyncio.create_task(self._look_at_all())

    async def _look_at_all(self) -> None:
        """After a rest, the whole site: its checks and its search index."""
        await asyncio.sleep(REST)
        started = time.perf_counter()
        found = await self.behind.findings()
        if found is not None:
            self.from_behind = found
            errors = sum(item.level == "error" for item in found)
            took = f"{time.perf_counter() - started:.1f} s"
            terminal.say(f"whole site checked in {took}: {errors} errors, "
                         f"{len(found) - errors} warnings; search is up to date")  # fmt: skip
            await self._tell()


def _own_fault(said: str, status: int) -> Finding:
    """Why the build's own code does not start: the last place of it that Python names."""
    lines = said.strip().splitlines() or [f"exit status {status}"]
    places = [found for line in lines if (found := _PLACE.search(line))]
    inside = [found for found in places if Path(found[1]).is_relative_to(PROJECT)]
    file, at = (Path(inside[-1][1]), int(inside[-1][2])) if inside else (PROJECT / "build.py", 1)
    name = file.relative_to(PROJECT).as_posix()
    rule = "the build's own code must start"
    return Finding(name, at, "build does not start", lines[-1], rule, "mend it, and save")
