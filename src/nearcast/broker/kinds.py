"""What a broker does for each kind of subscription, in the same words for all."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nearcast.batches import MessageBatch
from nearcast.model import (
    Box,
    Circle,
    Id,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Notification,
    Point,
    Polygon,
    Region,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.topk import ListChange, TopKIndex
from nearcast.topk.list_change import ListChanges, list_change
from nearcast.trending import TermsChange, TermsChanges, TrendingIndex

AnySubscription = Any  # one of the classes of `nearcast.model`


@dataclass(slots=True)
class Told:
    """What many messages that came together have changed.

    - `lists`, `terms`: of the best messages and of terms, those lists that are others than before
      the first of them, once each
    - `single`: all else, each with the row of the message that it was told of, in that order
    """

    lists: ListChanges | None = None
    terms: list[TermsChanges] = field(default_factory=list)
    single: list[tuple[int, Notification]] = field(default_factory=list)


class Kind(ABC):
    """An index of one kind of subscription with state, as the broker wants to speak to it."""

    index: Any

    @abstractmethod
    def subscribe(self, subscription: AnySubscription, time: float) -> list[Notification]:
        """Add a subscription, or replace the live one of the same id: what it is told at once."""

    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription."""
        self.index.unsubscribe(subscription_id)

    @abstractmethod
    def move(self, subscription_id: Id, to: Region | Point, time: float) -> list[Notification]:
        """A subscription is elsewhere now; TypeError for a place of another shape."""

    @abstractmethod
    def results(self, subscription_id: Id) -> list[Any]:
        """What a subscription has now."""

    def check(self, message: Message) -> None:
        """Refuse a message that `publish` would refuse."""
        self.index.check_time(message, self.index.now)

    def check_batch(self, messages: MessageBatch) -> None:
        """Refuse a batch that `publish_batch` would refuse."""
        self.index.check_batch(messages)

    @abstractmethod
    def publish(self, message: Message) -> list[Notification]:
        """A message arrives: who is told what."""

    @abstractmethod
    def publish_batch(self, messages: MessageBatch) -> None:
        """Many messages, of which nobody is told."""

    def publish_together(self, messages: MessageBatch) -> Told:
        """Many messages: who is told what, each time with the row of the message."""
        told = Told()
        for row in range(len(messages)):
            told.single += [(row, each) for each in self.publish(messages.message(row))]
        return told

    @abstractmethod
    def advance(self, now: float) -> list[Notification]:
        """Time passes: who is told what."""

    def save(self, path: os.PathLike[str]) -> None:
        """Write the index to a part of a file."""
        self.index.save(path)


class TopLists(Kind):
    """The k best messages."""

    def __init__(self, index: TopKIndex) -> None:
        self.index: TopKIndex = index

    def subscribe(self, subscription: AnySubscription, time: float) -> list[Notification]:
        return lists_told(self.index.subscribe(subscription), time)

    def subscribe_many(
        self, subscriptions: list[TopKSubscription], time: float
    ) -> list[Notification]:
        """Add subscriptions of different ids, or replace live ones: what they are told at once."""
        index, ids = self.index, [each.id for each in subscriptions]
        before = {id: index.results(id) for id in ids if id in index}
        index.subscribe_many(subscriptions)
        changes = (list_change(id, before.get(id, ()), index.results(id)) for id in ids)
        return lists_told([change for change in changes if change], time)

    def move(self, subscription_id: Id, to: Region | Point, time: float) -> list[Notification]:
        return self.subscribe(at_place(self.index.subscription(subscription_id), to), time)

    def results(self, subscription_id: Id) -> list[tuple[Id, float]]:
        return list(self.index.results(subscription_id))

    def publish(self, message: Message) -> list[Notification]:
        return lists_told(self.index.publish(message), message.time, message.id)

    def publish_batch(self, messages: MessageBatch) -> None:
        try:
            self.index.publish_batch(messages)
        except ValueError:  # perhaps because an id is in the window, whose message is replaced
            TopKIndex.publish_batch(self.index, messages)

    def publish_together(self, messages: MessageBatch) -> Told:
        return Told(self.index.publish_as_columns(messages))

    def advance(self, now: float) -> list[Notification]:
        return lists_told(self.index.advance(now), now)


class TermLists(Kind):
    """The k terms most talked about, in a region or around a point."""

    def __init__(self, index: TrendingIndex) -> None:
        self.index: TrendingIndex = index

    def subscribe(self, subscription: AnySubscription, time: float) -> list[Notification]:
        return _terms_told(self.index.subscribe(subscription), time)

    def move(self, subscription_id: Id, to: Region | Point, time: float) -> list[Notification]:
        return self.subscribe(at_place(self.index.subscription(subscription_id), to), time)

    def results(self, subscription_id: Id) -> list[tuple[str, float]]:
        return list(self.index.top(subscription_id))

    def publish(self, message: Message) -> list[Notification]:
        if message.keywords:
            changes = self.index.publish(message)
        elif message.time > self.index.now:  # nothing is said, but time passes
            changes = self.index.advance(message.time)
        else:
            changes = []
        return _terms_told(changes, message.time)

    def publish_batch(self, messages: MessageBatch) -> None:
        self.index.publish_batch(messages)

    def publish_together(self, messages: MessageBatch) -> Told:
        return Told(terms=[self.index.publish_as_columns(messages)])

    def advance(self, now: float) -> list[Notification]:
        return _terms_told(self.index.advance(now), now)


def at_place(subscription: AnySubscription, to: Region | Point) -> AnySubscription:
    """The subscription at another place; TypeError for a place of another shape.

    >>> at_place(NearbyTrendingSubscription("s", Point(0, 0)), Point(1, 2)).at.lon
    1.0
    """
    id = subscription.id
    match subscription:
        case TopKSubscription(keywords=keywords, k=k, alpha=alpha):
            return TopKSubscription(id, keywords, _a_point(id, to), k, alpha)
        case NearbyTrendingSubscription(k=k):
            return NearbyTrendingSubscription(id, _a_point(id, to), k)
        case TrendingSubscription(k=k):
            return TrendingSubscription(id, a_region(id, to), k)
    return MovingSubscription(id, subscription.expression, a_region(id, to))


def a_region(subscription_id: Id, to: Region | Point) -> Region:
    """A place that is a region; TypeError for another."""
    if not isinstance(to, Box | Circle | Polygon):
        raise TypeError(
            f"subscription {subscription_id!r} cannot move to {to!r}; give a Box, Circle or Polygon"
        )
    return to


def _a_point(subscription_id: Id, to: Region | Point) -> Point:
    if not isinstance(to, Point):
        raise TypeError(f"subscription {subscription_id!r} cannot move to {to!r}; give a Point")
    return to


def lists_told(
    changes: Iterable[ListChange], time: float, message_id: Id | None = None
) -> list[Notification]:
    """What subscribers are told of changed lists; `message_id` is that of the message, if any."""
    return [
        Notification(
            change.subscription_id,
            "top",
            message_id,
            score=dict(change.results).get(message_id) if message_id is not None else None,
            time=time,
            results=change.results,
            entered=change.entered,
            left=change.left,
        )
        for change in changes
    ]


def _terms_told(changes: Iterable[TermsChange], time: float) -> list[Notification]:
    return [
        Notification(
            change.subscription_id,
            "trend",
            None,
            terms=change.terms,
            time=time,
            entered=change.entered,
            left=change.left,
            moved=change.moved,
        )
        for change in changes
    ]
