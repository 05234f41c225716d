"""Subscriptions and messages that meet each other often, at the places where mistakes are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Protocol, TypeAlias

import pyarrow as pa

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex
from nearcast.model import (
    ANY,
    Box,
    Circle,
    Id,
    Message,
    Place,
    Point,
    Polygon,
    Region,
    Space,
    Subscription,
)
from nearcast.space import is_in

WORDS = ("tea", "cake", "été", "straße", "茶", "ipad", "sale", "x1", "और", "naïve")
SPACES = (Space.EARTH, Space.PLANE)


class MakeIndex(Protocol):
    """What makes a new, empty index of a space: usually its class."""

    def __call__(self, *, space: Space) -> BooleanIndex: ...


Check: TypeAlias = Callable[[MakeIndex], None]


def wanted(subscriptions: Iterable[Subscription], message: Message) -> set[Id]:
    """Who wants the message, as the definitions read."""
    words = set(message.keywords)
    return {
        subscription.id
        for subscription in subscriptions
        if subscription.expression.matches(words) and is_in(message.at, subscription.region)
    }


def answer(index: BooleanIndex, message: Message) -> set[Id]:
    """Who the index says wants the message; each at most once."""
    found = index.match(message)
    assert len(found) == len(set(found)), f"{message} is reported twice to one of {found}"
    return set(found)


def assert_answers(
    index: BooleanIndex, live: Iterable[Subscription], messages: Iterable[Message]
) -> None:
    """The index holds just these subscriptions and gives the answers the definitions give."""
    subscriptions = list(live)
    assert len(index) == len(subscriptions)
    assert set(index.ids()) == {subscription.id for subscription in subscriptions}
    for kind, column in ((int, pa.int64()), (str, pa.large_string())):  # ids of one kind
        some = [each for each in subscriptions if isinstance(each.id, kind)]
        columns = index.subscriptions(pa.array([each.id for each in some], column))
        assert [columns.subscription(row) for row in range(len(some))] == some
    for message in messages:
        found, right = answer(index, message), wanted(subscriptions, message)
        assert found == right, (
            f"{message} should reach {right}: too many {found - right}, too few {right - found}"
        )
    index.check()


def batch_of(
    subscriptions: Iterable[Subscription], space: Space = Space.EARTH
) -> SubscriptionBatch:
    """The subscriptions as columns."""
    return SubscriptionBatch.from_subscriptions(subscriptions, space=space)


def message_batch_of(messages: Iterable[Message], space: Space = Space.EARTH) -> MessageBatch:
    """The messages as columns."""
    return MessageBatch.from_messages(messages, space=space)


def some_subscriptions(count: int, space: Space, seed: int = 1) -> list[Subscription]:
    """Subscriptions with every kind of region and of expression, numbered from 0.

    >>> [s.id for s in some_subscriptions(3, Space.EARTH)]
    [0, 1, 2]
    """
    random = Random(seed)
    return [_subscription(random, number, space) for number in range(count)]


def some_messages(count: int, space: Space, seed: int = 2) -> list[Message]:
    """Messages at points and in boxes, with no words to many, numbered from 0.

    >>> some_messages(1, Space.PLANE)[0].at.space
    Space.PLANE
    """
    random = Random(seed)
    return [
        Message(
            number,
            keywords=[random.choice(WORDS) for _ in range(random.choice([0, 1, 3, 6, 12]))],
            at=_place(random, space),
        )
        for number in range(count)
    ]


def _subscription(random: Random, number: int, space: Space) -> Subscription:
    region = _region(random, space)
    a, b, c, d = random.sample(WORDS, 4)
    expressions: Sequence[str] = (
        a,
        f"{a} AND {b}",
        f"{a} {b} {c}",
        f"{a} OR {b}",
        f"{a} AND ({b} OR {c})",
        f"{a} AND NOT {b}",
        f"({a} OR {b}) AND ({c} OR {d}) AND NOT x1",
    )
    if region is not None and random.random() < 0.1:
        return Subscription(number, ANY, region)
    return Subscription(number, random.choice(expressions), region)


def _x(random: Random, space: Space) -> float:
    """Grid points, so that borders meet, and now and then the end of the world."""
    ends = [-180.0, 180.0] if space is Space.EARTH else [-1e9, 1e9]
    return random.choice([*ends, random.randint(-6, 6) * 10.0, random.uniform(-180, 180)])


def _y(random: Random, space: Space) -> float:
    ends = [-90.0, 90.0] if space is Space.EARTH else [-1e9, 1e9]
    return random.choice([*ends, random.randint(-6, 6) * 10.0, random.uniform(-90, 90)])


def _box(random: Random, space: Space) -> Box:
    west, east = _x(random, space), _x(random, space)
    south, north = sorted((_y(random, space), _y(random, space)))
    if space is Space.PLANE:
        west, east = sorted((west, east))
    return Box(west, south, east, north, space=space)


def _region(random: Random, space: Space) -> Region | None:
    kind = random.random()
    if kind < 0.1:
        return None
    if kind < 0.6:
        return _box(random, space)
    if kind < 0.8:
        centre = Point(_x(random, space), _y(random, space), space=space)
        radii = (0.0, 1e5, 3e6, 1e7) if space is Space.EARTH else (0.0, 1.0, 30.0, 200.0)
        return Circle(centre, random.choice(radii))
    x, y = random.uniform(-150, 90), random.uniform(-80, 20)
    return Polygon([[(x, y), (x + 60, y), (x + 50, y + 50), (x + 10, y + 10)]], space=space)


def _place(random: Random, space: Space) -> Place:
    if random.random() < 0.3:
        return _box(random, space)
    return Point(_x(random, space), _y(random, space), space=space)
