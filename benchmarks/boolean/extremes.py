"""`boolean-extremes`: does anything blow up?

Each case at half its size and at its size: what is linear takes up to twice as long, what is
quadratic four times. `python -m benchmarks plot` writes the table.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.boolean.extreme_cases import CASES, Case
from benchmarks.contenders import DEFAULT, ROOM, Contender
from benchmarks.figure import MACHINE, MATCHING, PAPER, Figure, Panel
from benchmarks.markdown import number, table
from benchmarks.measure import build, measure, rehearse
from benchmarks.oracle import ask_oracle
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep

NAME = "boolean-extremes"
USUAL = tuple(dict.fromkeys((DEFAULT, "APTree")))  # the others take part when asked for
_TIMES = {
    "build s": "build_seconds",
    "µs/message": "microseconds_per_message",
    "insert µs": "insert_microseconds",
    "remove µs": "remove_microseconds",
}


def run_extremes(
    indexes: Sequence[str], subscriptions: int, keep: Keep, *, pass_seconds: float
) -> list[Record]:
    """Two records for each case and index; the second one says how much longer it took."""
    records: list[Record] = []
    with bar(2 * len(CASES) * len(indexes)) as progress:
        for case in CASES:
            whole = case.size(subscriptions)
            before: dict[str, Record] = {}
            for size in (max(1, whole // 2), whole):
                contenders = [ROOM[index] for index in indexes]
                for record in _measure(
                    case, subscriptions, size, contenders, pass_seconds, progress
                ):
                    records.append(_with_growth(record, before.get(record.index)))
                    keep(records)
                    before[record.index] = record
    return records


def _measure(
    case: Case,
    subscriptions: int,
    size: int,
    contenders: Sequence[Contender],
    pass_seconds: float,
    progress: Bar,
) -> list[Record]:
    progress.say(f"{case.name}: making {size:,} {case.size_of}")
    workload = case.make(subscriptions, size)
    expected = ask_oracle(workload)
    records = []
    for contender in contenders:
        what = f"{contender.index} with {case.name}"

        def say(step: str, what: str = what) -> None:
            progress.say(f"{what}: {step}")

        say("compiling")
        rehearse(contender, workload)
        measurement = measure(
            NAME,
            contender,
            workload,
            expected,
            build(contender, workload, say=say),
            pass_seconds=pass_seconds,
            say=say,
            series=contender.index,
            group=case.name,
            x=f"{size:,} {case.size_of}",
        )
        records.append(measurement.record)
        progress.advance()
    return records


def _with_growth(record: Record, half: Record | None) -> Record:
    """Says how many times as long each step takes as at half the size."""
    if half is None:
        return record
    growth = {title: _times(record, half, field) for title, field in _TIMES.items()}
    return replace(record, details={"growth": growth})


def _times(record: Record, half: Record, field: str) -> float | None:
    before, now = getattr(half, field), getattr(record, field)
    return now / before if before else None


def write_table(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each case and index, with the growth in parentheses."""
    header = ("case", "index", "size", *_TIMES, "matches/message", "bytes/subscription")
    lines = [
        (
            row["group"],
            row["index"],
            row["x"],
            *(_cell(row, title, field) for title, field in _TIMES.items()),
            number(row["matches_per_message"]),
            number(row["bytes_per_subscription"]),
        )
        for row in rows
        if "growth" in row["details"]
    ]
    return (
        f"In parentheses: how many times as much as at half the size.\n\n{table(header, lines)}\n"
    )


def _cell(row: dict[str, Any], title: str, field: str) -> str:
    return f"{number(row[field])} (x{number(row['details']['growth'][title])})"


FIGURE = Figure(
    name=NAME,
    title="Does anything blow up?",
    x_label="",
    finding="At half the size and at the whole: what is linear takes up to twice as long.",
    panels=tuple(Panel(case.name, case.name, *MATCHING) for case in CASES),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_extremes`
    machine=replace(MACHINE, pass_seconds=1.0),
    paper=replace(PAPER, pass_seconds=1.0),
)
