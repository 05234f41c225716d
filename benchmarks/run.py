"""Measure the points of a figure or a room, one after the other, in this process."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks import limit
from benchmarks.figure import Point
from benchmarks.measure import measure, measure_limit
from benchmarks.oracle import Expected, ask_oracle
from benchmarks.progress import bar
from benchmarks.records import Record
from benchmarks.workloads import Settings, Workload, make

Keep = Callable[[list[Record]], None]


def run_points(name: str, points: Sequence[Point], keep: Keep) -> list[Record]:
    """A record for each point, and one of the limit kernel for each place in the figure.

    `keep` gets the records so far after each measurement, so that an interrupted run loses little.
    """
    records: list[Record] = []
    prepared: tuple[Settings, Workload, Expected] | None = None
    lines: NDArray[np.int64] | None = None
    limits: set[tuple[str, float | str, Settings]] = set()
    with bar(len(points)) as progress:
        for point in points:
            if prepared is None or prepared[0] != point.settings:
                prepared = None  # frees the last workload before the next is made
                progress.say(f"making {point.settings.data} data")
                workload = make(point.settings)
                progress.say("asking the oracle")
                prepared = (point.settings, workload, ask_oracle(workload))
            _, workload, expected = prepared
            series = point.series or point.contender.series

            def say(step: str, what: str = f"{series} at {point.x}") -> None:
                progress.say(f"{what}: {step}")

            measurement = measure(
                name,
                point.contender,
                workload,
                expected,
                built_share=point.built_share,
                say=say,
                series=series,
                group=point.group,
                x=point.x,
            )
            records.append(measurement.record)
            place = (point.group, point.x, point.settings)
            if place not in limits and point.contender.most_pairs is None:
                limits.add(place)
                if lines is None:
                    progress.say("making the limit's memory")
                    lines = limit.scattered_cycle(limit.BYTES)
                progress.say("limit")
                records.append(
                    measure_limit(
                        name,
                        workload,
                        measurement.match_start,
                        lines,
                        group=point.group,
                        x=point.x,
                    )
                )
            keep(records)
            progress.advance()
    return records
