"""What is measured: subscriptions made from messages, and messages that come later.

As in the AP-Tree papers: of a data set, the first 5% of the messages are the history an index may
learn from, the others the stream; subscriptions are made from randomly chosen messages.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.datasets import (
    DataAbsentError,
    Tweets,
    bounds_of,
    chicago,
    gnis,
    subscriptions_from,
)
from nearcast.model import Box, Subscription

DATA = ("synthetic", "gnis", "chicago")
FRESH = 2_500  # subscriptions to insert into a built index
_HISTORY_SHARE = 0.05
_TWEETS_PER_SUBSCRIPTION = 2.5  # the papers sample 5M subscriptions from 12.7M tweets
_LEAST_TWEETS = 20_000

# What stands in for real data that is not on this machine: tweets of a similar kind.
_STAND_INS = {
    "gnis": Tweets(vocabulary=55_311, shortest=4, longest=10),
    "chicago": Tweets(
        vocabulary=1_579, shortest=5, longest=12, bounds=Box(-87.9, 41.6, -87.5, 42.1)
    ),
}
# The space of which regions are a share, where it is not simply the box around the messages: a few
# features lie on Pacific islands, and the box around them and the mainland is mostly sea.
_SPACES = {"gnis": Box(-125.0, 24.0, -66.0, 50.0)}
_LOADERS: dict[str, Callable[[], MessageBatch]] = {"gnis": gnis, "chicago": chicago}


@dataclass(frozen=True)
class Settings:
    """What a workload is made from; the defaults are the papers'."""

    data: str = "synthetic"
    subscriptions: int = 1_000_000
    messages: int = 20_000
    words: tuple[int, int] = (1, 5)  # a subscription
    area: tuple[float, float] = (0.0001, 0.01)  # of a subscription, as a share of the space
    seed: int = 0


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
        chosen = asdict(self.settings)
        return {key: chosen[key] for key in ("words", "area", "seed")}

    @property
    def keywords_per_message(self) -> float:
        return self.messages.words.size / max(1, len(self.messages))


def make(settings: Settings) -> Workload:
    """The same workload for the same settings, on every machine that has the data."""
    if settings.data == "synthetic":
        return _from_stream("synthetic", Tweets(seed=settings.seed), settings)
    try:
        messages = _LOADERS[settings.data]()
    except DataAbsentError:
        stand_in = _STAND_INS[settings.data]
        return _from_stream(f"synthetic instead of {settings.data}", stand_in, settings)
    return _from_messages(settings.data, messages, settings)


def _from_stream(data: str, stream: Tweets, settings: Settings) -> Workload:
    """Draws from a prefix of the stream, which itself is never made as a whole."""
    length = int(settings.subscriptions * _TWEETS_PER_SUBSCRIPTION)
    length = max(length, _LEAST_TWEETS, 2 * settings.messages)
    history = int(length * _HISTORY_SHARE)
    draw = np.random.Generator(np.random.PCG64(settings.seed))

    def subscriptions(count: int, first_id: int, seed: int) -> SubscriptionBatch:
        sources = stream.take(_sample(draw, 0, length, count))
        return _subscriptions(sources, count, stream.bounds, settings, first_id, seed)

    return Workload(
        data=data,
        settings=settings,
        subscriptions=subscriptions(settings.subscriptions, 0, settings.seed),
        fresh=subscriptions(FRESH, settings.subscriptions, settings.seed + 1),
        history=stream.batch(history),
        messages=stream.take(_sample(draw, history, length, settings.messages)),
    )


def _from_messages(data: str, messages: MessageBatch, settings: Settings) -> Workload:
    draw = np.random.Generator(np.random.PCG64(settings.seed))
    if not messages.time.any():
        # Without times the order is that of a catalogue: its first 5% would all be of one region.
        messages = messages.take(draw.permutation(len(messages)))
    bounds = _SPACES.get(data) or bounds_of(messages)
    history = int(len(messages) * _HISTORY_SHARE)
    return Workload(
        data=data,
        settings=settings,
        subscriptions=_subscriptions(
            messages, settings.subscriptions, bounds, settings, 0, settings.seed
        ),
        fresh=_subscriptions(
            messages, FRESH, bounds, settings, settings.subscriptions, settings.seed + 1
        ),
        history=messages.take(np.arange(history)),
        messages=messages.take(_sample(draw, history, len(messages), settings.messages)),
    )


def _subscriptions(
    messages: MessageBatch, count: int, bounds: Box, settings: Settings, first_id: int, seed: int
) -> SubscriptionBatch:
    return subscriptions_from(
        messages,
        count,
        bounds=bounds,
        words=settings.words,
        area=settings.area,
        seed=seed,
        first_id=first_id,
    )


def _sample(draw: np.random.Generator, low: int, high: int, count: int) -> NDArray[np.int64]:
    """`count` different numbers of [low, high), or all of them if there are fewer, in order."""
    count = min(count, high - low)
    return np.sort(low + draw.choice(high - low, count, replace=False, shuffle=False))
