"""Measure points one after the other, those of the same settings on the same data."""

from collections.abc import Callable, Sequence
from dataclasses import replace
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
    needs, before its first point. What stands in a figure twice is measured once.
    """
    records: list[Record] = []
    rehearsed: set[str] = set()
    measured: dict[tuple[Any, Any], Record] = {}
    with bar(len(points)) as progress:
        for settings, group in groupby(points, key=lambda point: point.settings):
            here = list(group)
            if any((point.contender, settings) not in measured for point in here):
                progress.say(f"making {settings.data} data")
                workload = make(settings)
                progress.say("asking the oracle")
                expected = ask_oracle(workload)
            for point in here:
                if point.contender.index not in rehearsed:
                    rehearsed.add(point.contender.index)
                    progress.say(f"{point.contender.series}: compiling")
                    rehearse(point.contender)
                which = (point.contender, settings)
                if which not in measured:
                    measured[which] = measure(point, workload, expected, progress)
                records.append(replace(measured[which], group=point.group, x=point.x))
                keep(records)
                progress.advance()
    return records
