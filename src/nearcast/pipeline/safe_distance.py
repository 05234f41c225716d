"""How far may a moving subscription go before it has to say where it is?

While the result of a circle is the same when it is drawn `d` metres larger and `d` smaller, no step
shorter than `d` changes it, because the circle that it leads to lies between the two. So who knows
`d` may stay silent until it has gone that far from where it last was.

A message that comes into the larger circle may change that. A *hidden* subscription waits for it
there, with the same words; its first `enter` is the word to report at once, a safe distance of 0.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from nearcast.broker import Broker
from nearcast.model import Circle, Id, MovingSubscription, Notification, Point, Region, Subscription

LOOK_AHEAD = 2.0
"""The most distance, as a multiple of the radius."""
TRIED = 4
"""Distances, each half of the one before; a shorter one is not worth the search."""
_HIDDEN = "\0safe"


@dataclass(frozen=True, slots=True)
class SafeDistance:
    """A subscription may go so many metres without a word; at 0 it has to say where it is."""

    subscription_id: Id
    metres: float


def hidden_id(id: Id) -> str:
    """The id of the subscription that waits around another."""
    return f"{id}{_HIDDEN}"


def is_hidden(id: Id) -> bool:
    """Is it one of these?"""
    return isinstance(id, str) and id.endswith(_HIDDEN)


def owner_of(id: Id, known: Container[Id]) -> Id:
    """Whom a hidden subscription waits for, one of those that are known; any other is its own.

    >>> owner_of(hidden_id(7), [7]), owner_of("7", ["7"])
    (7, '7')
    """
    if not is_hidden(id):
        return id
    owner = str(id).removesuffix(_HIDDEN)
    return owner if owner in known else int(owner)


class SafeDistances:
    """The safe distances of the moving subscriptions of a broker, which holds all there is to know.

    >>> from nearcast.model import Message
    >>> broker = Broker()
    >>> _ = broker.publish(Message(1, text="tea", at=Point(0, 0.01)))  # 1112 m north
    >>> around = Circle(Point(0, 0), 500)
    >>> _ = broker.subscribe(MovingSubscription("walker", "tea", around))
    >>> SafeDistances(broker).after_move("walker", around, is_wanted=True)
    [SafeDistance(subscription_id='walker', metres=500.0)]
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def after_move(self, id: Id, place: Region | Point, *, is_wanted: bool) -> list[SafeDistance]:
        """What to tell a subscription that has moved: how far it may go, if it wants to know."""
        self.forget(id)
        if not is_wanted:
            return []
        subscription = self._broker.subscription(id)
        if not isinstance(place, Circle) or not isinstance(subscription, Subscription):
            return [SafeDistance(id, 0.0)]
        metres = self._distance(subscription, place)
        if metres:
            self._broker.subscribe(
                MovingSubscription(
                    hidden_id(id),
                    subscription.expression,
                    Circle(place.centre, place.radius + metres),
                )
            )
        return [SafeDistance(id, metres)]

    def what_to_tell(self, told: Notification) -> SafeDistance | None:
        """Something happened to a hidden subscription; the first message that comes ends it."""
        hidden = str(told.subscription_id)
        if told.kind != "enter" or hidden not in self._broker:
            return None
        self._broker.unsubscribe(hidden)
        return SafeDistance(owner_of(hidden, self._broker), 0.0)

    def forget(self, id: Id) -> None:
        """It has moved, or is gone."""
        if hidden_id(id) in self._broker:
            self._broker.unsubscribe(hidden_id(id))

    def _distance(self, subscription: Subscription, circle: Circle) -> float:
        metres = LOOK_AHEAD * circle.radius
        for _ in range(TRIED):
            if self._is_safe(subscription, circle, metres):
                return metres
            metres /= 2
        return 0.0

    def _is_safe(self, subscription: Subscription, circle: Circle, metres: float) -> bool:
        larger = self._found(subscription, circle, circle.radius + metres)
        if circle.radius <= metres:  # there is no smaller circle: nothing may be in it
            return not larger
        return larger == self._found(subscription, circle, circle.radius - metres)

    def _found(self, subscription: Subscription, circle: Circle, radius: float) -> set[Id]:
        """The live messages that a circle would have."""
        around = Subscription("\0", subscription.expression, Circle(circle.centre, radius))
        told = self._broker.subscribe(around, follows=True)
        self._broker.unsubscribe(around.id)
        return {each.message_id for each in told if each.message_id is not None}
