"""Measure points one after the other, those of the same settings on the same data."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeVar

from benchmarks.points import Point
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep

_Workload = TypeVar("_Workload")
_Expected = TypeVar("_Expected")


def measure_in_turn(
    points: Sequence[Point[Any, Any]],
    keep: Keep,
    *,
    make: Callable[[Any], _Workload],
    ask_oracle: Callable[[_Workload], _Expected],
    rehearse: Callable[[Any], None],
    measure: Callable[[Any, _Workload, _Expected, Bar], Record],
) -> list[Record]:
    """A record for each point; `keep` gets those so far, so that an interrupted run loses little.

    `make` makes the workload of some settings, `rehearse` compiles what the class of a contender
    needs, before its first point.
    """
    records: list[Record] = []
    rehearsed: set[str] = set()
    with bar(len(points)) as progress:
        for settings, group in groupby(points, key=lambda point: point.settings):
            progress.say(f"making {settings.data} data")
            workload = make(settings)
            progress.say("asking the oracle")
            expected = ask_oracle(workload)
            for point in group:
                if point.contender.index not in rehearsed:
                    rehearsed.add(point.contender.index)
                    progress.say(f"{point.contender.series}: compiling")
                    rehearse(point.contender)
                records.append(measure(point, workload, expected, progress))
                keep(records)
                progress.advance()
    return records
