"""What indexes of moving subscriptions are measured on, as in the paper.

Subscriptions take words of messages and squares, or circles, of a share of the map; their owners
travel on its roads. Messages have places all over the map and live ten timestamps; a tenth of them
is new in each timestamp, in which a share of the subscribers reports where it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.datasets import (
    DataAbsentError,
    RoadMap,
    Travellers,
    Tweets,
    gnis,
    oldenburg,
    san_joaquin,
    subscriptions_from,
    synthetic_roads,
)
from nearcast.model import Space
from nearcast.space import RegionColumn

PART_OF_EARTH = (-125.0, 24.0, -66.0, 50.0)  # that becomes the map
LIFE = 10  # timestamps
PASSES = 3  # timestamps that count, after one that does not
_WORDS_FROM = 10**9  # tweets of whose words subscriptions are made
_MAPS: dict[str, Callable[[], RoadMap]] = {"ODB": oldenburg, "SAN": san_joaquin}


@dataclass(frozen=True)
class Settings:
    """The paper's defaults; sizes are the machine's."""

    data: str = "synthetic"
    roads: str = "ODB"
    subscriptions: int = 100_000
    live: int = 100_000  # messages
    arrivals: float = 1 / LIFE  # new messages of a timestamp, as a share of the live ones
    words: tuple[int, int] = (1, 5)
    area: float = 0.0001  # of the map
    circles: bool = False  # instead of squares
    velocity: float = 1.0  # medium
    mobility: float = 0.4  # the share of subscribers who move in a timestamp

    @property
    def messages(self) -> int:
        """New ones of a timestamp."""
        return max(1, round(self.arrivals * self.live))


@dataclass(frozen=True)
class Step:
    """A timestamp: what is published, and who moves where."""

    messages: MessageBatch
    ids: pa.Array
    regions: RegionColumn


class Workload:
    """The same subscriptions and events each time that they are asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roads, self.map_name = _map(settings.roads)
        self._source = _source(settings.data)
        west, south, east, north = self.roads.bounds
        self._area = settings.area * (east - west) * (north - south)

    @property
    def data(self) -> str:
        return f"{self.settings.data}-{self.map_name}"

    @property
    def description(self) -> dict[str, Any]:
        return {**asdict(self.settings), "map": self.map_name, "life": LIFE}

    def travellers(self) -> Travellers:
        return Travellers(self.roads, self.settings.subscriptions, velocity=self.settings.velocity)

    def around(self, places: NDArray[np.float64]) -> RegionColumn:
        """The regions of people at these places."""
        if self.settings.circles:
            return RegionColumn.of_circles(places, sqrt(self._area / pi), Space.PLANE)
        half = sqrt(self._area) / 2
        return RegionColumn.of_boxes(
            np.concatenate([places - half, places + half], axis=1), Space.PLANE
        )

    def subscriptions(self, people: Travellers) -> SubscriptionBatch:
        count = self.settings.subscriptions
        about = self._source(_WORDS_FROM, max(20_000, 2 * count))
        made = subscriptions_from(about, count, words=self.settings.words)
        return SubscriptionBatch(made.ids, made.expressions, self.around(people.places()))

    def first_messages(self) -> MessageBatch:
        """As many as live at any time, with what is left of their lives."""
        live = self.settings.live
        return self._messages(0, live, 0.0, LIFE * (np.arange(live) + 1) / live)

    def steps(self, people: Travellers, count: int) -> Iterator[Step]:
        """Timestamps, one after the other."""
        draw = np.random.Generator(np.random.PCG64(5))
        new = self.settings.messages
        for number in range(1, count + 1):
            first = self.settings.live + (number - 1) * new
            life = np.full(new, float(LIFE))
            messages = self._messages(first, new, float(number), life)
            rows = np.flatnonzero(draw.random(len(people)) < self.settings.mobility)
            people.travel(rows)
            yield Step(messages, pa.array(rows), self.around(people.places()[rows]))

    def _messages(
        self, first: int, count: int, time: float, life: NDArray[np.float64]
    ) -> MessageBatch:
        batch = self._source(first, count)
        low, high = np.array(PART_OF_EARTH).reshape(2, 2)
        west, south, east, north = self.roads.bounds
        share = np.clip((batch.at[:, :2] - low) / (high - low), 0.0, 1.0)
        at = share * (east - west, north - south) + (west, south)
        return MessageBatch(
            ids=pa.array(np.arange(first, first + count)),
            lexicon=batch.lexicon,
            word_start=batch.word_start,
            words=batch.words,
            at=np.concatenate([at, at], axis=1),
            is_box=np.zeros(count, bool),
            time=np.full(count, time),
            expires=time + life,
            space=Space.PLANE,
        )


def _map(name: str) -> tuple[RoadMap, str]:
    try:
        return _MAPS[name](), name
    except DataAbsentError:
        return synthetic_roads(), "synthetic roads"


def _source(data: str) -> Callable[[int, int], MessageBatch]:
    """Messages by number: endless tweets, or places of the United States again and again."""
    if data == "gnis":
        try:
            places = _shuffled_gnis()
            return lambda first, count: places.take(_rows(first, count, len(places)))
        except DataAbsentError:
            tweets = Tweets(vocabulary=55_311, shortest=4, longest=10)
    else:
        tweets = Tweets()
    return lambda first, count: tweets.batch(count, first=first)


@cache
def _shuffled_gnis() -> MessageBatch:
    batch = gnis()
    return batch.take(np.random.Generator(np.random.PCG64(3)).permutation(len(batch)))


def _rows(first: int, count: int, size: int) -> NDArray[np.int64]:
    """Numbers of rows that follow each other, of a batch in which each may come once."""
    if count > size:
        raise ValueError(f"{count:,} messages at once are too many; the data have {size:,}")
    rows: NDArray[np.int64] = np.arange(first, first + count) % size
    return rows
