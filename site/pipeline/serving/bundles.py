"""The assets of pages that are being edited: bundled again in milliseconds, fonts whole."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pipeline import bundle
from pipeline.code import PROJECT
from pipeline.errors import BuildError, Finding
from pipeline.model import Assets
from pipeline.node import NodeProgram
from pipeline.styles import OTHER_FORMATS

PROGRAM = PROJECT / "site" / "node" / "bundle.mjs"
MANIFEST = "runtime/manifest.json"
LIBRARY = "@observablehq/plot"  # large and never edited here: bundled once, on its own
SITE, THEME = "site/scripts/dev/site.js", "site/scripts/theme.js"
EARLY = "site/scripts/dev/early.js"
# What the site's scripts find in place of the browser's names, so that others can replace them.
SCOPE = ("site/scripts/dev/scope.js", "site/scripts/dev/workers.js")
# What pages name until there is something: a page without style or script is still a page.
NOTHING = {"main.css": "assets/none.css", "theme.js": "assets/none.js"}
PARTS = ("icons", "styles", "scripts")
KEPT = 60  # a page that has not been told yet still asks for an older bundle


class Bundler:
    """Scripts, styles and icons. `files` holds all that pages may still ask for."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = languages
        self.node = NodeProgram(PROGRAM)
        self.files: dict[str, bytes] = dict.fromkeys(NOTHING.values(), b"")
        self.urls: dict[str, str] = dict(NOTHING)
        self.once: dict[str, str] = {}
        self.recent: dict[str, None] = {}
        self.current: dict[str, set[str]] = {}  # by entry: the files of the bundle made last
        # By entry: the files that its bundle was made of, the constants in it, where it is.
        self.made: dict[str, set[str]] = {}
        self.names: dict[str, Mapping[str, Any] | None] = {}
        self.paths: dict[str, str] = {}
        self.warnings: list[Finding] = []  # of the bundle made last

    def assets(self) -> Assets:
        """What pages name."""
        return Assets(dict(self.urls), self.files)

    def styles(self) -> None:
        """The stylesheet."""
        path = self._bundled("main", "site/styles/main.css")
        sheet = self.files[path].decode()
        self.files[path] = OTHER_FORMATS.sub("", sheet).encode()
        self.urls["main.css"] = path
        # A browser leaves out what it cannot read, and so does the bundler; who writes it wants it.
        if self.warnings:
            raise BuildError(*self.warnings)

    def scripts(self, changed: Collection[str] | None = None) -> None:
        """The page's scripts: the part that listens to this server, which is told of the others.

        `changed` are the files to which they owe being bundled again; None: everything is.
        """
        if changed and not any(files & set(changed) for files in self.made.values()):
            changed = None  # new to all bundles
        shell = self._script("dev", "site/scripts/dev.js", changed)
        self.urls.setdefault("main.js", shell)
        worker = self._script("worker", "site/scripts/worker.js", changed)
        library = self._bundled("library", LIBRARY).removeprefix("assets/")
        # Words are no script: whoever has changed them names no file here.
        names = self.names.get(SITE) if changed else None
        site = self._script("main", SITE, changed, names=names or self._names(), inject=SCOPE,
                            apart={LIBRARY: f"../assets/{library}"})  # fmt: skip
        query = urlencode({"site": site.removeprefix("assets/"), "worker": worker})
        self.urls["main.js"] = f"{shell}?{query}"
        theme = self._script("theme", THEME, changed, form="iife", inject=(EARLY,))
        self.urls["theme.js"] = theme

    def _names(self) -> Mapping[str, Any]:
        """The constants of the site's scripts, but the worker's address, which the page gives."""
        words = {name: bundle.script_words(PROJECT, name) for name in self.languages}
        return {"WIKI_MANIFEST": MANIFEST, "WIKI_WORDS": words}

    def _script(
        self,
        name: str,
        entry: str,
        changed: Collection[str] | None,
        names: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> str:
        """A bundle's path: the one there is, unless one of its files or names has changed."""
        files = self.made.pop(entry, set())  # none when it did not bundle the last time
        is_same = files and names == self.names.get(entry)
        if changed is not None and is_same and not files & set(changed):
            self.made[entry] = files
            return self.paths[entry]
        self.paths[entry] = self._bundled(name, entry, names, **options)
        self.names[entry] = names
        return self.paths[entry]

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
        inject: Sequence[str] = (),
    ) -> str:
        if entry == LIBRARY and entry in self.once:
            return self.once[entry]
        define = {key: json.dumps(value) for key, value in (constants or {}).items()}
        request = {"name": name, "entry": entry, "format": form, "define": define}
        (reply,) = self.node.request([{**request, "apart": apart or {}, "inject": inject}])
        if "error" in reply:
            raise BuildError(_finding(entry, reply["error"]))
        self.warnings = [_finding(entry, item) for item in reply["warnings"]]
        made = {f"assets/{key}": value for key, value in reply["ok"]["files"].items()}
        self.files |= {key: base64.b64decode(value) for key, value in made.items()}
        self.current[entry] = set(made)
        self._forget_old(made)
        path = f"assets/{reply['ok']['entry']}"
        self.made[entry] = set(reply["ok"]["inputs"])
        if entry == LIBRARY:
            self.once[entry] = path
        return path

    def source(self, file: str, line: int, column: int) -> tuple[str, int] | None:
        """The file and the line that a place in a bundle comes from, if that is one of ours."""
        (reply,) = self.node.request([{"file": file, "line": line, "column": column}])
        found = reply["ok"]
        return (found["file"], found["line"]) if found else None

    def _forget_old(self, made: Mapping[str, Any]) -> None:
        for path in made:
            if path.endswith((".js", ".css")) and not path.startswith("assets/library-"):
                self.recent.pop(path, None)
                self.recent[path] = None
        # A sheet that nobody edits is named by every page, however often scripts are saved.
        named = set().union(*self.current.values())
        for path in [path for path in list(self.recent)[:-KEPT] if path not in named]:
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
        what=f"{kind} cannot be read",
        value=str(error.get("text") or "").strip(),
        rule=str(error["message"]),
        action=note or "correct that line",
    )
