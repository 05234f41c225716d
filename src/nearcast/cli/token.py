"""`nearcast token`."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearcast.cli.commands import CommandFailed, Commands, Parsers
from nearcast.service.settings import load_settings

if TYPE_CHECKING:
    from nearcast.service.stores.tokens import Token, Tokens

ROLES = ("publisher", "subscriber", "admin")


def add(commands: Commands) -> Parsers:
    """Declare the command and what it does with tokens."""
    text = "make, list and revoke the tokens of a service, whether it runs or not"
    parser = commands.add_parser("token", help=text, description=text)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = _add_action(actions, "create", "make a token and show it, once", _create)
    create.add_argument("name", metavar="NAME", help="whom it stands for: the subscriber's name")
    create.add_argument(
        "--role",
        action="append",
        required=True,
        choices=ROLES,
        help="what it may do; give it several times for several roles",
    )
    everyone = _add_action(actions, "list", "show all tokens, without their secrets", _list)
    revoke = _add_action(actions, "revoke", "end a token at once", _revoke)
    revoke.add_argument("id", metavar="ID", help="of the token, as `list` shows it")
    return [parser, create, everyone, revoke]


def _add_action(actions: Commands, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text)
    parser.add_argument("--data", metavar="DIR", help="the data folder of the service")
    parser.add_argument(
        "--config", metavar="FILE", help="the settings of the service, which name it"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)
    return parser


def _create(options: argparse.Namespace) -> int:
    with _tokens(options) as tokens:
        token, secret = tokens.create(options.name, options.role)
    if options.json:
        print(json.dumps({**_record(token), "token": secret}))
    else:
        print(f"{secret}\n{token.id} for {token.name}; it cannot be shown again")
    return 0


def _list(options: argparse.Namespace) -> int:
    with _tokens(options) as tokens:
        found = tokens.all()
    if options.json:
        print(json.dumps([_record(token) for token in found]))
        return 0
    for token in found:
        day = datetime.fromtimestamp(token.created, UTC).strftime("%Y-%m-%d %H:%M")
        print(f"{token.id}  {day}  {token.name}  {', '.join(sorted(token.roles))}")
    return 0


def _revoke(options: argparse.Namespace) -> int:
    with _tokens(options) as tokens:
        if not tokens.revoke(options.id):
            raise CommandFailed(f"there is no token {options.id!r}; `nearcast token list` has all")
    print(json.dumps({"revoked": options.id}) if options.json else f"revoked {options.id}")
    return 0


@contextmanager
def _tokens(options: argparse.Namespace) -> "Iterator[Tokens]":
    from nearcast.service.data_folder import DataFolder
    from nearcast.service.stores.registry import open_registry
    from nearcast.service.stores.tokens import Tokens

    path = Path(load_settings({"data": options.data}, options.config).data)
    if not path.is_dir():  # a typing error must not make a folder
        raise CommandFailed(f"{path} is not there; start the service once, or make the folder")
    registry = open_registry(DataFolder.open(path))
    try:
        yield Tokens(registry)
    finally:
        registry.close()


def _record(token: "Token") -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "roles": sorted(token.roles),
        "created": token.created,
    }
