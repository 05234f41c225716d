"""What top-k indexes are measured on, as in the paper: a full window, subscriptions, a stream.

Subscriptions are made from randomly chosen messages: one to five of their words, their place, a
preference drawn evenly between words and nearness.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.topk.source import Source, source_of
from nearcast.batches import MessageBatch
from nearcast.model import Point, TopKSubscription
from nearcast.space import distance
from nearcast.topk import CountWindow, TimeWindow, WordStatistics

PASSES = 3  # that count, after one that does not
FRESH = 500  # subscriptions that come one by one, and go again
HISTORY = 20_000  # messages whose words are counted
_TOGETHER = 20_000


@dataclass(frozen=True)
class Settings:
    """The paper's defaults; sizes are the machine's."""

    data: str = "synthetic"
    subscriptions: int = 100_000
    window: int = 100_000
    messages: int = 2_000  # of a pass
    words: tuple[int, int] = (1, 5)  # of a subscription
    k: int = 20
    is_zipf: bool = False  # words of subscriptions by rank, not from messages
    is_timed: bool = False  # a window of so many seconds as so many messages take on average


@dataclass(frozen=True)
class Workload:
    """Columns in memory; subscriptions become objects when they are asked for."""

    settings: Settings
    source: Source
    statistics: WordStatistics
    max_dist: float
    alpha: NDArray[np.float64]
    word_start: NDArray[np.int64]
    words: NDArray[np.int64]  # numbers in the lexicon
    lexicon: list[str]
    at: NDArray[np.float64]

    @property
    def window(self) -> CountWindow | TimeWindow:
        settings = self.settings
        if not settings.is_timed:
            return CountWindow(settings.window)
        time = self.source.take(HISTORY, HISTORY + settings.window).time
        return TimeWindow(float(time[-1] - time[0]))

    def fill(self) -> Iterator[MessageBatch]:
        """The messages that the window is full of when subscriptions come."""
        end = HISTORY + self.settings.window
        for first in range(HISTORY, end, _TOGETHER):
            yield self.source.take(first, min(end, first + _TOGETHER))

    def stream(self, number: int) -> MessageBatch:
        """The messages of a pass; the one before the first is for warming up."""
        first = HISTORY + self.settings.window + number * self.settings.messages
        return self.source.take(first, first + self.settings.messages)

    def last_messages(self) -> MessageBatch:
        """What the window may hold after all passes."""
        end = HISTORY + self.settings.window + (PASSES + 1) * self.settings.messages
        return self.source.take(HISTORY, end)

    def subscription(self, n: int) -> TopKSubscription:
        words = self.words[self.word_start[n] : self.word_start[n + 1]]
        lon, lat = self.at[n].tolist()
        return TopKSubscription(
            n,
            [self.lexicon[word] for word in words],
            Point(lon, lat, space=self.source.space),
            self.settings.k,
            float(self.alpha[n]),
        )

    def subscriptions(self) -> Iterator[list[TopKSubscription]]:
        """All but the fresh ones, in parts."""
        for first in range(0, self.settings.subscriptions, _TOGETHER):
            end = min(self.settings.subscriptions, first + _TOGETHER)
            yield [self.subscription(n) for n in range(first, end)]

    def fresh(self) -> list[TopKSubscription]:
        count = self.settings.subscriptions
        return [self.subscription(n) for n in range(count, count + FRESH)]

    @property
    def description(self) -> dict[str, Any]:
        told_apart = ("data", "subscriptions", "messages")  # a record has them anyway
        chosen = asdict(self.settings)
        return {key: chosen[key] for key in chosen if key not in told_apart}


def make(settings: Settings) -> Workload:
    """The same workload for the same settings, on every machine that has the data."""
    needed = HISTORY + settings.window + (PASSES + 1) * settings.messages
    source = source_of(settings.data, needed)
    draw = np.random.default_rng(0)
    count = settings.subscriptions + FRESH
    # One message may serve several, where there are few.
    rows, order = np.unique(draw.integers(0, source.length, count), return_inverse=True)
    made_from = source.rows(rows)
    alpha = draw.random(count)
    lengths = np.diff(made_from.word_start)
    wanted = np.minimum(draw.integers(*settings.words, count, endpoint=True), lengths[order])
    word_start = np.concatenate([[0], np.cumsum(wanted)])
    if settings.is_zipf:
        words = _by_rank(made_from, int(word_start[-1]), draw)
    else:
        words = np.concatenate(
            [
                draw.choice(_words_of(made_from, n), size, replace=False)
                for n, size in zip(order.tolist(), wanted.tolist(), strict=True)
            ]
        )
    bounds = source.bounds
    corners = [
        Point(bounds.west, bounds.south, space=source.space),
        Point(bounds.east, bounds.north, space=source.space),
    ]
    return Workload(
        settings,
        source,
        WordStatistics.of_messages(_messages(source.take(0, HISTORY))),
        distance(*corners),
        alpha,
        word_start,
        words,
        made_from.lexicon.to_pylist(),
        made_from.at[order, :2],
    )


def _messages(batch: MessageBatch) -> Iterator[Any]:
    return (batch.message(n) for n in range(len(batch)))


def _words_of(messages: MessageBatch, n: int) -> NDArray[Any]:
    return messages.words[messages.word_start[n] : messages.word_start[n + 1]]


def _by_rank(messages: MessageBatch, count: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Words drawn as 1 / rank by how often messages have them."""
    often = np.bincount(messages.words, minlength=len(messages.lexicon))
    ranked = np.argsort(-often, kind="stable")
    chances = 1.0 / np.arange(1.0, len(ranked) + 1.0)
    return ranked[draw.choice(len(ranked), count, p=chances / chances.sum())]
