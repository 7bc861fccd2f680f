"""The assets of pages that are being edited: bundled again in milliseconds, fonts whole."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline import bundle
from pipeline.code import PROJECT
from pipeline.errors import BuildError, Finding
from pipeline.model import Assets
from pipeline.node import NodeProgram
from pipeline.styles import OTHER_FORMATS

PROGRAM = PROJECT / "site" / "node" / "bundle.mjs"
MANIFEST = "runtime/manifest.json"
LIBRARY = "@observablehq/plot"  # large and never edited here: bundled once, on its own
KEPT = 60  # a page that has not been told yet still asks for an older bundle


class Bundler:
    """Scripts, styles and icons. `files` holds all that pages may still ask for."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = languages
        self.node = NodeProgram(PROGRAM)
        self.files: dict[str, bytes] = {}
        self.urls: dict[str, str] = {}
        self.once: dict[str, str] = {}
        self.recent: dict[str, None] = {}

    def assets(self) -> Assets:
        """What pages name."""
        return Assets(dict(self.urls), self.files)

    def all(self) -> None:
        """Bundle everything. Raises `BuildError` for the first that does not bundle."""
        self.icons()
        self.styles()
        self.scripts()

    def styles(self) -> None:
        """The stylesheet."""
        path = self._bundled("main", "site/styles/main.css")
        sheet = self.files[path].decode()
        self.files[path] = OTHER_FORMATS.sub("", sheet).encode()
        self.urls["main.css"] = path

    def scripts(self) -> None:
        """The page's scripts, with the part that listens to this server."""
        worker = self._bundled("worker", "site/scripts/worker.js")
        library = self._bundled("library", LIBRARY).removeprefix("assets/")
        words = {name: bundle.script_words(PROJECT, name) for name in self.languages}
        names = {"WIKI_WORKER": worker, "WIKI_MANIFEST": MANIFEST, "WIKI_WORDS": words}
        apart = {LIBRARY: f"./{library}"}
        self.urls["main.js"] = self._bundled("main", "site/scripts/dev.js", names, apart)
        self.urls["theme.js"] = self._bundled("theme", "site/scripts/theme.js", form="iife")

    def icons(self) -> None:
        """The icons, each under a name of its own."""
        for path in sorted((PROJECT / "site" / "icons").iterdir()):
            if path.is_file():
                data = path.read_bytes()
                name = f"assets/{path.stem}-{hashlib.sha256(data).hexdigest()[:8]}{path.suffix}"
                self.files[name] = data
                self.urls[path.name] = name

    def _bundled(
        self,
        name: str,
        entry: str,
        constants: Mapping[str, Any] | None = None,
        apart: Mapping[str, str] | None = None,
        form: str = "esm",
    ) -> str:
        if entry == LIBRARY and entry in self.once:
            return self.once[entry]
        define = {key: json.dumps(value) for key, value in (constants or {}).items()}
        request = {"name": name, "entry": entry, "format": form, "define": define}
        (reply,) = self.node.request([{**request, "apart": apart or {}}])
        if "error" in reply:
            raise BuildError(_finding(entry, reply["error"]))
        made = {f"assets/{key}": value for key, value in reply["ok"]["files"].items()}
        self.files |= {key: base64.b64decode(value) for key, value in made.items()}
        self._forget_old(made)
        path = f"assets/{reply['ok']['entry']}"
        if entry == LIBRARY:
            self.once[entry] = path
        return path

    def _forget_old(self, made: Mapping[str, Any]) -> None:
        for path in made:
            if path.endswith((".js", ".css")) and not path.startswith("assets/library-"):
                self.recent.pop(path, None)
                self.recent[path] = None
        for path in list(self.recent)[:-KEPT]:
            del self.recent[path]
            self.files.pop(path, None)

    def close(self) -> None:
        """End the bundler's process."""
        self.node.close()


def _finding(entry: str, error: Mapping[str, Any]) -> Finding:
    kind = "style" if entry.endswith(".css") else "script"
    note = str(error.get("note") or "")
    return Finding(
        file=str(error.get("file") or entry),
        line=int(error.get("line") or 1),
        what=f"{kind} does not bundle",
        value=str(error.get("text") or "").strip(),
        rule=str(error["message"]),
        action=note or "correct that line",
    )
