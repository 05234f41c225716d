"""The oracle: every live message is looked at for every subscription, as the page reads."""

from __future__ import annotations

import os
from math import inf
from typing import Any, Self

from nearcast import storage
from nearcast.boolean.scan import row_of, subscription_of
from nearcast.model import Box, Id, Message, Point, Space, Subscription
from nearcast.model._checks import finite_number
from nearcast.model.ids import check_id
from nearcast.model.shapes import Region
from nearcast.moving.change import Change, difference
from nearcast.moving.index import MovingIndex, MovingStats
from nearcast.moving.late_positions import LatePositions
from nearcast.space import is_in


class ScanMoving(MovingIndex):
    """No structure: the results and the changes that all other indexes must have.

    >>> index = ScanMoving()
    >>> index.subscribe(Subscription("walker", "tea", Box(0, 0, 1, 1)))
    []
    >>> index.publish(Message(7, text="Hot tea", at=Point(2, 0), expires=60))
    []
    >>> index.move("walker", Box(1, 0, 2, 1))
    [Change(subscription_id='walker', sign=1, message_id=7)]
    >>> index.results("walker")
    {7}
    >>> index.advance(60)
    [Change(subscription_id='walker', sign=-1, message_id=7)]
    """

    def _begin(self) -> None:
        self._subscriptions: dict[Id, Subscription] = {}
        self._position_time: dict[Id, float] = {}
        self._messages: dict[Id, Message] = {}
        self._candidates = 0
        self._moves = 0

    def subscribe(self, subscription: Subscription) -> list[Change]:
        self._check_subscription(subscription)
        before = self.results(subscription.id) if subscription.id in self else set()
        self._subscriptions[subscription.id] = subscription
        self._position_time.pop(subscription.id, None)
        return difference(subscription.id, before, self.results(subscription.id))

    def unsubscribe(self, subscription_id: Id) -> list[Change]:
        before = self.results(subscription_id)
        del self._subscriptions[subscription_id]
        self._position_time.pop(subscription_id, None)
        return difference(check_id(subscription_id, "subscription"), before, set())

    def move(
        self, subscription_id: Id, region: Region | None, *, time: float | None = None
    ) -> list[Change]:
        old = self.subscription(subscription_id)
        self._check_region(old, region)
        if time is not None:
            time = finite_number(time, f"subscription {old.id!r}: time")
            if self._is_late(old.id, time, self._position_time.get(old.id, -inf)):
                return []
            self._position_time[old.id] = time
        before = self.results(old.id)
        self._subscriptions[old.id] = Subscription(old.id, old.expression, region)
        self._moves += 1
        return difference(old.id, before, self.results(old.id))

    def publish(self, message: Message) -> list[Change]:
        self._check_message(message)
        before = self._all_results()
        self.now = max(self.now, message.time)
        self._messages[message.id] = message
        self._forget_expired()
        return self._changes(before)

    def advance(self, now: float) -> list[Change]:
        now = self._checked_now(now)
        before = self._all_results()
        self.now = now
        self._forget_expired()
        return self._changes(before)

    def results(self, subscription_id: Id) -> set[Id]:
        subscription = self.subscription(subscription_id)
        self._candidates += len(self._messages)
        return {
            message.id
            for message in self._messages.values()
            if subscription.expression.matches(set(message.keywords))
            and is_in(message.at, subscription.region)
        }

    def subscription(self, subscription_id: Id) -> Subscription:
        if subscription_id not in self:
            raise KeyError(subscription_id)
        return self._subscriptions[subscription_id]

    def ids(self) -> list[Id]:
        return list(self._subscriptions)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, subscription_id: object) -> bool:
        try:
            return check_id(subscription_id, "subscription") in self._subscriptions
        except (TypeError, ValueError):
            return False

    @property
    def next_expiry(self) -> float:
        return min(map(self._end_of, self._messages.values()), default=inf)

    def stats(self) -> MovingStats:
        return MovingStats(
            len(self), len(self._messages), 0, 0, self._candidates, self._moves, self._moves
        )

    def check(self) -> None:
        assert all(self._end_of(message) > self.now for message in self._messages.values())
        assert self._position_time.keys() <= self._subscriptions.keys()

    def save(self, path: str | os.PathLike[str]) -> None:
        meta = {
            "space": self.space.name,
            "lifetime": self.lifetime,
            "late_positions": self.late_positions.name,
            "now": None if self.now == -inf else self.now,
            "subscriptions": [row_of(each) for each in self._subscriptions.values()],
            "position_time": list(self._position_time.items()),
            "messages": [_message_row(each) for each in self._messages.values()],
            "counts": [self._candidates, self._moves],
        }
        storage.write_arrays(path, "ScanMoving", meta, {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, _ = storage.read_arrays(path, "ScanMoving")
        space = Space[meta["space"]]
        index = cls(
            space=space,
            lifetime=meta["lifetime"],
            late_positions=LatePositions[meta["late_positions"]],
        )
        index.now = -inf if meta["now"] is None else meta["now"]
        subscriptions = [subscription_of(row, space) for row in meta["subscriptions"]]
        index._subscriptions = {each.id: each for each in subscriptions}
        index._position_time = dict(meta["position_time"])
        messages = [_message_of(row, space) for row in meta["messages"]]
        index._messages = {each.id: each for each in messages}
        index._candidates, index._moves = meta["counts"]
        return index

    def _forget_expired(self) -> None:
        self._messages = {
            id: message
            for id, message in self._messages.items()
            if self._end_of(message) > self.now
        }

    def _all_results(self) -> dict[Id, set[Id]]:
        return {id: self.results(id) for id in self._subscriptions}

    def _changes(self, before: dict[Id, set[Id]]) -> list[Change]:
        return [
            change
            for id in self._subscriptions
            for change in difference(id, before[id], self.results(id))
        ]


def _message_row(message: Message) -> list[Any]:
    at = message.at
    place = [at.west, at.south, at.east, at.north] if isinstance(at, Box) else [at.lon, at.lat]
    return [message.id, message.keywords, place, message.time, message.expires]


def _message_of(row: list[Any], space: Space) -> Message:
    id, keywords, place, time, expires = row
    at = Box(*place, space=space) if len(place) == 4 else Point(*place, space=space)
    return Message(id, keywords=keywords, at=at, time=time, expires=expires)
