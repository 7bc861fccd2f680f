"""python -m experiments list | run | verify | show."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from experiments import compare, registry
from experiments.errors import BadRequest, ExperimentError, RunFailed
from experiments.record import FOLDER, RecordError, load, problems
from experiments.run import Request, is_joining, join, run
from experiments.show import table

BACKENDS = ("gloo", "nccl")


def parser() -> argparse.ArgumentParser:
    """The command line; argparse ends a wrong one with exit status 2."""
    top = argparse.ArgumentParser(prog="experiments", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="every experiment and the state of its records")
    runs = commands.add_parser("run", help="run experiments and write their records")
    runs.add_argument("names", nargs="*", metavar="NAME")
    runs.add_argument("--stale", action="store_true", help="only those whose record is not fresh")
    runs.add_argument("--world-size", type=int, default=0, metavar="N")
    runs.add_argument("--port", type=int, default=0, help="of the store; a free one when absent")
    verify = commands.add_parser("verify", help="run again and compare with the record")
    verify.add_argument("names", nargs="*", metavar="NAME")
    verify.add_argument("--all", action="store_true", help="every experiment")
    verify.add_argument("--quick", action="store_true", help="a subset that takes under a minute")
    show = commands.add_parser("show", help="a record as a table")
    show.add_argument("names", nargs="+", metavar="NAME")
    for command in (runs, verify, show):
        command.add_argument("--backend", choices=BACKENDS, default="gloo")
        command.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="records")
    for command in (runs, verify):
        command.add_argument(
            "--timeout", type=float, default=60.0, help="seconds a rank may be silent"
        )
    return top


def record_state(name: str, backend: str, folder: Path = FOLDER) -> str:
    """`fresh`, `stale`, `changed`, `unreadable` or `no record`."""
    path = registry.record_path(name, backend, folder)
    if not path.is_file():
        return "no record"
    try:
        found = problems(load(path), folder=folder)
    except RecordError:
        return "unreadable"
    if not found:
        return "fresh"
    return "stale" if "stale" in found[0] else "changed"


def list_command(package: str) -> None:
    """One line an experiment: name, state of the record of each backend, title."""
    for name, entry in registry.entries(package).items():
        states = {backend: record_state(name, backend) for backend in BACKENDS}
        told = ", ".join(f"{backend}: {state}" for backend, state in states.items())
        print(f"{name:20} {told:32} {entry.title}")


def run_command(arguments: argparse.Namespace, package: str) -> None:
    """Run each experiment in turn; the first that fails ends the command."""
    names = list(arguments.names)
    if not (names or arguments.stale):
        raise BadRequest("run: name an experiment, or give --stale; `list` names them")
    for name in names:
        registry.check_name(name, package)
    for name in names or registry.entries(package):
        # Looked at in its turn: a record that was just renewed can make a later one stale.
        if arguments.stale and record_state(name, arguments.backend, arguments.out) == "fresh":
            continue
        request = Request(
            name,
            arguments.backend,
            arguments.world_size,
            arguments.timeout,
            arguments.port,
            package,
        )
        act = join if is_joining() else run
        path = act(request, arguments.out)
        if path is not None:
            print(f"wrote {path}")


def verify_command(arguments: argparse.Namespace, package: str) -> None:
    """Verify each experiment; the first value that differs ends the command."""
    names = compare.chosen(arguments.names, arguments.all, arguments.quick, package)
    for name in names:
        request = Request(name, arguments.backend, 0, arguments.timeout, 0, package)
        print(compare.verify(request, arguments.out).sentence(), flush=True)


def show_command(arguments: argparse.Namespace, package: str) -> None:
    """Print each record as a table."""
    for name in arguments.names:
        registry.check_name(name, package)
        path = registry.record_path(name, arguments.backend, arguments.out)
        try:
            print(table(load(path)))
        except RecordError as error:
            raise BadRequest(str(error)) from error


def _end(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def dispatch(arguments: argparse.Namespace, package: str) -> None:
    """Do what the command line asks for."""
    if arguments.command == "list":
        list_command(package)
    elif arguments.command == "run":
        run_command(arguments, package)
    elif arguments.command == "verify":
        verify_command(arguments, package)
    else:
        show_command(arguments, package)


def main(argv: list[str] | None = None, package: str = "experiments") -> int:
    """Exit status: 0 done, 1 a run failed or a value differs, 2 a bad request, 130 interrupted."""
    arguments = parser().parse_args(argv)
    previous = signal.signal(signal.SIGTERM, _end)
    try:
        dispatch(arguments, package)
    except ExperimentError as error:
        if error.detail:
            print(error.detail, file=sys.stderr)
        print(f"experiments: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("experiments: interrupted; every rank was stopped", file=sys.stderr)
        return 130
    except OSError as error:
        failed = RunFailed(f"{error.strerror or error} ({error.filename or 'system'})")
        print(f"experiments: {failed}; nothing was written", file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGTERM, previous)
    return 0


if __name__ == "__main__":
    sys.exit(main())
