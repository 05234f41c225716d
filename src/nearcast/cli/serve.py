"""`nearcast serve`."""

import argparse
import json
from dataclasses import MISSING
from typing import Any

from nearcast.cli.commands import CommandFailed, Commands, Parsers
from nearcast.service.settings import (
    CONFIGURATION_VARIABLE,
    ENVIRONMENT_PREFIX,
    kind_of,
    load_settings,
    setting_fields,
)

_DESCRIPTION = f"""\
Run the service: publish and subscribe over HTTP, durable delivery, a live map. Everything is kept
in one data folder. The first start makes a token for an admin and shows it once.

Each option can also be a key of a TOML file, or a variable: port, {ENVIRONMENT_PREFIX}PORT, --port;
the later ones win.
"""


def add(commands: Commands) -> Parsers:
    """Declare the command; its options are the settings."""
    parser = commands.add_parser(
        "serve",
        help="run the service: an API, durable delivery and a live map",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config", metavar="FILE", help=f"a TOML file of settings (or {CONFIGURATION_VARIABLE})"
    )
    for field in setting_fields():
        kind = kind_of(field.name)
        flag = "--" + field.name.replace("_", "-")
        text = field.metadata["text"].replace("%", "%%")
        if kind is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, help=f"{text} (no)")
        else:
            default = "" if field.default is MISSING else f" ({field.default})"
            metavar = {"data": "DIR", "host": "HOST", "port": "PORT"}.get(field.name, kind.__name__)
            parser.add_argument(flag, metavar=metavar.upper(), help=text + default)
    parser.add_argument("--json", action="store_true", help="say what happens in JSON, a line each")
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C or a signal to end."""
    flags = {field.name: getattr(options, field.name) for field in setting_fields()}
    settings = load_settings(flags, options.config)
    try:
        from nearcast.service.server import run
    except ModuleNotFoundError as error:
        raise CommandFailed(
            f"{error.name} is not installed; install nearcast[service,spark]"
        ) from None

    def say(text: str, **facts: Any) -> None:
        print(json.dumps(facts) if options.json else text, flush=True)

    run(settings, say)
    return 0
