"""`nearcast generate`."""

import argparse
import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from nearcast.cli import values
from nearcast.cli.commands import Commands, Parsers
from nearcast.cli.row_files import row_file, write_rows
from nearcast.model import Message, Point, Subscription

if TYPE_CHECKING:
    from nearcast.datasets import City

Rows = Iterator[dict[str, Any]]


def add(commands: Commands) -> Parsers:
    """Declare the command and what it generates."""
    text = "write messages or subscriptions of a simulated city, the same for the same seed"
    parser = commands.add_parser("generate", help=text, description=text)
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    return [
        parser,
        _add_kind(kinds, "messages", "what people write: id, text, lon, lat, time"),
        _add_kind(kinds, "subscriptions", "what people want: id, keywords, region (GeoJSON)"),
    ]


def _add_kind(kinds: Commands, kind: str, text: str) -> argparse.ArgumentParser:
    parser = kinds.add_parser(kind, help=text, description=text)
    parser.add_argument(
        "-n", "--count", type=values.count, default=1000, metavar="N", help="how many (1000)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="another seed is another city (0)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=row_file,
        metavar="FILE",
        help="where to, by suffix .csv, .jsonl or .parquet (default: JSON Lines on stdout)",
    )
    parser.add_argument("--json", action="store_true", help="with -o, report in JSON")
    parser.set_defaults(run=run)
    return parser


def run(options: argparse.Namespace) -> int:
    """Write the rows, and say so when they went to a file."""
    from nearcast.datasets import City

    city = City(seed=options.seed)
    if options.kind == "messages":
        columns, rows = _messages(city, options.count)
    else:
        columns, rows = _subscriptions(city, options.count)
    write_rows(rows, columns, options.output)
    if options.output is not None:
        if options.json:
            print(json.dumps({"rows": options.count, "file": str(options.output)}))
        else:
            print(f"wrote {options.count:,} {options.kind} to {options.output}")
    return 0


def _messages(city: "City", count: int) -> tuple[dict[str, str], Rows]:
    columns = {
        "id": "int64",
        "text": "string",
        "lon": "float64",
        "lat": "float64",
        "time": "float64",
    }
    messages = islice(chain.from_iterable(city.ticks()), count)
    return columns, map(_message_row, messages)


def _message_row(message: Message) -> dict[str, Any]:
    at = message.at
    assert isinstance(at, Point), "the city writes from points"
    return {
        "id": message.id,
        "text": message.text,
        "lon": at.lon,
        "lat": at.lat,
        "time": message.time,
    }


def _subscriptions(city: "City", count: int) -> tuple[dict[str, str], Rows]:
    columns = {"id": "string", "keywords": "string", "region": "string"}
    return columns, map(_subscription_row, city.subscriptions(count))


def _subscription_row(subscription: Subscription) -> dict[str, Any]:
    from nearcast.space import region_to_geojson

    region = subscription.region
    return {
        "id": subscription.id,
        "keywords": str(subscription.expression),
        "region": None if region is None else json.dumps(region_to_geojson(region)),
    }
