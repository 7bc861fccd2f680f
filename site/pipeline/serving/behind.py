"""Behind the editor's back: the whole build, its checks and its search index, in a process apart.

It starts when the editor rests, is ended when the editor goes on, and tells what it found as one
JSON line. What it writes is where the server takes the search index from.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from pipeline import faults
from pipeline.code import PROJECT
from pipeline.errors import Finding
from pipeline.model import Checked, Options

FOLDER = "serve"
NICENESS = 10


def site_of(options: Options) -> Path:
    """Where the site lies that is built behind the editor's back."""
    return options.cache / FOLDER / "site"


class Behind:
    """At most one such build at a time."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.process: asyncio.subprocess.Process | None = None

    async def findings(self) -> list[Finding] | None:
        """Build; what is wrong with the site, None when the build was ended or broke off."""
        await self.stop()
        given = (self.options.root, self.options.cache, int(self.options.is_draft))
        environment = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'site'}"}
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pipeline.serving.behind", *map(str, given),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=environment, cwd=PROJECT, start_new_session=True,
        )  # fmt: skip
        process = self.process
        said, _ = await process.communicate()
        if process.returncode != 0 or not said:
            return None
        return [Finding(**item) for item in json.loads(said)]

    async def stop(self) -> None:
        """End the build that runs, with all that it has started."""
        process, self.process = self.process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            await process.wait()


def build(options: Options) -> Sequence[Finding]:
    """All steps. The site is written although there may be errors: it is only searched in."""
    from pipeline import assets, plots, search, tex
    from pipeline.bind import bind
    from pipeline.check import check
    from pipeline.load import load
    from pipeline.parse import parse
    from pipeline.render import render
    from pipeline.write import write

    try:
        parsed = parse(load(options), partial(tex.render_all, cache=options.cache))
        resolved = bind(parsed, partial(plots.draw_all, cache=options.cache))
        checked = check(render(resolved, assets.publish))
        write(Checked(checked.rendered, ()), search.index)
    except Exception as error:  # what stops the build is a finding like the others
        return faults.findings(error, PROJECT, "mend it")
    return checked.findings


def main(arguments: Sequence[str]) -> int:
    """ROOT CACHE DRAFT: build, and print the findings as JSON."""
    root, cache, is_draft = Path(arguments[0]), Path(arguments[1]), arguments[2] == "1"
    os.nice(NICENESS)
    options = Options(root, cache, cache, is_draft=is_draft)
    found = build(replace(options, out=site_of(options)))
    print(json.dumps([asdict(item) for item in found]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
