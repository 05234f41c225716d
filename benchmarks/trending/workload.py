"""What indexes of trending terms are measured on, as in the paper: subscriptions, then documents.

A region is around the place of a message, half of them circles, half of them boxes that are up to
twice as long as wide, along or across; all have the same area. Who wants to know what is said
nearby is at the place of a message.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import cos, log, pi, radians, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.topk.source import Source, source_of
from benchmarks.trending.roads import on_roads
from nearcast.batches import MessageBatch
from nearcast.model import (
    Box,
    Circle,
    NearbyTrendingSubscription,
    Point,
    Region,
    TrendingSubscription,
)
from nearcast.space import EARTH_RADIUS
from nearcast.trending.index import AnyTrending

PASSES = 3  # that count, after one that does not and before one that tells its parts
FRESH = 200  # subscriptions that come one by one, and go again
_TOGETHER = 1_000_000  # subscriptions: those of a cell are looked at once
_ROWS_TOGETHER = 1_000_000  # messages, of which only the places are kept
_DEGREE = pi * EARTH_RADIUS / 180.0


@dataclass(frozen=True)
class Settings:
    """The paper's defaults; sizes are the machine's."""

    data: str = "synthetic"
    subscriptions: int = 100_000
    documents: int = 10_000  # before those that are measured
    messages: int = 1_000  # of a pass
    area: float = 100.0  # square kilometres of a region
    k: int = 10
    is_nearby: bool = False  # places instead of regions
    a: float = 10_000.0  # metres, or the unit of the map; see `NearbyIndex`
    follows_roads: bool = False
    decaying_scale: float = 0.5  # what the first document is worth when the last one comes


@dataclass(frozen=True)
class Workload:
    """Columns in memory; subscriptions become objects when they are asked for."""

    settings: Settings
    source: Source
    half_life: float
    lateness: float
    at: NDArray[np.float64]
    shape: NDArray[np.float64]  # below 0.5 a circle; else how long a box is, and which way

    def subscription(self, n: int) -> AnyTrending:
        if self.settings.is_nearby:
            lon, lat = self.at[n].tolist()
            at = Point(lon, lat, space=self.source.space)
            return NearbyTrendingSubscription(n, at, self.settings.k)
        return TrendingSubscription(n, self._region(n), self.settings.k)

    def _region(self, n: int) -> Region:
        lon, lat = self.at[n].tolist()
        kind, length, way = self.shape[n].tolist()
        square_metres = self.settings.area * 1e6
        if kind < 0.5:
            return Circle(Point(lon, lat, space=self.source.space), sqrt(square_metres / pi))
        long, short = sqrt(square_metres * (1.0 + length)), sqrt(square_metres / (1.0 + length))
        across, up = (long, short) if way < 0.5 else (short, long)
        up = up / _DEGREE / 2.0
        across = across / _DEGREE / 2.0 / cos(radians(lat))
        return Box(
            max(lon - across, -180.0), max(lat - up, -90.0),
            min(lon + across, 180.0), min(lat + up, 90.0),
            space=self.source.space,
        )  # fmt: skip

    def subscriptions(self) -> Iterator[list[AnyTrending]]:
        """All but the fresh ones, in parts."""
        for first in range(0, self.settings.subscriptions, _TOGETHER):
            end = min(self.settings.subscriptions, first + _TOGETHER)
            yield [self.subscription(n) for n in range(first, end)]

    def fresh(self) -> list[AnyTrending]:
        count = self.settings.subscriptions
        return [self.subscription(n) for n in range(count, count + FRESH)]

    def documents(self) -> MessageBatch:
        """Those that come before the first pass."""
        return self.source.take(0, self.settings.documents)

    def stream(self, number: int) -> MessageBatch:
        """The documents of a pass; the one before the first is for warming up."""
        first = self.settings.documents + number * self.settings.messages
        return self.source.take(first, first + self.settings.messages)

    def everything(self) -> MessageBatch:
        """All documents of all passes."""
        return self.source.take(0, _length(self.settings))

    @property
    def description(self) -> dict[str, Any]:
        told_apart = ("data", "subscriptions", "messages")  # a record has them anyway
        chosen = asdict(self.settings)
        return {key: chosen[key] for key in chosen if key not in told_apart}


def make(settings: Settings) -> Workload:
    """The same workload for the same settings, on every machine that has the data."""
    length = _length(settings)
    source = source_of(settings.data, length)
    if settings.follows_roads:
        source = on_roads(source)
    draw = np.random.default_rng(0)
    count = settings.subscriptions + FRESH
    # Of synthetic messages there are so many that hardly two people are at the same place.
    drawn = draw.integers(0, 10 * max(source.length, count), count)
    rows, order = np.unique(
        drawn if settings.data == "synthetic" else drawn % source.length, return_inverse=True
    )
    places = [
        source.rows(rows[first : first + _ROWS_TOGETHER]).at[:, :2]
        for first in range(0, len(rows), _ROWS_TOGETHER)
    ]
    at = np.concatenate(places)[order]
    time = source.take(0, length).time
    return Workload(
        settings,
        source,
        half_life=(float(np.ptp(time)) or 1.0) * log(0.5) / log(settings.decaying_scale),
        lateness=float(np.max(np.maximum.accumulate(time) - time)),
        at=at,
        shape=draw.random((count, 3)),
    )


def _length(settings: Settings) -> int:
    return settings.documents + (PASSES + 2) * settings.messages
