"""Measure the points of a figure or a room, one after the other, in this process."""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from benchmarks import limit
from benchmarks.contenders import Contender
from benchmarks.figure import Point
from benchmarks.measure import Built, build, measure, measure_limit, rehearse
from benchmarks.oracle import Expected, ask_oracle, oracle_of
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.workloads import Settings, Workload, make

Keep = Callable[[list[Record]], None]
Prepared = dict[Settings, tuple[Workload, Expected]]


def run_points(
    name: str, points: Sequence[Point], keep: Keep, *, pass_seconds: float
) -> list[Record]:
    """A record for each point, and one of the limit kernel for each place in the figure.

    `keep` gets the records so far after each measurement, so that an interrupted run loses little.
    """
    with bar(len(points)) as progress:
        run = _Run(name, keep, pass_seconds, progress)
        for _, group in groupby(points, key=lambda point: point.settings.of_subscriptions):
            run.group(list(group))
    return run.records


class _Run:
    """The records so far, and what the next points may use again."""

    def __init__(self, name: str, keep: Keep, pass_seconds: float, progress: Bar) -> None:
        self.records: list[Record] = []
        self._name = name
        self._keep = keep
        self._pass_seconds = pass_seconds
        self._progress = progress
        self._lines: NDArray[np.int64] | None = None
        self._limits: set[tuple[str, float | str, Settings]] = set()
        self._rehearsed: set[tuple[Contender, bool]] = set()

    def group(self, points: list[Point]) -> None:
        """Points with the same subscriptions; an index is kept while the next point wants it."""
        prepared = self._prepare(points)
        recipe: object = None
        built: Built | None = None
        for point in points:
            workload, expected = prepared[point.settings]
            contender = point.contender
            self._rehearse(point, workload)
            learnt = point.settings if contender.learns else None
            if built is None or recipe != (contender, point.built_share, learnt):
                built = None  # frees it before the next is made
                built = build(
                    contender, workload, built_share=point.built_share, say=self._say(point)
                )
                recipe = (contender, point.built_share, learnt)
            self._measure(point, workload, expected, built)
            self._keep(self.records)
            self._progress.advance()

    def _rehearse(self, point: Point, workload: Workload) -> None:
        """Compile what this index needs for messages of this kind, unless that was done."""
        kind = (point.contender, point.settings.message_area is None)
        if kind not in self._rehearsed:
            self._rehearsed.add(kind)
            self._say(point)("compiling")
            rehearse(point.contender, workload)

    def _prepare(self, points: list[Point]) -> Prepared:
        """The workload of each point and the oracle's answers; the oracle itself then goes."""
        wanted = dict.fromkeys(point.settings for point in points)
        prepared: Prepared = {}
        oracle, like = None, None
        for settings in wanted:
            self._progress.say(f"making {settings.data} data")
            like = make(settings, like)
            self._progress.say("asking the oracle")
            oracle = oracle_of(like) if oracle is None else oracle
            prepared[settings] = (like, ask_oracle(like, oracle))
        return prepared

    def _measure(self, point: Point, workload: Workload, expected: Expected, built: Built) -> None:
        place = {"group": point.group, "x": point.x}
        measurement = measure(
            self._name,
            point.contender,
            workload,
            expected,
            built,
            pass_seconds=self._pass_seconds,
            say=self._say(point),
            series=point.series or point.contender.series,
            **place,
        )
        self.records.append(measurement.record)
        if (point.group, point.x, point.settings) in self._limits:
            return
        self._limits.add((point.group, point.x, point.settings))
        if self._lines is None:
            self._progress.say("making the limit's memory")
            self._lines = limit.scattered_cycle(limit.BYTES)
        self._progress.say("limit")
        lowest = measure_limit(self._name, workload, measurement, self._lines, **place)
        self.records.append(lowest)

    def _say(self, point: Point) -> Callable[[str], None]:
        what = f"{point.series or point.contender.series} at {point.x}"
        return lambda step: self._progress.say(f"{what}: {step}")
