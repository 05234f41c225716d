"""Random histories of every kind of subscription, and what one broker makes of them."""

import random
from dataclasses import replace

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.moving import ScanMoving
from nearcast.pipeline.hosted.spread.cells import Cells
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.hosted.spread.plan import plan_results
from nearcast.pipeline.partitioning import Location
from nearcast.topk import ScanTopK

WORDS = ("tea", "cake", "jazz", "bus", "rain", "sale")
IDS = [f"s{number}" for number in range(12)]


def random_events(seed, length):
    """Messages, subscriptions, and tuples as `log_table` takes them."""
    draw = random.Random(seed)
    kinds = {}
    said = []
    for number in range(length):
        id, action, now = draw.choice(IDS), draw.random(), number / 3
        at = Point(draw.uniform(0, 1), draw.uniform(0, 1))
        around = Circle(at, draw.uniform(1e4, 5e4))
        words = draw.choices(WORDS, k=draw.randint(1, 3))
        if action < 0.22:
            subscription = draw.choice(
                [
                    TopKSubscription(id, words, at, draw.randint(1, 4), draw.uniform(0.2, 0.9)),
                    MovingSubscription(id, " OR ".join(words), around),
                    TrendingSubscription(id, draw.choice([around, Box(0, 0, 1, 1)]), 3),
                    NearbyTrendingSubscription(id, at, 3),
                    Subscription(id, " OR ".join(words), around),
                ]
            )
            kinds[id] = type(subscription)
            yield subscription
        elif action < 0.27:
            kinds.pop(id, None)
            yield draw.choice(["unsubscribe", "unsubscribe_hosted"]), id
        elif action < 0.4:
            is_at = kinds.get(id) in (TopKSubscription, NearbyTrendingSubscription)
            if draw.random() < 0.05:
                is_at = not is_at  # which is refused
            yield "move", id, at if is_at else around, False
        elif action < 0.44:
            yield "advance", now
        else:
            name = f"m{number}"
            if said and draw.random() < 0.05:
                name = draw.choice(said)  # it replaces that message
            said.append(name)
            late = draw.choice([0, 0, 0, 20.0])
            ends = draw.choice([None, None, now + 5])
            yield Message(name, keywords=words, at=at, time=max(0.0, now - late), expires=ends)


class OneBroker:
    """All in one process."""

    def __init__(self, window, statistics=None):
        top = ScanTopK(window, statistics=statistics, lateness=float("inf"))
        self.broker = Broker(top=top, moving=ScanMoving())
        self._kinds = {}
        self.refused = []  # ids of rows that break a rule
        self.matches = []

    @property
    def hosted(self):
        """The ids of those that have a result."""
        return [id for id, kind in self._kinds.items() if kind is not Subscription]

    def kind(self, id):
        """Its class; None where there is none."""
        return self._kinds.get(id)

    def apply(self, event):
        broker = self.broker
        match event:
            case Message():
                told = broker.publish(event)
                self.matches += [
                    (each.subscription_id, each.message_id) for each in told if each.kind == "match"
                ]
                return told
            case ("move", id, place, _):
                try:
                    if id in self.hosted:
                        return broker.move(id, place)
                except TypeError:
                    pass  # a place of another shape
                self.refused.append(id)
            case ("advance", now):
                return broker.advance(now)
            case ("unsubscribe", id):
                if id not in self._kinds:
                    self.refused.append(id)
                self._end(id)
            case ("unsubscribe_hosted", id):
                self._end(id)  # to a boolean one it says that the id is no longer its own
            case _:
                self._kinds[event.id] = type(event)
                return broker.subscribe(event)
        return []

    def _end(self, id):
        if self._kinds.pop(id, None):
            self.broker.unsubscribe(id)


MIDDLE = 0.5
TREES = {  # axis, split, low, high: of the square that random events are in, halves or quarters
    1: ([2], [0], [0], [1]),
    2: ([0, 2, 2], [MIDDLE, 0, 0], [1, 0, 1], [2, 1, 2]),
    3: ([0, 2, 2], [MIDDLE, 0, 0], [1, 0, 1], [2, 1, 2]),
    5: (
        [0, 1, 1, 2, 2, 2, 2],
        [MIDDLE] * 3 + [0] * 4,
        [1, 3, 5, 0, 1, 2, 3],
        [2, 4, 6, 1, 2, 3, 4],
    ),
}


def cells(shards):
    """With so small a margin that many messages are bare, and many regions fit nowhere."""
    arrays = zip(TREES[shards], (np.int8, np.float64, np.int32, np.int32), strict=True)
    tree = Location(shards, *(np.array(values, kind) for values, kind in arrays))
    return Cells(tree, (0.15, 0.15))


def spread(name, shards, seed, **options):
    """How results are spread: planned for a history that is not the one to come, but for cells.

    None for hash.
    """
    if name == "hash":
        return None
    if name == "cells":
        return ResultDistribution(shards, cells(shards))
    events = [*random_events(seed + 1000, 400)]
    lists = {each.id: each for each in events if isinstance(each, TopKSubscription)}
    messages = {each.id: each for each in events if isinstance(each, Message)}
    batch = MessageBatch.from_messages(messages.values())
    plan = plan_results(
        name, [*lists.values()], batch, shards, total_subscriptions=10**6, **options
    )
    return replace(plan.distribution, cells=cells(shards))
