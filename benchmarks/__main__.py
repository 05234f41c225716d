"""`python -m benchmarks run NAME` and `python -m benchmarks plot`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.catalogue import CATALOGUE, find
from benchmarks.figure import Point, Scale
from benchmarks.oracle import WrongAnswerError
from benchmarks.pipeline.figure import FIGURE as PIPELINE
from benchmarks.records import Record, write_records
from benchmarks.run import Keep, run_points
from benchmarks.service.figure import FIGURE as SERVICE
from benchmarks.workloads import DATA

RESULTS = Path(__file__).resolve().parent / "results"

MACHINE_SUBSCRIPTIONS, PAPER_SUBSCRIPTIONS = 1_000_000, 5_000_000
MACHINE_INSERTED = 200_000
MACHINE_MESSAGES, PAPER_MESSAGES = 20_000, 100_000
MACHINE_SIZES = (100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000)
_COLUMNS = {
    "µs/message": "microseconds_per_message",
    "candidates": "candidates_per_message",
    "matches": "matches_per_message",
    "build s": "build_seconds",
    "insert µs": "insert_microseconds",
    "bytes/sub.": "bytes_per_subscription",
    "messages/s": "messages_per_second",
    "batch ms": "batch_milliseconds",
}
PAPER_SIZES = (1_000_000, 5_000_000, 10_000_000, 15_000_000, 20_000_000)


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

    if figure is PIPELINE:
        records = _run_pipeline(options, keep)
    elif figure is SERVICE:
        records = _run_service(options, keep)
    else:
        scale = _scale(options, is_room="/" not in figure.name)
        records = run_points(figure.name, _choose(list(figure.points(scale)), options), keep)
    console = Console()
    console.width = max(console.width, 110)  # narrower, the numbers would be cut off
    console.print(_table(records))
    print(f"{len(records)} records in {path}")
    return 0


def _run_pipeline(options: argparse.Namespace, keep: Keep) -> list[Record]:
    if options.index not in (None, "APTree"):
        raise ValueError(f"pipeline has no index {options.index!r}; it has APTree")
    from benchmarks.pipeline.run import Sizes, run_pipeline  # starts with loading Spark

    sizes = Sizes.at_most(options.subscriptions, options.messages)
    return run_pipeline(sizes, options.data or DATA[0], keep)


def _run_service(options: argparse.Namespace, keep: Keep) -> list[Record]:
    if options.index not in (None, "APTree"):
        raise ValueError(f"service has no index {options.index!r}; it has APTree")
    from benchmarks.service.run import Load, run_service

    load = Load(subscriptions=options.subscriptions or Load.subscriptions)
    return run_service(load, options.data or DATA[0], keep)


def _scale(options: argparse.Namespace, *, is_room: bool) -> Scale:
    subscriptions = PAPER_SUBSCRIPTIONS if options.full else MACHINE_SUBSCRIPTIONS
    sizes: tuple[int, ...] = PAPER_SIZES if options.full else MACHINE_SIZES
    inserted = PAPER_SUBSCRIPTIONS if options.full else MACHINE_INSERTED
    if options.subscriptions:
        subscriptions = inserted = options.subscriptions
        sizes = (subscriptions,)
    messages = PAPER_MESSAGES if options.full else MACHINE_MESSAGES
    data = (options.data,) if options.data else DATA[:1] if is_room else DATA
    return Scale(subscriptions, options.messages or messages, data, sizes, inserted)


def _choose(points: list[Point], options: argparse.Namespace) -> list[Point]:
    """The points of the wanted classes."""
    if options.index:
        wanted = options.index.split(",")
        present = sorted({point.contender.index for point in points})
        for index in wanted:
            if index not in present:
                raise ValueError(
                    f"{options.name} has no index {index!r}; it has {', '.join(present)}"
                )
        points = [point for point in points if point.contender.index in wanted]
    if not points:
        raise ValueError(f"{options.name} has nothing to measure on {options.data}")
    return points


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

    drawn = [path for folder in (RESULTS, RESULTS / "local") for path in plot_folder(folder)]
    for path in drawn:
        print(path)
    if not drawn:
        print(f"no results in {RESULTS}; measure first: python -m benchmarks run NAME")
    return 0


if __name__ == "__main__":
    sys.exit(main())
