"""One object for one process: subscribe, move, unsubscribe, publish."""

from __future__ import annotations

import os
from math import isfinite

from nearcast import boolean
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex, RarestWordTree
from nearcast.boolean.index import check_space
from nearcast.explain import Explanation, explain
from nearcast.model import (
    Box,
    Circle,
    Id,
    Message,
    Notification,
    Polygon,
    Region,
    Space,
    Subscription,
)
from nearcast.storage import BadFile, read_kind


class Broker:
    """Takes subscriptions and messages, and tells who is to be notified of what.

    It serves boolean subscriptions (`Subscription`): each message that matches one is a
    notification of kind `match`. A call that raises has changed nothing.

    Parameters
    ----------
    index: any index of `nearcast.boolean`; a `RarestWordTree` unless given
    space: what coordinates mean; by default that of the index, or the Earth

    >>> from nearcast.model import Point
    >>> broker = Broker()
    >>> broker.subscribe(Subscription("deals", "ipad AND (discount OR sale)", Box(2, 48, 3, 49)))
    []
    >>> broker.publish(Message(1, text="iPad sale!", at=Point(2.35, 48.86), time=12.0))
    [Notification(subscription_id='deals', kind='match', message_id=1, score=None, terms=None,
                  time=12.0)]
    >>> print(broker.explain("deals", Message(2, text="iPad case", at=Point(2.35, 48.86))))
    no match: needs 'discount' or 'sale'
      wanted: (discount AND ipad) OR (ipad AND sale), in the box 2, 48, 3, 49
      said:   'iPad case', at 2.35, 48.86
    """

    def __init__(self, *, index: BooleanIndex | None = None, space: Space | None = None) -> None:
        if index is not None and space not in (None, index.space):
            raise ValueError(f"the broker is in {space}, its index in {index.space}; give one")
        self._index = index if index is not None else RarestWordTree(space=space or Space.EARTH)

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: Subscription) -> list[Notification]:
        """Add a subscription, or replace the live one of the same id; it hears of what follows.

        The list is empty: a boolean subscription has no first results.
        """
        if not isinstance(subscription, Subscription):
            raise TypeError(
                f"{subscription!r} is a {type(subscription).__name__}, and this broker serves "
                "boolean subscriptions; give a Subscription"
            )
        self._index.insert(subscription)
        return []

    def subscribe_batch(self, subscriptions: SubscriptionBatch) -> None:
        """Add many boolean subscriptions, all or none; live ids are replaced."""
        self._index.insert_batch(subscriptions)

    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription before the next message; KeyError when there is none of this id."""
        self._index.remove(subscription_id)

    def move(self, subscription_id: Id, region: Region) -> list[Notification]:
        """Let a subscription listen in another region from the next message on.

        >>> from nearcast.model import Point
        >>> broker = Broker()
        >>> broker.subscribe(Subscription("tea", "tea", Circle(Point(0, 0), 1000)))
        []
        >>> broker.move("tea", Circle(Point(10, 10), 1000))
        []
        >>> [n.subscription_id for n in broker.publish(Message(1, text="tea", at=Point(10, 10)))]
        ['tea']
        """
        subscription = self.subscription(subscription_id)
        if not isinstance(region, Box | Circle | Polygon):
            raise TypeError(
                f"subscription {subscription.id!r} cannot move to {region!r}; "
                "give a Box, Circle or Polygon"
            )
        return self.subscribe(Subscription(subscription.id, subscription.expression, region))

    def subscription(self, subscription_id: Id) -> Subscription:
        """A live subscription, its expression in minimal form; KeyError for an unknown id."""
        return self._index.subscription(subscription_id)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._index

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[Notification]:
        """Who is to be told of a message: one notification for each subscription it matches."""
        return [
            Notification(subscription_id, "match", message.id, time=message.time)
            for subscription_id in self._index.match(message)
        ]

    def publish_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """Many messages at once, as columns; the same matches for any number of threads."""
        return self._index.match_batch(messages, threads=threads)

    def advance(self, now: float) -> list[Notification]:
        """Time passes.  A boolean subscription does not depend on it, so the list is empty."""
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        return []

    def results(self, subscription_id: Id) -> list[Id]:
        """The current result of a stateful subscription; a boolean one has none to look up."""
        raise TypeError(
            f"subscription {self.subscription(subscription_id).id!r} is boolean and keeps no "
            "result; collect what publish() returns"
        )

    def explain(self, subscription_id: Id, message: Message) -> Explanation:
        """Why a live subscription wants the message or not; publishes nothing."""
        check_space(f"message {message.id!r} is", message.at.space, self._index.space)
        return explain(self.subscription(subscription_id), message)

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, all or nothing."""
        self._index.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Broker:
        """Read a saved broker, or a saved index of `nearcast.boolean`; the file never changes."""
        kind = read_kind(path)
        index_class = getattr(boolean, kind) if kind in boolean.__all__ else None
        if not (isinstance(index_class, type) and issubclass(index_class, BooleanIndex)):
            raise BadFile(
                f"{os.fspath(path)} holds a {kind}, which a broker cannot use; "
                "give a file that Broker.save() wrote"
            )
        return cls(index=index_class.load(path))
