"""The command line: parse, call, print.

A subcommand is a module with two functions: `add` declares its options, `run` runs it. What a
subcommand needs is imported when it runs, so that `nearcast --help` stays quick.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version

from nearcast.cli import demo, explain, generate, match, reshard, serve, token
from nearcast.cli.commands import CommandFailed

DONE, FAILED, WRONG_USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 wrong usage.

    A failure is one line on stderr; an exception that is not about the input is a bug and keeps its
    traceback.

    >>> main(["--version"])
    nearcast 0.1.0
    0
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = _parser().parse_args(_with_negative_numbers(given))
    except SystemExit as stop:  # argparse has printed the help or what is wrong
        return DONE if stop.code is None else int(stop.code)
    try:
        code: int = options.run(options)
    except BrokenPipeError:
        return _end_quietly()
    except (OSError, ValueError, CommandFailed) as error:
        return _fail(options.command, str(error))
    except KeyboardInterrupt:
        return _fail(options.command, "interrupted")
    return code


def _fail(command: str, reason: str) -> int:
    # Further lines of a message only illustrate the first.
    first_line = reason.partition("\n")[0]
    print(f"nearcast {command}: {first_line}", file=sys.stderr)
    return FAILED


def _end_quietly() -> int:
    """Whoever read our output has had enough, as `head` does: nothing to complain about."""
    # The interpreter flushes stdout once more at its end, and must not fail then.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def _with_negative_numbers(arguments: Sequence[str]) -> list[str]:
    """Join `--at -0.1,51.5` to `--at=-0.1,51.5`, which argparse would take for two options.

    >>> _with_negative_numbers(["explain", "--at", "-0.1,51.5", "--json"])
    ['explain', '--at=-0.1,51.5', '--json']
    """
    joined: list[str] = []
    for argument in arguments:
        is_number = re.match(r"-\.?\d", argument)
        if is_number and joined and re.fullmatch(r"--[a-z-]+", joined[-1]):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nearcast",
        description="Which subscriptions, words and a region each, does a message concern?",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = [
        parser,
        *demo.add(commands),
        *explain.add(commands),
        *generate.add(commands),
        *match.add(commands),
        *reshard.add(commands),
        *serve.add(commands),
        *token.add(commands),
    ]
    for each in parsers:
        each.add_argument("--version", action="version", version=f"nearcast {version('nearcast')}")
    return parser
