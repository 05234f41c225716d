"""`boolean-recommend`: how often is `nearcast.boolean.recommend` right, and what do errors cost?

It sees the subscriptions and the history; the indexes are measured on the messages after it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import mean
from time import perf_counter
from typing import Any

import nearcast.boolean as room
from benchmarks.boolean.grid import SWEEPS, cells
from benchmarks.contenders import ROOM
from benchmarks.figure import MACHINE, PAPER, Figure, Point, Scale, compare
from benchmarks.markdown import place, table
from benchmarks.records import Record
from benchmarks.run import Keep, run_points
from benchmarks.workloads import Settings, Workload, make

NAME = "boolean-recommend"
# The ends and the middle of each sweep.
_SWEEPS = tuple(replace(sweep, values=sweep.values[::2]) for sweep in SWEEPS)


def points(scale: Scale) -> Iterator[Point]:
    choice = (contender for name, contender in ROOM.items() if name != "ScanIndex")
    return compare(cells(scale, _SWEEPS), choice)


def run_recommend(points: Sequence[Point], keep: Keep, *, pass_seconds: float) -> list[Record]:
    """The measured indexes, and for each workload a record of the one that was recommended."""
    records = run_points(NAME, points, keep, pass_seconds=pass_seconds)
    workload: Workload | None = None
    for (settings, group, x), indexes in _measured(points, records).items():
        same = workload and workload.settings.of_subscriptions == settings.of_subscriptions
        workload = make(settings, workload if same else None)
        records.append(_recommended(room.recommend, workload, indexes, group, x))
        keep(records)
    return records


def _measured(
    points: Sequence[Point], records: Sequence[Record]
) -> dict[tuple[Settings, str, float | str], dict[str, Record]]:
    """The records of each workload by index; they come in the order of the points."""
    of_indexes = (record for record in records if record.index != "limit")
    found: dict[tuple[Settings, str, float | str], dict[str, Record]] = {}
    for point, record in zip(points, of_indexes, strict=True):
        found.setdefault((point.settings, point.group, point.x), {})[record.index] = record
    return found


def _recommended(
    recommend: Callable[..., Any],
    workload: Workload,
    indexes: dict[str, Record],
    group: str,
    x: float | str,
) -> Record:
    start = perf_counter()
    advice = recommend(workload.subscriptions, workload.history)
    seconds = perf_counter() - start
    if advice.index not in indexes:
        measured = ", ".join(indexes)
        raise ValueError(f"{advice.index} was recommended but not measured; measured: {measured}")
    fastest = min(indexes.values(), key=lambda record: record.microseconds_per_message)
    chosen = indexes[advice.index]
    return replace(
        chosen,
        index="recommend",
        series="recommended",
        group=group,
        x=x,
        details={
            "recommended": advice.index,
            "reason": advice.reason,
            "predicted_microseconds": dict(advice.costs),
            "fastest": fastest.index,
            "loss": chosen.microseconds_per_message / fastest.microseconds_per_message - 1,
            "seconds": seconds,
        },
    )


def write_table(rows: Sequence[dict[str, Any]]) -> str:
    """How often it was right, then every workload."""
    asked = [row for row in rows if row["index"] == "recommend"]
    details = [row["details"] for row in asked]
    right = sum(detail["recommended"] == detail["fastest"] for detail in details)
    losses = [detail["loss"] for detail in details]
    header = ("data", "varies", "x", "recommended", "fastest", "loss", "reason")
    lines = (
        (
            row["data"],
            row["group"],
            place(row["x"]),
            detail["recommended"],
            detail["fastest"],
            f"{100 * detail['loss']:.0f}%",
            detail["reason"],
        )
        for row, detail in zip(asked, details, strict=True)
    )
    return (
        f"Right in {right} of {len(asked)} workloads; to follow it costs {100 * mean(losses):.1f}% "
        f"on average and {100 * max(losses):.0f}% at worst.\n\n{table(header, lines)}\n"
    )


FIGURE = Figure(
    name=NAME,
    title="The index that was recommended, and the fastest one",
    x_label="",
    finding="",
    panels=(),  # a table instead
    points=points,
    machine=replace(MACHINE, subscriptions=200_000, pass_seconds=0.15),
    paper=replace(PAPER, subscriptions=1_000_000, messages=20_000, pass_seconds=1.0),
)
