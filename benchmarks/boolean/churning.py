"""Subscriptions that come, move and go, in chunks that can be made again from their number.

Chunk `n` wants words of the tweets `n * CHUNK` and following, around the places of those tweets.
When it moves, each of its subscriptions goes to the place of another of them.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.measure import insert_all, remove_all
from benchmarks.workloads import Settings, Workload, tweets
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex
from nearcast.datasets import subscriptions_from
from nearcast.model import Subscription

CHUNK = 1_000
_STREAM = tweets()


def stream_messages(first: int, count: int) -> MessageBatch:
    return _STREAM.batch(count, first=first)


@dataclass(frozen=True)
class Taken:
    """Seconds, and how many changes of each kind took them."""

    inserted: float = 0.0
    removed: float = 0.0
    moved: float = 0.0
    each: int = 0

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(
            self.inserted + other.inserted,
            self.removed + other.removed,
            self.moved + other.moved,
            self.each + other.each,
        )

    @property
    def inserting(self) -> float | None:
        """Microseconds for one; so are the next two."""
        return 1e6 * self.inserted / self.each if self.each else None

    @property
    def removing(self) -> float | None:
        return 1e6 * self.removed / self.each if self.each else None

    @property
    def moving(self) -> float | None:
        return 1e6 * self.moved / self.each if self.each else None

    @property
    def changes(self) -> int:
        return 3 * self.each

    @property
    def microseconds_per_change(self) -> float:
        return 1e6 * (self.inserted + self.removed + self.moved) / max(1, self.changes)


class Changing:
    """Which chunks are live, oldest first, and how often each has moved."""

    def __init__(self, subscriptions: int) -> None:
        chunks = max(3, subscriptions // CHUNK)
        self._live = deque((number, 0) for number in range(chunks))
        self._draw = np.random.Generator(np.random.PCG64(0))

    @property
    def description(self) -> dict[str, int]:
        return {"chunk": CHUNK, "chunks": len(self._live)}

    def live(self) -> SubscriptionBatch:
        """All live subscriptions, made anew."""
        return SubscriptionBatch.concat([_chunk(number, moves) for number, moves in self._live])

    def turn(self, index: BooleanIndex) -> Taken:
        """One chunk goes, one comes, one moves; the clock runs while the index works."""
        oldest, _ = self._live.popleft()
        newest = self._live[-1][0] + 1
        place = int(self._draw.integers(len(self._live)))
        number, moves = self._live[place]
        self._live[place] = (number, moves + 1)
        self._live.append((newest, 0))
        coming, moving = _objects(newest, 0), _objects(number, moves + 1)
        return Taken(
            removed=remove_all(index, range(oldest * CHUNK, (oldest + 1) * CHUNK)),
            inserted=insert_all(index, coming),
            moved=insert_all(index, moving),
            each=CHUNK,
        )

    def messages(self, count: int) -> MessageBatch:
        """What is said now."""
        return stream_messages((self._live[-1][0] + 1) * CHUNK, count)

    def workload(self, messages: MessageBatch) -> Workload:
        """What an index must hold now, for the oracle."""
        live = self.live()
        return Workload(
            data="synthetic",
            settings=Settings("synthetic", len(live), len(messages)),
            subscriptions=live,
            fresh=live.take([]),
            history=messages.take([]),
            messages=messages,
        )


def _chunk(number: int, moves: int) -> SubscriptionBatch:
    sources = stream_messages(number * CHUNK, CHUNK)
    sources = replace(sources, at=np.roll(sources.at, moves, axis=0))
    return subscriptions_from(
        sources, CHUNK, bounds=_STREAM.bounds, seed=number, first_id=number * CHUNK
    )


def _objects(number: int, moves: int) -> list[Subscription]:
    chunk = _chunk(number, moves)
    return [chunk.subscription(row) for row in range(len(chunk))]
