"""`nearcast match`."""

import argparse
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearcast.cli.commands import CommandFailed, Commands, Parsers
from nearcast.pipeline.files.formats import FORMATS, REJECTS_SUFFIXES, RESULT_SUFFIXES

if TYPE_CHECKING:
    from nearcast.pipeline.files.job import MatchJob, MatchReport

PARTITIONINGS = ("auto", "hash", "location", "keyword")

_DESCRIPTION = """\
Find which subscriptions each message concerns, with Spark on all cores of this machine.

SUBSCRIPTIONS have id, keywords (an expression, or a list of words) and a region: none for
everywhere, GeoJSON in region, or west, south, east, north. MESSAGES have id, text (or a list
of keywords), and lon, lat, or west, south, east, north. Other columns are ignored.

Both are files, or folders of files, by suffix: .csv, .jsonl, .ndjson, .geojson, .parquet, and
all but the last also with .gz. In CSV the first line names the columns, an empty cell is null,
and ids are strings. In JSON ids are strings or integers, as the first one is. In GeoJSON a
feature is a subscription with its geometry as the region, or a message at a point or box; the
rest are properties.
"""


def add(commands: Commands) -> Parsers:
    """Declare the command."""
    parser = commands.add_parser(
        "match",
        help="find which subscriptions the messages of a file concern",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("subscriptions", type=Path, metavar="SUBSCRIPTIONS")
    parser.add_argument("messages", type=Path, metavar="MESSAGES")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=_result,
        metavar="OUT",
        help=f"where the matches go, one file by suffix: {', '.join(RESULT_SUFFIXES)}; "
        "or an empty folder, or a new one if it ends in /, for Parquet files",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="the format of input whose suffix does not say it"
    )
    parser.add_argument(
        "--rejects",
        type=_rejects,
        metavar="FILE",
        help=f"where rows that break a rule go, by suffix: {', '.join(REJECTS_SUFFIXES)}",
    )
    parser.add_argument(
        "--partitioning",
        choices=PARTITIONINGS,
        default="auto",
        help="how subscriptions are divided among tasks (auto: whatever costs least)",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as a JSON object")
    parser.set_defaults(run=run)
    return [parser]


def run(options: argparse.Namespace) -> int:
    """Match, and print the summary."""
    from nearcast.cli.progress import progress_on_stderr
    from nearcast.pipeline.files.job import MatchJob

    # Py4J logs an interruption with its trace; without any handler that would be printed.
    logging.getLogger().addHandler(logging.NullHandler())
    out, in_parts = options.output
    job = MatchJob(
        subscriptions=options.subscriptions,
        messages=options.messages,
        out=out,
        in_parts=in_parts,
        rejects=options.rejects,
        format=options.format,
        partitioning=options.partitioning,
    )
    job.check()  # before Spark is loaded, which takes a while
    with progress_on_stderr(quiet=options.json) as progress:
        report = _match(job, progress)
    print(json.dumps(_record(job, report)) if options.json else _summary(job, report))
    return 0


def _match(job: "MatchJob", progress: Any) -> "MatchReport":
    from nearcast.pipeline.java import NoJava

    try:
        from nearcast.pipeline import spark_session  # noqa: F401  says what to install if need be
        from nearcast.pipeline.files.matching import MatchingFailed, match_files
    except ModuleNotFoundError as error:
        raise CommandFailed(str(error)) from None
    try:
        return match_files(job, progress)
    except (MatchingFailed, NoJava) as error:
        raise CommandFailed(str(error)) from error


def _result(text: str) -> tuple[Path, bool]:
    """Where to, and whether that is a folder; for argparse."""
    path = Path(text)
    if text.endswith("/") or path.is_dir():
        return path, True
    if path.suffix not in RESULT_SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{text!r} has none of the suffixes {', '.join(RESULT_SUFFIXES)}; give one of them, "
            "or end it with / for a folder"
        )
    return path, False


def _rejects(text: str) -> Path:
    path = Path(text)
    if path.suffix not in REJECTS_SUFFIXES:
        raise argparse.ArgumentTypeError(
            f"{text!r} has none of the suffixes {', '.join(REJECTS_SUFFIXES)}; give one of them"
        )
    return path


def _summary(job: "MatchJob", report: "MatchReport") -> str:
    lines = [
        f"{report.matches:,} matches of {report.subscriptions:,} subscriptions and "
        f"{report.messages:,} messages in {report.seconds:.1f} s, written to {job.out}",
        f"plan: {report.partitioning}, {report.shards} shards; {report.why}",
    ]
    if report.busiest:
        lines.append("busiest subscriptions:")
        width = max(len(f"{count:,}") for _, count in report.busiest)
        lines += [f"  {count:>{width},}  {id}" for id, count in report.busiest]
    rejected = report.rejected_subscriptions + report.rejected_messages
    if rejected:
        where = f"see {job.rejects}" if job.rejects else "--rejects FILE writes them with reasons"
        lines.append(
            f"rejected: {report.rejected_subscriptions:,} subscriptions and "
            f"{report.rejected_messages:,} messages; {where}"
        )
    return "\n".join(lines)


def _record(job: "MatchJob", report: "MatchReport") -> dict[str, Any]:
    return {
        "matches": report.matches,
        "subscriptions": report.subscriptions,
        "messages": report.messages,
        "rejected_subscriptions": report.rejected_subscriptions,
        "rejected_messages": report.rejected_messages,
        "busiest": [{"subscription_id": id, "matches": count} for id, count in report.busiest],
        "partitioning": report.partitioning,
        "shards": report.shards,
        "why": report.why,
        "seconds": report.seconds,
        "file": str(job.out),
        "rejects_file": None if job.rejects is None else str(job.rejects),
    }
