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
from pathlib import Path

from pipeline import faults
from pipeline.code import PROJECT
from pipeline.errors import Finding
from pipeline.model import Options

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

    def end(self) -> None:
        """Have the build that runs end, with all that it has started."""
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)

    async def stop(self) -> None:
        """End it, and wait until it has ended."""
        self.end()
        process, self.process = self.process, None
        if process is not None:
            await process.wait()


def build(options: Options) -> Sequence[Finding]:
    """All steps. The site is written although there may be errors: it is only searched in."""
    from pipeline import steps  # the server, which imports this module, needs none of it

    try:
        findings, _ = steps.build(options, is_trial=True)
    except Exception as error:  # what stops the build is a finding like the others
        return faults.findings(error, PROJECT, "mend it")
    return findings


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
