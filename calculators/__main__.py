"""Calculators in a terminal: `python -m calculators list | schema NAME | run NAME '{...}'`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from calculators import contract
from calculators.page import error_text
from calculators.render import notice_texts
from calculators.specs import InputError
from calculators.text import lookup

LANGUAGE = "en"
MAX_INPUT_CHARACTERS = 1_000_000


class UsageError(Exception):
    """Something the caller can mend; its text is one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the CLI; 0, or 2 with one line on stderr and nothing on stdout."""
    parser = argparse.ArgumentParser(prog="python -m calculators", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="all calculators, a line each")
    schema = commands.add_parser("schema", help="JSON Schema of the inputs")
    schema.add_argument("name")
    run = commands.add_parser("run", help="evaluate; missing inputs take their defaults")
    run.add_argument("name")
    run.add_argument("inputs", nargs="?", default="{}", help="a JSON object, or - for stdin")
    options = parser.parse_args(arguments)
    try:
        print(_output(options))
    except UsageError as error:
        print(f"calculators: {error}", file=sys.stderr)
        return 2
    return 0


def _output(options: argparse.Namespace) -> str:
    if options.command == "list":
        return "\n".join(f"{n:24}{lookup(LANGUAGE, n, 'title')}" for n in contract.names())
    if options.name not in contract.names():
        known = ", ".join(contract.names())
        raise UsageError(f"no calculator {options.name[:60]!r}; there are: {known}")
    if options.command == "schema":
        found = contract.schema(
            options.name, lambda field: lookup(LANGUAGE, options.name, "inputs", field)
        )
        return json.dumps(found, indent=2)
    return _run(options.name, options.inputs)


def _run(name: str, text: str) -> str:
    if text == "-":
        text = sys.stdin.read(MAX_INPUT_CHARACTERS + 1)
    if len(text) > MAX_INPUT_CHARACTERS:
        size = f"at least {len(text)}"
        raise UsageError(f"inputs are {size} characters; at most {MAX_INPUT_CHARACTERS} allowed")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:120]
        raise UsageError(f"inputs are not JSON ({reason}); give an object such as '{{}}'") from None
    try:
        inputs, result = contract.evaluate(name, raw)
    except InputError as error:
        raise UsageError(error_text(name, error, LANGUAGE)) from None
    except contract.MissingDataError as error:
        raise UsageError(f"{error}; run `python -m experiments run language_model`") from None
    body = {
        "calculator": name,
        "inputs": inputs,
        "values": result.values,
        "notices": notice_texts(name, result, LANGUAGE),
    }
    return json.dumps(body, allow_nan=False)


if __name__ == "__main__":
    sys.exit(main())
