"""What the server answers: pages as they are now, what they load, and news of changes."""

from __future__ import annotations

import asyncio
import json
import mimetypes
from collections.abc import Awaitable, Callable
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from calculators import page as calculators_page
from pipeline import bundle, vendor
from pipeline.code import PROJECT, digest
from pipeline.errors import BuildError
from pipeline.node import NodeError
from pipeline.serving.behind import site_of
from pipeline.serving.bundles import MANIFEST
from pipeline.serving.hub import Hub, Reader
from pipeline.serving.limits import limit
from pipeline.serving.workshop import Workshop

T = TypeVar("T")
LAST = 3.0  # seconds that a computation has to end when the server does
FRESH = {"Cache-Control": "no-store"}
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
TYPES = {".wasm": "application/wasm", ".mjs": "text/javascript", ".woff2": "font/woff2"}
NO_PAGE = """<!doctype html><meta charset="utf-8"><meta name="wiki-build" content="0">
<title>…</title><script type="module" src="/{script}"></script><main>{text}</main>"""


class Server:
    """The workshop, reached from one thread, and the pages that are open."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop, self.hub = workshop, Hub()
        self.site = site_of(workshop.holdings.options)
        self.thread = ThreadPoolExecutor(1, "workshop")
        self.others = ThreadPoolExecutor(1, "runtime")
        self.runtimes: dict[str, bundle.Runtime] = {}
        self.tell: Callable[[], Awaitable[None]] | None = None

    async def work(self, action: Callable[..., T], *given: Any) -> T:
        """Run `action` where nothing else touches the workshop."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, action, *given)

    def app(self) -> Starlette:
        """The application."""
        return Starlette(
            routes=[
                Route("/-/events", self.events),
                Route("/-/calculate", self.calculate, methods=["POST"]),
                Route("/-/thrown", self.thrown, methods=["POST"]),
                Route("/assets/{name}", self.asset),
                Route("/assets-{count:int}/{name}", self.asset),  # see dev/scripts.js
                Route("/runtime/{path:path}", self.runtime),
                Route("/records/{name}", self.record),
                Route("/pagefind/{build}/{path:path}", self.search),
                Route("/sw.js", self.service_worker),
                Route("/{path:path}", self.page),
            ]
        )

    async def page(self, request: Request) -> Response:
        """A page as it is now."""
        path = request.path_params["path"]
        if path.endswith("/") or not path:
            path += "index.html"
        html = await self.work(self.workshop.page, path)
        if html is not None:
            return Response(html, media_type="text/html", headers=FRESH)
        if await self.work(self.workshop.has, f"{path}/index.html"):
            return RedirectResponse(f"/{path}/")
        if self.workshop.renderer is None:
            return self._without_book()
        missing = await self.work(self.workshop.page, "404.html")
        return Response(missing or "", 404, media_type="text/html", headers=FRESH)

    def _without_book(self) -> Response:
        """Nothing can be shown yet: what is wrong, and a script that waits for the mending."""
        text = "".join(f"<p>{escape(str(item))}</p>" for item in self.workshop.findings())
        script = self.workshop.bundler.urls.get("main.js", "")
        return Response(NO_PAGE.format(script=script, text=text), 503, media_type="text/html")

    async def events(self, request: Request) -> Response:
        """News for one page; at once, if it shows something old."""
        path = request.query_params.get("path", "").removeprefix("/")
        path = path if path.endswith(".html") else f"{path}index.html"
        reader = Reader(path, request.query_params.get("build", ""))
        stream = self.hub.events(reader)
        self.hub.readers.add(reader)
        html = await self.work(self.workshop.page, path)
        if html is not None:
            self.hub.show(path, html)
        return StreamingResponse(stream, media_type="text/event-stream", headers=FRESH)

    async def calculate(self, request: Request) -> Response:
        """A calculator's answer from the code as it is now."""
        body = await request.body()
        try:
            answer = await self.work(_respond, body.decode())
        except Exception as error:  # an edited calculator may do anything
            text = f"{type(error).__name__}: {error}"
            answer = json.dumps({"ok": False, "field": "", "message": text})
        return Response(answer, media_type="application/json", headers=FRESH)

    async def thrown(self, request: Request) -> Response:
        """A page's scripts have thrown something: it is told like what does not build."""
        said = json.loads(await request.body())
        await self.work(self.workshop.thrown, str(said["message"]), str(said["stack"]))
        if self.tell is not None:
            await self.tell()
        return Response(status_code=204)

    async def asset(self, request: Request) -> Response:
        """A bundle, a font or an icon: its name holds its hash."""
        data = self.workshop.bundler.files.get(f"assets/{request.path_params['name']}")
        if data is None:
            return Response(status_code=404)
        return Response(data, media_type=_type(request.path_params["name"]), headers=KEPT)

    async def runtime(self, request: Request) -> Response:
        """Python for the page, and the calculators as they are now."""
        path = f"runtime/{request.path_params['path']}"
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self.others, self._runtime)
        except (vendor.VendorError, NodeError, BuildError, OSError) as error:
            return JSONResponse({"error": str(error)}, 503)
        is_manifest = path == MANIFEST
        data = found.files.get(found.manifest if is_manifest else path)
        if data is None:
            return Response(status_code=404)
        return Response(data, media_type=_type(path), headers=FRESH if is_manifest else KEPT)

    def _runtime(self) -> bundle.Runtime:
        folder = PROJECT / "calculators"
        key = digest([*folder.glob("*.py"), *folder.glob("strings/*.toml")])
        if key not in self.runtimes:
            vendored = vendor.runtime(PROJECT / ".cache").folder
            made = bundle.runtime(vendored, PROJECT, self.workshop.bundler.languages)
            self.runtimes = {key: made}
        return self.runtimes[key]

    async def record(self, request: Request) -> Response:
        """A record's file."""
        book, name = self.workshop.holdings.book, request.path_params["name"]
        files = {
            key: p for r in (book.records.values() if book else ()) for key, p in r.files.items()
        }
        return (
            FileResponse(files[name], headers=FRESH) if name in files else Response(status_code=404)
        )

    async def search(self, request: Request) -> Response:
        """The search index, as it was last made."""
        found = next(iter(sorted((self.site / "pagefind").glob("*/"))), None)
        path = (found or self.site) / request.path_params["path"]
        if (
            found is None
            or not path.resolve().is_relative_to(found.resolve())
            or not path.is_file()
        ):
            return Response(status_code=404)
        return FileResponse(path, media_type=_type(path.name), headers=FRESH)

    async def service_worker(self, _: Request) -> Response:
        """One that takes itself and what others kept away: here everything is new."""
        text = (PROJECT / "site/scripts/dev/sw.js").read_text("utf-8")
        return Response(text, media_type="text/javascript", headers=FRESH)

    def close(self) -> bool:
        """Let the pages go and end the programs; whether all that ran has ended."""
        self.hub.close()
        limit.end()
        self.workshop.close()  # whoever waits for a program is let go
        last = self.thread.submit(self.workshop.close)
        has_ended = not futures.wait([last], LAST).not_done
        self.thread.shutdown(wait=False, cancel_futures=True)
        self.others.shutdown(wait=False, cancel_futures=True)
        return has_ended


def _respond(request: str) -> str:
    with limit.within():
        return calculators_page.respond(request)


def _type(name: str) -> str:
    return (
        TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    )
