"""`nearcast demo`."""

import argparse

from nearcast.cli import values
from nearcast.cli.commands import CommandFailed, Commands, Parsers


def add(commands: Commands) -> Parsers:
    """Declare the command."""
    text = "start the whole service here, with a simulated city that talks to it"
    parser = commands.add_parser("demo", help=text, description=text)
    parser.add_argument(
        "--seconds",
        type=values.seconds,
        metavar="N",
        help="end N seconds after the first message (default: on Ctrl-C)",
    )
    parser.add_argument(
        "--port",
        type=values.count,
        metavar="P",
        help="serve at this port (default: 8080, or a free one where that is taken)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address of the page, do not open it"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="keep the data here (default: removed at the end)"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as a JSON object")
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Run the demo."""
    try:
        from nearcast.demo import DemoFailed, run
        from nearcast.pipeline.java import NoJava
    except ModuleNotFoundError as error:
        raise CommandFailed(
            f"{error}; install what the service needs: pip install 'nearcast[service,spark]'"
        ) from None
    try:
        return run(
            seconds=options.seconds,
            port=options.port,
            browser=not options.no_browser,
            data=options.data,
            as_json=options.json,
        )
    except (DemoFailed, NoJava) as error:
        raise CommandFailed(str(error)) from None
