"""One object for one process: subscribe, move, unsubscribe, publish."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import inf, isfinite
from typing import Any

from nearcast import boolean, topk
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex, RarestWordTree
from nearcast.boolean.index import check_space
from nearcast.explain import Explanation, explain
from nearcast.explain.rank import RankExplanation, explain_rank
from nearcast.model import (
    Box,
    Circle,
    Id,
    Message,
    Notification,
    Point,
    Polygon,
    Region,
    Space,
    Subscription,
    TopKSubscription,
)
from nearcast.storage import BadFile, PartPath, part_kinds, read_kind, writing_parts
from nearcast.topk import CountWindow, LazyWindow, ListChange, TopKIndex, WordLists

WINDOW = 10_000
"""So many messages top-k lists are made of, unless `top` says otherwise."""

_INDEX, _TOP = "index", "top"  # the parts of a saved broker


class Broker:
    """Takes subscriptions and messages, and tells who is to be notified of what.

    - Each message that matches a boolean subscription (`Subscription`) is a notification of kind
      `match`.
    - A `TopKSubscription` has a list, the k best messages of a sliding window. Each change of it is
      a notification of kind `top`. The window is kept whether there are such subscriptions or not.

    A call that raises has changed nothing.

    Parameters
    ----------
    index: any index of `nearcast.boolean`; a `RarestWordTree` unless given
    top: any index of `nearcast.topk`, with its window and its weights of words; on the Earth,
        unless given, `WordLists` over the last 10,000 messages, which may come in any order of time
    space: what coordinates mean; by default that of the indexes, or the Earth

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

    >>> [first] = broker.subscribe(TopKSubscription("best", "ipad", Point(2.35, 48.86), k=1))
    >>> first.kind, first.results
    ('top', ((1, 0.853553390593...),))
    >>> [change] = broker.publish(Message(2, text="iPad", at=Point(2.35, 48.86)))
    >>> change.entered, change.left, broker.results("best")
    ((2,), (1,), [(2, 1.0)])
    """

    def __init__(
        self,
        *,
        index: BooleanIndex | None = None,
        top: TopKIndex | None = None,
        space: Space | None = None,
    ) -> None:
        spaces = {given.space for given in (index, top) if given is not None}
        spaces |= set() if space is None else {space}
        if len(spaces) > 1:
            names = " and ".join(sorted(map(str, spaces)))
            raise ValueError(f"the broker and its indexes are in {names}; give one")
        self._space = spaces.pop() if spaces else Space.EARTH
        self._index = index if index is not None else RarestWordTree(space=self._space)
        if top is None and self._space is Space.EARTH:
            top = WordLists(CountWindow(WINDOW), lateness=inf)
        self._top = None if top is None else LazyWindow(top)

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: Subscription | TopKSubscription) -> list[Notification]:
        """Add a subscription, or replace the live one of the same id, of whatever kind.

        A boolean one hears of what follows, so its list is empty. A top-k one is told its list at
        once, if there is anything in it.
        """
        if isinstance(subscription, TopKSubscription):
            top = self._top_for(subscription)
            changes = top.index.subscribe(subscription)
            if subscription.id in self._index:
                self._index.remove(subscription.id)
            return self._told(changes, self._now())
        if not isinstance(subscription, Subscription):
            raise TypeError(
                f"{subscription!r} is a {type(subscription).__name__}, and this broker serves "
                "boolean and top-k subscriptions; give a Subscription or a TopKSubscription"
            )
        self._index.insert(subscription)
        self._end_lists([subscription.id])
        return []

    def subscribe_batch(self, subscriptions: SubscriptionBatch) -> None:
        """Add many boolean subscriptions, all or none; live ids are replaced."""
        self._index.insert_batch(subscriptions)
        if self._top is not None and self._top.subscriptions:
            self._end_lists(subscriptions.ids.to_pylist())

    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription before the next message; KeyError when there is none of this id."""
        if (top := self._top_of(subscription_id)) is not None:
            top.unsubscribe(subscription_id)
        else:
            self._index.remove(subscription_id)

    def move(self, subscription_id: Id, to: Region | Point) -> list[Notification]:
        """Let a boolean subscription listen in another region from the next message on.

        A top-k one moves to a point, and is told its list if that is another there.

        >>> broker = Broker()
        >>> broker.subscribe(Subscription("tea", "tea", Circle(Point(0, 0), 1000)))
        []
        >>> broker.move("tea", Circle(Point(10, 10), 1000))
        []
        >>> [n.subscription_id for n in broker.publish(Message(1, text="tea", at=Point(10, 10)))]
        ['tea']
        """
        subscription = self.subscription(subscription_id)
        is_top = isinstance(subscription, TopKSubscription)
        if not isinstance(to, Point if is_top else Box | Circle | Polygon):
            shapes = "Point" if is_top else "Box, Circle or Polygon"
            raise TypeError(
                f"subscription {subscription.id!r} cannot move to {to!r}; give a {shapes}"
            )
        if isinstance(subscription, TopKSubscription):
            assert isinstance(to, Point)
            words, k, alpha = subscription.keywords, subscription.k, subscription.alpha
            return self.subscribe(TopKSubscription(subscription.id, words, to, k, alpha))
        assert not isinstance(to, Point)
        return self.subscribe(Subscription(subscription.id, subscription.expression, to))

    def subscription(self, subscription_id: Id) -> Subscription | TopKSubscription:
        """A live subscription; KeyError for an unknown id.

        The expression of a boolean one is in minimal form, the words of a top-k one in any order.
        """
        if (top := self._top_of(subscription_id)) is not None:
            return top.subscription(subscription_id)
        return self._index.subscription(subscription_id)

    def __len__(self) -> int:
        lists = 0 if self._top is None else len(self._top.subscriptions)
        return len(self._index) + lists

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._index or self._top_of(subscription_id) is not None

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[Notification]:
        """Who is to be told of a message: those it matches, and those whose list it changed."""
        matched = self._index.match(message)
        changes = [] if self._top is None else self._top.publish(message)
        told = [Notification(id, "match", message.id, time=message.time) for id in matched]
        return told + self._told(changes, message.time, message.id)

    def publish_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """Many messages at once, as columns; the same matches for any number of threads.

        They count for top-k lists too, one after the other; look these up with `results`.
        """
        matches = self._index.match_batch(messages, threads=threads)
        if self._top is not None:
            self._top.publish_batch(messages)
        return matches

    def advance(self, now: float) -> list[Notification]:
        """Time passes, and a window of so many seconds moves on: whose list changed by that."""
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        return [] if self._top is None else self._told(self._top.advance(now), now)

    def results(self, subscription_id: Id) -> list[tuple[Id, float]]:
        """The list of a top-k subscription, best first: ids of messages and their scores.

        A boolean subscription keeps no result: TypeError.
        """
        if (top := self._top_of(subscription_id)) is not None:
            return list(top.results(subscription_id))
        raise TypeError(
            f"subscription {self.subscription(subscription_id).id!r} is boolean and keeps no "
            "result; collect what publish() returns"
        )

    def explain(self, subscription_id: Id, message: Message) -> Explanation | RankExplanation:
        """Why a live subscription wants the message or not; publishes nothing."""
        check_space(f"message {message.id!r} is", message.at.space, self._space)
        subscription = self.subscription(subscription_id)
        if isinstance(subscription, Subscription):
            return explain(subscription, message)
        assert self._top is not None
        top = self._top.index
        return explain_rank(subscription, message, top.scoring, top.results(subscription.id))

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, all or nothing."""
        with writing_parts(path, "Broker") as part_path:
            self._index.save(part_path(_INDEX))
            if self._top is not None:
                self._top.index.save(part_path(_TOP))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Broker:
        """Read a saved broker, which goes on where it was; the file never changes.

        A saved index of `nearcast.boolean` is read too, as a broker with an empty window.
        """
        kind = read_kind(path)
        if kind != "Broker":
            index_class = _class_of(kind, boolean, BooleanIndex, path)
            return cls(index=index_class.load(path))
        kinds = part_kinds(path)
        index_class = _class_of(kinds[_INDEX], boolean, BooleanIndex, path)
        index, top = index_class.load(PartPath(path, _INDEX)), None
        if _TOP in kinds:
            top_class = _class_of(kinds[_TOP], topk, TopKIndex, path)
            top = top_class.load(PartPath(path, _TOP))
        return cls(index=index, top=top)

    # ------------------------------------------------------------------ private

    def _top_for(self, subscription: TopKSubscription) -> LazyWindow:
        if self._top is None:
            raise ValueError(
                f"subscription {subscription.id!r} is a TopKSubscription, and this broker of a "
                "plane has no window for it; give top=WordLists(CountWindow(10_000), "
                "space=Space.PLANE, max_dist=...) when you make the broker"
            )
        return self._top

    def _top_of(self, subscription_id: object) -> TopKIndex | None:
        """The top-k index, up to date, where it has a subscription of this id."""
        lists = None if self._top is None else self._top.subscriptions
        if self._top is None or not lists or subscription_id not in lists:
            return None
        return self._top.index

    def _end_lists(self, ids: Iterable[Id]) -> None:
        """Boolean subscriptions have taken the place of those among these that have lists."""
        for id in ids:
            if (top := self._top_of(id)) is not None:
                top.unsubscribe(id)

    def _now(self) -> float:
        """The latest time that was heard of, for notifications that no message causes."""
        now = -inf if self._top is None else self._top.index.now
        return now if isfinite(now) else 0.0

    def _told(
        self, changes: Iterable[ListChange], time: float, message_id: Id | None = None
    ) -> list[Notification]:
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


def _class_of(kind: str, room: Any, base: type, path: str | os.PathLike[str]) -> Any:
    """The class that wrote what is saved; `BadFile` for one that a broker cannot use."""
    found = getattr(room, kind) if kind in room.__all__ else None
    if not (isinstance(found, type) and issubclass(found, base)):
        raise BadFile(
            f"{os.fspath(path)} holds a {kind}, which a broker cannot use; "
            "give a file that Broker.save() wrote"
        )
    return found
