"""What is measured: subscriptions made from messages, and messages that come later.

As in the AP-Tree papers: of a data set, the first 5% of the messages are the history an index may
learn from, the others the stream; subscriptions are made from randomly chosen messages.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.message_shapes import affordable, with_area, with_words
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.datasets import (
    DataAbsentError,
    Tweets,
    bounds_of,
    chicago,
    expressions_from,
    gnis,
    subscriptions_from,
)
from nearcast.model import Box, Subscription

DATA = ("synthetic", "gnis", "chicago")
FRESH = 6_500  # subscriptions to insert into a built index, some at a time
_HISTORY_SHARE = 0.05
_TWEETS_PER_SUBSCRIPTION = 2.5  # the papers sample 5M subscriptions from 12.7M tweets
_LEAST_TWEETS = 20_000
_POOL = 50_000  # messages of the stream that longer ones are joined from

# What stands in for real data that is not on this machine: tweets of a similar kind.
STAND_INS = {
    "gnis": Tweets(vocabulary=55_311, shortest=4, longest=10),
    "chicago": Tweets(
        vocabulary=1_579, shortest=5, longest=12, bounds=Box(-87.9, 41.6, -87.5, 42.1)
    ),
}
# The space of which regions are a share, where it is not simply the box around the messages: a few
# features lie on Pacific islands, and the box around them and the mainland is mostly sea.
SPACES = {"gnis": Box(-125.0, 24.0, -66.0, 50.0)}
LOADERS: dict[str, Callable[[], MessageBatch]] = {"gnis": gnis, "chicago": chicago}


@dataclass(frozen=True)
class Settings:
    """What a workload is made from; the defaults are those of the AP-Tree papers.

    Areas are shares of the space. `message_shapes` tells what longer and range messages are.
    """

    data: str = "synthetic"
    subscriptions: int = 1_000_000
    messages: int = 20_000
    words: tuple[int, int] = (1, 5)  # a subscription
    area: tuple[float, float] = (0.0001, 0.01)  # of a subscription
    seed: int = 0
    expressions: bool = False  # general ones, with AND and OR, instead of all words
    message_words: int | None = None  # distinct ones; None: messages as they come
    message_area: float | None = None  # None: points

    @property
    def of_subscriptions(self) -> "Settings":
        """What the subscriptions depend on; the rest is as by default."""
        return replace(self, messages=0, message_words=None, message_area=None)


@dataclass(frozen=True)
class Workload:
    """The columns, in memory before any clock starts."""

    data: str  # differs from the settings' where a stand-in was used
    settings: Settings
    subscriptions: SubscriptionBatch
    fresh: SubscriptionBatch
    history: MessageBatch
    messages: MessageBatch

    @cached_property
    def newcomers(self) -> list[Subscription]:
        """The fresh subscriptions as objects, as a person would insert them."""
        return [self.fresh.subscription(i) for i in range(len(self.fresh))]

    @property
    def description(self) -> dict[str, Any]:
        told_apart = ("data", "subscriptions", "messages")  # a record has them anyway
        chosen = asdict(self.settings)
        return {key: chosen[key] for key in chosen if key not in told_apart}

    @property
    def keywords_per_message(self) -> float:
        return self.messages.words.size / max(1, len(self.messages))


def make(settings: Settings, like: Workload | None = None) -> Workload:
    """The same workload for the same settings, on every machine that has the data.

    `like` has the same subscriptions: they are taken from there instead of made again.
    """
    if like is not None and like.settings.of_subscriptions != settings.of_subscriptions:
        raise ValueError(f"{like.settings} has other subscriptions than {settings}")
    if settings.data == "synthetic":
        return _from_stream("synthetic", tweets(settings.seed), settings, like)
    try:
        messages = LOADERS[settings.data]()
    except DataAbsentError:
        stand_in = STAND_INS[settings.data]
        return _from_stream(f"synthetic instead of {settings.data}", stand_in, settings, like)
    return _from_messages(settings.data, messages, settings, like)


@cache
def tweets(seed: int = 0) -> Tweets:
    """The stream of this seed; its tables of chances, which take a while, are made once."""
    return Tweets(seed=seed)


def _from_stream(data: str, stream: Tweets, settings: Settings, like: Workload | None) -> Workload:
    """Draws from a prefix of the stream, which itself is never made as a whole."""
    sources = max(int(settings.subscriptions * _TWEETS_PER_SUBSCRIPTION), _LEAST_TWEETS)
    length = max(sources, 2 * settings.messages)
    history = int(length * _HISTORY_SHARE)
    draw = np.random.Generator(np.random.PCG64(settings.seed))
    # Drawn even where `like` has what is made from them: the messages are drawn after them.
    rows = [_sample(draw, 0, sources, count) for count in (settings.subscriptions, FRESH)]

    def subscriptions(which: int, count: int, first_id: int) -> SubscriptionBatch:
        return _subscriptions(stream.take(rows[which]), count, stream.bounds, settings, first_id)

    return Workload(
        data=data,
        settings=settings,
        subscriptions=(like.subscriptions if like else subscriptions(0, settings.subscriptions, 0)),
        fresh=like.fresh if like else subscriptions(1, FRESH, settings.subscriptions),
        history=_shaped(stream.batch(history), history, stream.bounds, settings),
        messages=_shaped(
            stream.take(_sample(draw, history, length, _needed(settings))),
            settings.messages,
            stream.bounds,
            settings,
        ),
    )


def _from_messages(
    data: str, messages: MessageBatch, settings: Settings, like: Workload | None
) -> Workload:
    draw = np.random.Generator(np.random.PCG64(settings.seed))
    if not messages.time.any():
        # Without times the order is that of a catalogue: its first 5% would all be of one region.
        messages = messages.take(draw.permutation(len(messages)))
    bounds = SPACES.get(data) or bounds_of(messages)
    history = int(len(messages) * _HISTORY_SHARE)

    def subscriptions(count: int, first_id: int) -> SubscriptionBatch:
        return _subscriptions(messages, count, bounds, settings, first_id)

    return Workload(
        data=data,
        settings=settings,
        subscriptions=like.subscriptions if like else subscriptions(settings.subscriptions, 0),
        fresh=like.fresh if like else subscriptions(FRESH, settings.subscriptions),
        history=_shaped(messages.take(np.arange(history)), history, bounds, settings),
        messages=_shaped(
            messages.take(_sample(draw, history, len(messages), _needed(settings))),
            settings.messages,
            bounds,
            settings,
        ),
    )


def _subscriptions(
    messages: MessageBatch, count: int, bounds: Box, settings: Settings, first_id: int
) -> SubscriptionBatch:
    make_from = expressions_from if settings.expressions else subscriptions_from
    return make_from(
        messages,
        count,
        bounds=bounds,
        words=settings.words,
        area=settings.area,
        seed=settings.seed + (first_id > 0),  # the fresh ones are others
        first_id=first_id,
    )


def _needed(settings: Settings) -> int:
    """How many messages of the stream the workload's are made from."""
    return settings.messages if settings.message_words is None else max(settings.messages, _POOL)


def _shaped(messages: MessageBatch, count: int, bounds: Box, settings: Settings) -> MessageBatch:
    """`count` messages with the wanted length and extent.

    The history has the shape of the stream: what an index learns from it then is true.
    """
    if settings.message_words is not None:
        count = affordable(count, settings.message_words)
        messages = with_words(messages, count, settings.message_words)
    if settings.message_area is not None:
        messages = with_area(messages, bounds, settings.message_area)
    return messages


def _sample(draw: np.random.Generator, low: int, high: int, count: int) -> NDArray[np.int64]:
    """`count` different numbers of [low, high), or all of them if there are fewer, in order."""
    count = min(count, high - low)
    return np.sort(low + draw.choice(high - low, count, replace=False, shuffle=False))
