"""Subscriptions come, move and go, messages come: one by one, in batches, at awkward places."""

from __future__ import annotations

from random import Random

from nearcast.checks.boolean.samples import some_messages, some_subscriptions
from nearcast.checks.moving.pair import SPACES, Check, MakeMoving, Pair
from nearcast.model import ANY, Box, Circle, Message, Point, Polygon, Space, Subscription


def check_one_by_one(make_index: MakeMoving) -> None:
    """Every kind of region, expression and place, with changes of all kinds in between."""
    for space in SPACES:
        pair = Pair(make_index, space)
        random = Random(3)
        subscriptions = some_subscriptions(24, space)
        others = some_subscriptions(60, space, seed=4)
        for number, message in enumerate(some_messages(40, space)):
            if number < len(subscriptions):
                pair.subscribe(subscriptions[number])
            pair.publish(message)
            id = random.choice(sorted(pair.ids, key=str))
            one = random.choice(others)
            if pair.index.subscription(id).expression != Subscription("", ANY, _box()).expression:
                pair.move(id, one.region)
            if number % 10 == 9:
                pair.subscribe(Subscription(id, "tea OR cake", one.region))
            if number % 13 == 12:
                pair.unsubscribe(random.choice(sorted(pair.ids, key=str)))


def _box() -> Box:
    return Box(0, 0, 1, 1)


def check_batches(make_index: MakeMoving) -> None:
    """A batch is its rows one by one."""
    for space in SPACES:
        pair = Pair(make_index, space)
        subscriptions = [each for each in some_subscriptions(40, space) if each.region is not None]
        pair.publish_batch(some_messages(30, space))
        pair.subscribe_batch(subscriptions[:25])
        pair.subscribe_batch(subscriptions[20:])
        regions = [each.region for each in some_subscriptions(200, space, seed=8)]
        places = [region for region in regions if region is not None]
        for step in range(3):
            some = subscriptions[step::2]
            pair.move_batch([each.id for each in some], places[30 * step :][: len(some)])
            pair.publish_batch(
                [
                    Message(100 * step + message.id, keywords=message.keywords, at=message.at)
                    for message in some_messages(20, space, seed=step)
                    if isinstance(message.id, int)
                ]
            )
        pair.publish_batch([])
        pair.move_batch([], [])


def check_small_and_large_moves(make_index: MakeMoving) -> None:
    """A region that stays, shifts by a border, grows, shrinks, jumps and comes back."""
    for space in SPACES:
        pair = Pair(make_index, space)
        for x in range(-3, 4):
            for y in range(-3, 4):
                at = Point(x, y, space=space)
                pair.publish(Message(10 * x + y, keywords=["tea"], at=at))
        pair.subscribe(Subscription("s", "tea", Box(0, 0, 1, 1, space=space)))
        moves = [
            (0, 0, 1, 1), (1, 0, 2, 1), (0.5, 0.5, 1.5, 1.5), (-3, -3, 3, 3), (0, 0, 0, 0),
            (-1, -1, 1, 1), (-60, -60, -50, -50), (-2.5, -3, 0, 0), (2, 2, 3, 3),
        ]  # fmt: skip
        for west, south, east, north in moves:
            pair.move("s", Box(west, south, east, north, space=space))
        pair.move("s", None)
        pair.move("s", Circle(Point(0, 0, space=space), 2 if space is Space.PLANE else 3e5))
        pair.move("s", Polygon([[(-2, -2), (2, -2), (0, 2)]], space=space))
        pair.move("s", Polygon([[(-2, -1), (2, -1), (0, 3)]], space=space))


def check_antimeridian_and_poles(make_index: MakeMoving) -> None:
    """A region walks around the world and over a pole."""
    pair = Pair(make_index, Space.EARTH)
    places = [Point(180, 0), Point(-180, 1), Point(179, 0), Point(-179, 0), Point(30, 90)]
    places += [Point(-170, -90), Point(0, 89.5), Point(90, 89.9)]
    for number, place in enumerate(places):
        pair.publish(Message(number, keywords=["tea"], at=place))
    pair.publish(Message("band", keywords=["tea"], at=Box(170, -5, -170, 5)))
    pair.publish(Message("cap", keywords=["tea"], at=Box(-180, 80, 180, 90)))
    pair.subscribe(Subscription("s", "tea", Box(170, -2, 175, 2)))
    for west in (175, 178.5, 179, 180, -180, -179, -175, -170, 0, 175):
        east = west + 5 if west + 5 <= 180 else west - 355
        pair.move("s", Box(west, -2, east, 2))
    for lat in (0.0, 88.0, 89.0, 90.0, -90.0):
        pair.move("s", Circle(Point(179.5, lat), 120_000))
        pair.move("s", Circle(Point(-179.5, lat), 120_000))
    pair.unsubscribe("s")


def check_many_at_one_point(make_index: MakeMoving) -> None:
    """Messages and subscriptions that nothing but their ids tells apart."""
    for space in SPACES:
        pair = Pair(make_index, space)
        here = Point(1, 1, space=space)
        near, far = Box(0, 0, 1, 1, space=space), Box(2, 2, 3, 3, space=space)
        pair.publish_batch(
            [Message(n, keywords=["tea", "cake"], at=here, expires=n % 7 + 1) for n in range(300)]
        )
        pair.subscribe_batch([Subscription(n, "tea cake", near) for n in range(8)])
        pair.move_batch([*range(8)], [far] * 8)
        pair.move_batch([*range(8)], [near] * 8)
        for now in (1, 2, 4, 7):
            pair.advance(now)


def check_replaced_messages(make_index: MakeMoving) -> None:
    """A live id again: those that match both versions hear nothing."""
    for space in SPACES:
        pair = Pair(make_index, space)
        for number, wanted in enumerate(["tea", "cake", "tea OR cake", "tea NOT cake"]):
            pair.subscribe(Subscription(number, wanted, Box(0, 0, 5, 5, space=space)))
        here, there = Point(1, 1, space=space), Point(9, 9, space=space)
        for words, place in (
            (["tea"], here), (["cake"], here), (["tea", "cake"], here), (["tea"], there),
            (["tea"], here), (["tea"], here), ([], here),
        ):  # fmt: skip
            pair.publish(Message("m", keywords=words, at=place))
        pair.publish_batch([Message("m", keywords=["tea"], at=here)])
        pair.publish_batch([Message("m", keywords=["cake"], at=here, expires=9)])
        pair.advance(9)


def check_ids_of_both_kinds(make_index: MakeMoving) -> None:
    """7 and "7" are two ids, of subscriptions and of messages."""
    pair = Pair(make_index, Space.EARTH)
    for id in (7, "7", -(2**63), "été"):
        pair.subscribe(Subscription(id, "tea", Box(0, 0, 5, 5)))
        pair.publish(Message(id, keywords=["tea"], at=Point(1, 1)))
    pair.move("7", Box(2, 2, 3, 3))
    pair.unsubscribe(7)
    pair.publish(Message("7", keywords=["cake"], at=Point(1, 1)))


EVENTS: tuple[Check, ...] = (
    check_one_by_one,
    check_batches,
    check_small_and_large_moves,
    check_antimeridian_and_poles,
    check_many_at_one_point,
    check_replaced_messages,
    check_ids_of_both_kinds,
)
