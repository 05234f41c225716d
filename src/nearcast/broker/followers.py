"""`Followers`: boolean subscriptions that have moved, and the messages that live."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.broker.kinds import AnySubscription, Kind, Told, a_region
from nearcast.model import Id, Message, Notification, Point, Region, Subscription
from nearcast.moving import Change, MovingIndex


class Followers(Kind):
    """Results that follow people: what enters them and what leaves.

    A message without an end lives as long as it is one of the last `most_endless` of that sort, so
    that memory is bounded where nobody thinks of ends; unless the index gives such messages a
    lifetime.
    """

    def __init__(self, index: MovingIndex, most_endless: int) -> None:
        self.index: MovingIndex = index
        self._most_endless = most_endless
        self._endless: dict[Id, None] = {}  # the ids of messages without an end, oldest first

    @property
    def endless(self) -> list[Id]:
        """The ids of live messages that have no end, the oldest first."""
        return [*self._endless]

    @endless.setter
    def endless(self, ids: list[Id]) -> None:
        self._endless = dict.fromkeys(ids)

    def subscribe(self, subscription: AnySubscription, time: float) -> list[Notification]:
        return _told(self.index.subscribe(subscription), time)

    def take_over(self, subscription: Subscription) -> None:
        """A subscription that has stood still so far, and was told what it has."""
        self.index.subscribe(subscription)

    def move(self, subscription_id: Id, to: Region | Point, time: float) -> list[Notification]:
        return _told(self.index.move(subscription_id, a_region(subscription_id, to)), time)

    def results(self, subscription_id: Id) -> list[Id]:
        return _sorted(self.index.results(subscription_id))

    def results_of(self, subscription: Subscription) -> list[Id]:
        """What a subscription that stands still would have."""
        found = self.index.subscribe(subscription)
        self.index.unsubscribe(subscription.id)
        return _sorted(change.message_id for change in found)

    def check(self, message: Message) -> None:
        """Nothing is refused for its time."""

    def check_batch(self, messages: MessageBatch) -> None:
        """Nor here."""

    def publish(self, message: Message) -> list[Notification]:
        changes = self.index.publish(message)
        for id in self._too_many([(message.id, message.expires is None)]):
            changes += self.index.publish(_ended(id, message))
        return _told(changes, message.time)

    def publish_batch(self, messages: MessageBatch) -> None:
        self.index.publish_batch(messages)
        is_endless = np.isnan(messages.expires).tolist()
        for id in self._too_many(zip(messages.ids.to_pylist(), is_endless, strict=True)):
            self.index.publish(_ended(id, messages.message(len(messages) - 1)))

    def publish_together(self, messages: MessageBatch) -> Told:
        changes = self.index.publish_batch(messages).to_list()
        ids, times = messages.ids.to_pylist(), messages.time.tolist()
        row_of = {id: row for row, id in enumerate(ids)}
        told, row = Told(), 0
        for change in changes:
            if change.sign > 0:  # it is the message that came; one that leaves does so in between
                row = row_of.get(change.message_id, row)
            if change.subscription_id not in self.index:  # columns have ids of one type
                change = replace(change, subscription_id=int(change.subscription_id))
            told.single += [(row, each) for each in _told([change], times[row])]
        last, is_endless = len(messages) - 1, np.isnan(messages.expires).tolist()
        for id in self._too_many(zip(ids, is_endless, strict=True)):
            ended = self.index.publish(_ended(id, messages.message(last)))
            told.single += [(last, each) for each in _told(ended, times[last])]
        return told

    def advance(self, now: float) -> list[Notification]:
        return _told(self.index.advance(now), now)

    def _too_many(self, came: Iterable[tuple[Id, bool]]) -> list[Id]:
        """Messages have come, with or without an end: the ids of those that are to end now."""
        if self.index.lifetime is not None:
            return []
        for id, is_endless in came:
            self._endless.pop(id, None)
            if is_endless:
                self._endless[id] = None
        ended = []
        while len(self._endless) > self._most_endless:
            ended.append(next(iter(self._endless)))
            del self._endless[ended[-1]]
        return ended


def _ended(id: Id, last: Message) -> Message:
    """In place of the message of this id one that ends as it comes, when the last one does."""
    return Message(id, keywords=[], at=last.at, time=last.time, expires=last.time)


def _told(changes: Iterable[Change], time: float) -> list[Notification]:
    return [
        Notification(
            change.subscription_id,
            "enter" if change.sign > 0 else "leave",
            change.message_id,
            time=time,
        )
        for change in changes
    ]


def _sorted(ids: Iterable[Id]) -> list[Any]:
    """Numbers first."""
    return sorted(ids, key=lambda id: (isinstance(id, str), id))
