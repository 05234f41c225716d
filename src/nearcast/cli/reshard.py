"""`nearcast reshard`."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.cli.commands import CommandFailed, Commands, Parsers
from nearcast.cli.values import count

if TYPE_CHECKING:
    from nearcast.pipeline import Partitioning, Resharded

PARTITIONINGS = ("hash", "location", "keyword")
DISTRIBUTIONS = ("hash", "location", "keyword", "prefix")

_DESCRIPTION = """\
Divide the subscriptions of a stopped stream among another number of shards. Started again with its
checkpoint, the stream goes on exactly where it was: nothing is lost, nothing comes twice.

CHECKPOINT is the folder that the stream has as its checkpoint, or the data folder of a service.
"""


def add(commands: Commands) -> Parsers:
    """Declare the command."""
    parser = commands.add_parser(
        "reshard",
        help="give a stopped stream, or service, another number of shards",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT")
    parser.add_argument(
        "--shards", type=count, required=True, metavar="N", help="how many there are to be"
    )
    parser.add_argument(
        "--partitioning",
        choices=PARTITIONINGS,
        help="how subscriptions are divided (as they are now); location and keyword are planned "
        "from the subscriptions alone",
    )
    parser.add_argument(
        "--distribution",
        choices=DISTRIBUTIONS,
        help="how results are spread (as they are now), planned from the subscriptions and the "
        "messages that are remembered",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as a JSON object")
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Reshard, and print the summary."""
    from nearcast.cli.progress import progress_on_stderr

    try:
        from nearcast.pipeline import reshard
    except ModuleNotFoundError as error:
        raise CommandFailed(str(error)) from None

    with progress_on_stderr(quiet=options.json) as progress:
        done = reshard(
            _checkpoint(options.checkpoint),
            shards=options.shards,
            partitioning=options.partitioning,
            distribution=options.distribution,
            on_step=progress.phase,
        )
    print(json.dumps(_record(done)) if options.json else _summary(done))
    return 0


def _checkpoint(given: Path) -> Path:
    """The checkpoint itself; that of a service is in its data folder."""
    inside = given / "checkpoint"
    return inside if (inside / "nearcast").is_dir() else given


def _summary(done: "Resharded") -> str:
    before, after = done.before, done.after
    if not done.is_changed:
        return f"nothing to do: there are {before.shards} shards by {before.name} already"
    results = ""
    if done.results_before != done.results_after:
        results = f", results from {done.results_before} to {done.results_after}"
    return (
        f"{done.subscriptions:,} subscriptions, and {done.with_results:,} that have a result, "
        f"moved from {before.shards} shards by {before.name} to {after.shards} by {after.name}"
        f"{results}, as of batch {done.batch}"
    )


def _record(done: "Resharded") -> dict[str, object]:
    return {
        "before": _ways(done.before, done.results_before),
        "after": _ways(done.after, done.results_after),
        "batch": done.batch,
        "subscriptions": done.subscriptions,
        "with_results": done.with_results,
    }


def _ways(partitioning: "Partitioning", results: str) -> dict[str, object]:
    return {
        "partitioning": partitioning.name,
        "shards": partitioning.shards,
        "distribution": results,
    }
