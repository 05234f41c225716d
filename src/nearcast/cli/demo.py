"""`nearcast demo`."""

import argparse

from nearcast.cli import values
from nearcast.cli.commands import Commands, Parsers


def add(commands: Commands) -> Parsers:
    """Declare the command."""
    text = "watch a simulated city: people talk, subscriptions match"
    parser = commands.add_parser("demo", help=text, description=text)
    parser.add_argument(
        "--seconds",
        type=values.seconds,
        metavar="N",
        help="end N seconds after the first message (default: on Ctrl-C)",
    )
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Show the city."""
    from nearcast.demo import run

    return run(options.seconds)
