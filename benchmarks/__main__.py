"""`python -m benchmarks run NAME` and `python -m benchmarks plot`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.boolean import churn
from benchmarks.catalogue import CATALOGUE, find
from benchmarks.oracle import WrongAnswerError
from benchmarks.records import Record, write_records
from benchmarks.runners import run_figure
from benchmarks.workloads import DATA

RESULTS = Path(__file__).resolve().parent / "results"

_COLUMNS = {
    "µs/message": "microseconds_per_message",
    "candidates": "candidates_per_message",
    "matches": "matches_per_message",
    "build s": "build_seconds",
    "insert µs": "insert_microseconds",
    "remove µs": "remove_microseconds",
    "move µs": "microseconds_per_move",
    "AMP µs": "arriving_microseconds",
    "EMP µs": "expiring_microseconds",
    "matching µs": "matching_microseconds",
    "updating µs": "updating_microseconds",
    "buffered": "buffered_per_subscription",
    "RSS": "rss_bytes",
    "bytes/sub.": "bytes_per_subscription",
    "messages/s": "messages_per_second",
    "batch ms": "batch_milliseconds",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 done, 1 failed with one line on stderr, 2 wrong usage."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the help or what is wrong
        return 0 if stop.code is None else int(stop.code)
    try:
        return _plot() if options.command == "plot" else _run(options)
    except ValueError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except WrongAnswerError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure and write a JSON file")
    run.add_argument("name", metavar="NAME", help=f"one of {', '.join(CATALOGUE)}")
    run.add_argument("--index", metavar="A,B", help="only these classes")
    run.add_argument("--subscriptions", type=_positive, metavar="N")
    run.add_argument("--messages", type=_positive, metavar="N")
    run.add_argument("--data", choices=DATA, help="default: synthetic; for a figure, all it shows")
    run.add_argument("--only", metavar="TEXT", help="only the panels with this in their name")
    run.add_argument(
        "--seconds", type=_positive, metavar="N", help=f"how long {churn.NAME} goes on"
    )
    run.add_argument("--full", action="store_true", help="the papers' sizes")
    run.add_argument(
        "--json", type=Path, metavar="FILE", help="default: in benchmarks/results/local"
    )
    commands.add_parser("plot", help="draw benchmarks/results/**/*.json")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not positive")
    return value


def _run(options: argparse.Namespace) -> int:
    figure = find(options.name)
    path = options.json or RESULTS / "local" / f"{figure.name.replace('/', '-')}.json"

    def keep(so_far: Sequence[Record]) -> None:
        write_records(so_far, path)

    records = run_figure(figure, options, keep)
    console = Console()
    console.width = max(console.width, 180)  # narrower, the numbers would be cut off
    console.print(_table(records))
    print(f"{len(records)} records in {path}")
    return 0


def _table(records: Sequence[Record]) -> Table:
    table = Table("index", "data", "x")
    # What no record has is not shown.
    shown = {
        title: field
        for title, field in _COLUMNS.items()
        if any(getattr(record, field) is not None for record in records)
    }
    for title in shown:
        table.add_column(title, justify="right")
    for record in records:
        numbers = (getattr(record, field) for field in shown.values())
        texts = ("" if number is None else f"{number:,.2f}" for number in numbers)
        table.add_row(record.series, record.data, str(record.x), *texts)
    return table


def _plot() -> int:
    from benchmarks.plot import plot_folder
    from benchmarks.ratios import refresh_pages
    from benchmarks.scale.page import refresh_page

    drawn = [path for folder in (RESULTS, RESULTS / "local") for path in plot_folder(folder)]
    drawn += refresh_pages(RESULTS) + refresh_page(RESULTS)
    for path in drawn:
        print(path)
    if not drawn:
        print(f"no results in {RESULTS}; measure first: python -m benchmarks run NAME")
    return 0


if __name__ == "__main__":
    sys.exit(main())
