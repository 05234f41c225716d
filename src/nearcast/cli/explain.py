"""`nearcast explain`."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from nearcast.cli import values
from nearcast.cli.commands import Commands, Parsers

if TYPE_CHECKING:
    from nearcast.explain import Explanation


def add(commands: Commands) -> Parsers:
    """Declare the command."""
    text = "say why a subscription wants a message, or why not"
    parser = commands.add_parser("explain", help=text, description=text)
    parser.add_argument(
        "--subscription",
        required=True,
        metavar="EXPRESSION",
        help="its words, such as 'ipad AND (discount OR sale)'",
    )
    region = parser.add_mutually_exclusive_group()
    region.add_argument("--box", type=values.box, metavar="W,S,E,N", help="its region, in degrees")
    region.add_argument("--circle", type=values.circle, metavar="LON,LAT,METRES", help="its region")
    region.add_argument("--region", metavar="GEOJSON", help="its region, as GeoJSON text")
    parser.add_argument("--text", required=True, help="the text of the message")
    parser.add_argument(
        "--at", required=True, type=values.point, metavar="LON,LAT", help="where the message is"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Print the explanation."""
    from nearcast.explain import explain
    from nearcast.model import Message, Subscription
    from nearcast.space import region_from_geojson

    region = options.box or options.circle
    if options.region is not None:
        region = region_from_geojson(options.region)
    explanation = explain(
        Subscription("given", options.subscription, region),
        Message("given", text=options.text, at=options.at),
    )
    print(json.dumps(_record(explanation)) if options.json else explanation)
    return 0


def _record(explanation: "Explanation") -> dict[str, Any]:
    return {
        "matches": explanation.matches,
        "words_match": explanation.words_match,
        "in_region": explanation.in_region,
        "distance_metres": explanation.distance,
        "clauses": [
            {
                "required": sorted(each.clause.required),
                "forbidden": sorted(each.clause.forbidden),
                "missing": sorted(each.missing),
                "unwanted": sorted(each.unwanted),
            }
            for each in explanation.clauses
        ],
    }
