"""Messages expire, positions come late."""

from __future__ import annotations

from math import nan

from nearcast.checks.expecting import expects
from nearcast.checks.moving.pair import Check, MakeMoving, Pair
from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.moving import LatePositions

HERE, AWAY = Box(0, 0, 5, 5), Box(6, 6, 9, 9)


def _message(id: int, time: float, expires: float | None) -> Message:
    return Message(id, keywords=["tea"], at=Point(1, 1), time=time, expires=expires)


def check_expiry(make_index: MakeMoving) -> None:
    """At exactly `expires` a message is gone, by time that passes or by a message's time."""
    pair = Pair(make_index, Space.EARTH)
    pair.subscribe(Subscription("s", "tea", HERE))
    pair.publish(_message(1, 0, 10))
    pair.publish(_message(2, 0, None))
    pair.advance(9.999)
    assert pair.index.results("s") == {1, 2}
    pair.advance(10)
    assert pair.index.results("s") == {2}
    pair.publish(_message(3, 11, 12))
    pair.publish(_message(4, 12, 20))
    assert pair.index.results("s") == {2, 4}
    pair.advance(5)  # nothing: time only passes
    assert pair.index.now == 12


def check_expired_on_arrival(make_index: MakeMoving) -> None:
    """A message that is over when it arrives reaches nobody, but replaces a live one."""
    pair = Pair(make_index, Space.EARTH)
    pair.subscribe(Subscription("s", "tea", HERE))
    pair.publish(_message(1, 0, None))
    pair.publish(_message(2, 5, 5))
    pair.advance(10)
    pair.publish(_message(3, 4, 10))
    pair.publish(_message(4, 4, 11))
    assert pair.index.results("s") == {1, 4}
    pair.publish(_message(1, 4, 6))
    pair.publish_batch([_message(5, 10, 10), _message(6, 10, 12), _message(7, 12, 13)])
    assert pair.index.results("s") == {7}


def check_same_id_as_it_expires(make_index: MakeMoving) -> None:
    """A message whose time ends the one of the same id: nothing changes for those who match."""
    pair = Pair(make_index, Space.EARTH)
    pair.subscribe(Subscription("s", "tea", HERE))
    pair.publish(_message(1, 0, 10))
    pair.publish(_message(1, 10, 20))
    assert pair.index.results("s") == {1}
    pair.publish_batch([_message(1, 20, 30), _message(2, 30, 40)])
    pair.advance(100)


def check_lifetime(make_index: MakeMoving) -> None:
    """Without `expires` a message lives for the lifetime of the index."""
    pair = Pair(make_index, Space.EARTH, lifetime=10.0)
    pair.subscribe(Subscription("s", "tea", HERE))
    pair.publish(_message(1, 0, None))
    pair.publish_batch([_message(2, 0, 20), _message(3, 5, None)])
    for now in (9, 10, 15, 20):
        pair.advance(now)
    pair.publish(_message(4, 10, None))  # over already


def check_late_positions(make_index: MakeMoving) -> None:
    """An older position is ignored, refused or taken, as the index was told."""
    for rule in LatePositions:
        pair = Pair(make_index, Space.EARTH, late_positions=rule)
        pair.subscribe(Subscription(1, "tea", HERE))
        pair.publish(_message(1, 0, None))
        pair.move(1, AWAY, time=10)
        pair.move(1, HERE, time=10)
        pair.move(1, AWAY)
        if rule is LatePositions.REFUSED:
            with expects(ValueError, naming="9"):
                pair.index.move(1, HERE, time=9)
            pair.compare_results()
        else:
            pair.move(1, HERE, time=9)
            pair.move_batch([1], [AWAY], [8.0])
        pair.move_batch([1], [HERE], [nan])
        pair.move_batch([1], [AWAY], [11.0])
        pair.subscribe(Subscription(1, "tea", HERE))  # a new one has no positions yet
        pair.move(1, AWAY, time=1)


TIMES: tuple[Check, ...] = (
    check_expiry,
    check_expired_on_arrival,
    check_same_id_as_it_expires,
    check_lifetime,
    check_late_positions,
)
