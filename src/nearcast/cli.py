"""The command line: parse, call, print.

A subcommand is two small functions: `_add_NAME` declares its options, `_NAME` runs it. What a
subcommand needs is imported when it runs, so that `nearcast --help` stays quick.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

DONE, FAILED, WRONG_USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrong usage.

    A failure is one line on stderr; an exception that is not about the input is a bug and keeps its
    traceback.

    >>> main(["--version"])
    nearcast 0.1.0
    0
    """
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the help or what is wrong
        return DONE if stop.code is None else int(stop.code)
    try:
        code: int = options.run(options)
    except (OSError, ValueError) as error:
        return _fail(options.command, str(error))
    except KeyboardInterrupt:
        return _fail(options.command, "interrupted")
    return code


def _fail(command: str, reason: str) -> int:
    # Further lines of a message only illustrate the first.
    first_line = reason.partition("\n")[0]
    print(f"nearcast {command}: {first_line}", file=sys.stderr)
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nearcast",
        description="Which subscriptions, words and a region each, does a message concern?",
    )
    _add_version(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_demo(commands)
    return parser


def _add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action="version", version=f"nearcast {version('nearcast')}")


def _add_demo(commands: "argparse._SubParsersAction[Any]") -> None:
    text = "watch a simulated city: people talk, subscriptions match"
    parser = commands.add_parser("demo", help=text, description=text)
    _add_version(parser)
    parser.add_argument(
        "--seconds", type=_seconds, metavar="N", help="end after N seconds (default: on Ctrl-C)"
    )
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from nearcast.demo import run

    return run(options.seconds)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, such as 20")
    return seconds
