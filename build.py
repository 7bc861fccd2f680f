"""Build the site: load -> parse -> bind -> render -> check -> write.

python build.py                      the site into dist/
python build.py --check              look, write nothing; exit 1 if something is wrong
python build.py --only SLUG          one chapter, into .cache/only/
python build.py --serve              build, serve, rebuild on every change
python build.py --stamp              say which translations follow their original again
python build.py new chapter SLUG     a new chapter, calculator or experiment, ready to fill
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "site")) if path not in sys.path]

# Calculators are small: more threads cost more than they save, and could change a last digit.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from jinja2 import TemplateError  # noqa: E402

from pipeline import faults  # noqa: E402
from pipeline.errors import BuildError, Finding, has_errors  # noqa: E402
from pipeline.model import Options  # noqa: E402
from pipeline.node import NodeError  # noqa: E402
from pipeline.stamp import stamp  # noqa: E402
from pipeline.steps import build  # noqa: E402
from pipeline.vendor import VendorError  # noqa: E402


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="folder to build into (dist)")
    parser.add_argument("--root", type=Path, default=ROOT, help="folder that holds content/")
    parser.add_argument("--cache", type=Path, help="folder of what is kept (ROOT/.cache)")
    parser.add_argument("--only", default="", metavar="SLUG", help="build this chapter only")
    parser.add_argument("--check", action="store_true", help="look at everything, write nothing")
    parser.add_argument("--draft", action="store_true", help="build what is there of the content")
    parser.add_argument("--format", choices=("text", "github"), default="text")
    parser.add_argument("--stamp", action="store_true", help="confirm translations one by one")
    parser.add_argument("--serve", action="store_true", help="serve and rebuild on every change")
    parser.add_argument("--port", type=int, default=8000, help="port of --serve (8000)")
    return parser.parse_args(arguments)


def options_of(given: argparse.Namespace) -> Options:
    """What the arguments ask for. A single chapter never replaces the whole site by default."""
    root = given.root.resolve()
    cache = given.cache or root / ".cache"
    out = given.out or (cache / "only" if given.only else root / "dist")
    return Options(root, out, cache, given.only, given.draft, given.check)


def report(findings: Sequence[Finding], style: str) -> None:
    """Print all findings at once, then how many there are."""
    for finding in findings:
        print(finding.as_github() if style == "github" else _line(finding), file=sys.stderr)
    errors = sum(finding.level == "error" for finding in findings)
    if findings:
        print(f"{errors} errors, {len(findings) - errors} warnings", file=sys.stderr)


def _line(finding: Finding) -> str:
    return str(finding) if finding.level == "error" else f"{finding} (warning)"


def run(options: Options, style: str) -> int:
    """One build, reported. The exit status."""
    started = time.perf_counter()
    try:
        findings, written = build(options)
    except (BuildError, TemplateError) as error:
        report(faults.findings(error, ROOT, "mend the template"), style)
        return 1
    except (NodeError, VendorError, OSError) as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # calculators and experiments are code: what they do wrong is told
        report(faults.findings(error, ROOT, "mend it"), style)
        return 1
    report(findings, style)
    if written is not None:
        seconds = time.perf_counter() - started
        print(
            f"{written.out}: {written.pages} pages, {written.files} files, "
            f"build {written.build}, {seconds:.2f} s"
        )
    return int(has_errors(findings))


def main(arguments: Sequence[str]) -> int:
    """The command. Exit status 0, or 1 with everything that is wrong on standard error."""
    if arguments[:1] == ["new"]:
        from pipeline import new

        return int(new.main(ROOT, arguments[1:]))
    given = parse_arguments(arguments)
    options = options_of(given)
    if given.stamp:
        print("\n".join(stamp(options, input)) or "nothing stamped")
        return 0
    if given.serve:
        from pipeline import serve

        return int(serve.main(options, given.port))
    return run(options, given.format)


if __name__ == "__main__":
    gc.freeze()  # what is imported stays, and most of what a build makes: seldom look for rest
    gc.set_threshold(50_000)
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.stdout.flush()
    os._exit(status)  # the system takes back at once what Python would free piece by piece
