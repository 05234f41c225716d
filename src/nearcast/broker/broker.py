"""`Broker`: every kind of subscription, one stream of messages."""

from __future__ import annotations

import os
from math import inf, isfinite
from operator import itemgetter
from typing import Any

from nearcast import boolean, moving, storage, topk, trending
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex, RarestWordTree
from nearcast.boolean.index import check_space
from nearcast.broker.followers import Followers
from nearcast.broker.kinds import Kind, TermLists, Told, TopLists, a_region
from nearcast.broker.recent import RecentMessages
from nearcast.explain import Explanation, explain
from nearcast.explain.rank import RankExplanation, explain_rank
from nearcast.model import (
    Id,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Notification,
    Point,
    Region,
    Space,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.moving import MovingIndex, WordQuadtrees
from nearcast.storage import BadFile, PartPath, part_kinds, read_kind, writing_parts
from nearcast.topk import CountWindow, TopKIndex, WordLists
from nearcast.trending import CellRows, Decay, TermFields, TrendingIndex

RECENT = 10_000
"""So many messages top-k lists are made of, unless `top` says otherwise; and so many a broker
remembers for whoever comes as the first of a kind."""
HALF_LIFE = 3600.0
"""Seconds after which a document counts half for trending terms, unless an index says otherwise."""

AnySubscription = (
    Subscription | TopKSubscription | TrendingSubscription | NearbyTrendingSubscription
)
_INDEX, _OWN = "index", "own"  # parts of a saved broker besides those of its kinds
_MOVING, _TOP, _TRENDING, _NEARBY = "moving", "top", "trending", "nearby"
# In this order kinds hear of a message.
_ROOM_OF: dict[str, tuple[Any, type]] = {
    _TRENDING: (trending, TrendingIndex),
    _NEARBY: (trending, TrendingIndex),
    _TOP: (topk, TopKIndex),
    _MOVING: (moving, MovingIndex),
}


class Broker:
    """Takes subscriptions and messages, and tells who is to be notified of what.

    - Each message that matches a boolean subscription (`Subscription`) is a notification of kind
      `match`. Once `move` has been called for it, it *follows*: a message that comes into its
      result is an `enter`, one that leaves it, by a move or because it expires, a `leave`.
    - A `TopKSubscription` has a list, the k best messages of a sliding window. Each change of it is
      a notification of kind `top`.
    - A `TrendingSubscription` and a `NearbyTrendingSubscription` have a list of terms. When other
      terms are in it, or in another order, that is a `trend`.

    An index that you give hears of every message. Of the other kinds each is made for the first
    subscription that needs it, and then hears of the last 10,000 messages, which every broker
    remembers. A message without `expires` lives as long as it is among these, for those who
    follow.

    A call that raises has changed nothing.

    Parameters
    ----------
    index: any index of `nearcast.boolean`; a `RarestWordTree` unless given
    moving: any index of `nearcast.moving`; `WordQuadtrees` unless given
    top: any index of `nearcast.topk`, with its window and its weights of words; on the Earth,
        unless given, `WordLists` over the last 10,000 messages, which may come in any order of time
    trending, nearby: indexes of `nearcast.trending`, for terms in a region and around a point, with
        a half-life of an hour unless given; in a plane, `nearby` must be
    half_life: of the documents in indexes of `nearcast.trending` that are not given, in seconds
    space: what coordinates mean; by default that of the indexes, or the Earth

    >>> from nearcast import Box
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

    >>> [first] = broker.subscribe(TrendingSubscription("here", Box(2, 48, 3, 49), k=2))
    >>> first.kind, [term for term, _ in first.terms]
    ('trend', ['ipad', 'sale'])
    """

    def __init__(
        self,
        *,
        index: BooleanIndex | None = None,
        moving: MovingIndex | None = None,
        top: TopKIndex | None = None,
        trending: TrendingIndex | None = None,
        nearby: TrendingIndex | None = None,
        half_life: float = HALF_LIFE,
        space: Space | None = None,
    ) -> None:
        given: dict[str, Any] = {
            name: each
            for name, each in zip(_ROOM_OF, (trending, nearby, top, moving), strict=True)
            if each is not None
        }
        spaces = {each.space for each in given.values()}
        spaces |= set() if index is None else {index.space}
        spaces |= set() if space is None else {space}
        if len(spaces) > 1:
            names = " and ".join(sorted(map(str, spaces)))
            raise ValueError(f"the broker and its indexes are in {names}; give one")
        self._space = spaces.pop() if spaces else Space.EARTH
        self._index = index if index is not None else RarestWordTree(space=self._space)
        self._recent = RecentMessages(RECENT, self._space)
        self._now = -inf
        self._half_life = Decay(half_life).half_life
        self._kinds: dict[str, Kind] = {}
        for name, each in given.items():
            self._kinds[name] = _kind(name, each)
            self._now = max(self._now, each.now)

    # ------------------------------------------------------------------ subscriptions

    def subscribe(
        self, subscription: AnySubscription, *, follows: bool = False
    ) -> list[Notification]:
        """Add a subscription, or replace the live one of the same id, of whatever kind.

        A boolean one hears of what follows, so its list is empty; one that `follows` from the
        beginning, like every `MovingSubscription`, is told of the live messages that it finds. One
        with a list is told that at once, if there is anything in it.
        """
        name = _MOVING if follows else _name_for(subscription)
        if follows and not isinstance(subscription, Subscription):
            raise TypeError(f"{subscription!r} cannot follow; give a Subscription")
        told = []
        if name == _INDEX:
            assert isinstance(subscription, Subscription)
            self._index.insert(subscription)
        else:
            told = self._awake(name, subscription.id).subscribe(subscription, self._time)
        self._end_others(subscription.id, name)
        return told

    def subscribe_batch(self, subscriptions: SubscriptionBatch) -> None:
        """Add many boolean subscriptions, all or none; live ids are replaced."""
        self._index.insert_batch(subscriptions)
        if any(len(kind.index) for kind in self._kinds.values()):
            for id in subscriptions.ids.to_pylist():
                self._end_others(id, _INDEX)

    def subscribe_lists(self, subscriptions: list[TopKSubscription]) -> list[Notification]:
        """Add many top-k subscriptions of different ids, all or none; live ids are replaced."""
        if not subscriptions:
            return []
        kind = self._awake(_TOP, subscriptions[0].id)
        assert isinstance(kind, TopLists)
        told = kind.subscribe_many(subscriptions, self._time)
        for subscription in subscriptions:
            self._end_others(subscription.id, _TOP)
        return told

    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription before the next message; KeyError when there is none of this id."""
        if (kind := self._kind_of(subscription_id)) is not None:
            kind.unsubscribe(subscription_id)
        else:
            self._index.remove(subscription_id)

    def move(self, subscription_id: Id, to: Region | Point) -> list[Notification]:
        """A subscription is elsewhere now: what changes by that.

        A boolean one, or one for the terms of a region, moves to a region; one with the best
        messages, or with the terms around it, to a point. From its first move on a boolean
        subscription follows: it hears of live messages that enter its result, or leave it.

        >>> from nearcast import Circle
        >>> broker = Broker()
        >>> broker.subscribe(Subscription("tea", "tea", Circle(Point(0, 0), 1000)))
        []
        >>> broker.publish(Message(1, text="tea", at=Point(10, 10), expires=60.0))
        []
        >>> [n.kind for n in broker.move("tea", Circle(Point(10, 10), 1000))]
        ['enter']
        >>> broker.results("tea")
        [1]
        >>> [(n.kind, n.message_id) for n in broker.advance(60.0)]
        [('leave', 1)]
        """
        kind = self._kind_of(subscription_id)
        if kind is None:
            subscription = self._index.subscription(subscription_id)
            check_space(
                f"subscription {subscription.id!r} is", a_region(subscription.id, to).space,
                self._space,
            )  # fmt: skip
            kind = self._awake(_MOVING, subscription.id)
            assert isinstance(kind, Followers)
            kind.take_over(subscription)
            self._index.remove(subscription.id)
        return kind.move(subscription_id, to, self._time)

    def subscription(self, subscription_id: Id) -> AnySubscription:
        """A live subscription; KeyError for an unknown id.

        The expression of a boolean one is in minimal form, the words of a top-k one in any order.
        """
        kind = self._kind_of(subscription_id)
        index = self._index if kind is None else kind.index
        found: AnySubscription = index.subscription(subscription_id)
        return found

    def ids(self) -> list[Id]:
        """The live ids, in no particular order."""
        found = [kind.index.ids() for kind in self._kinds.values()]
        return sum(found, self._index.ids())

    def __len__(self) -> int:
        return len(self._index) + sum(len(kind.index) for kind in self._kinds.values())

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._index or self._kind_of(subscription_id) is not None

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[Notification]:
        """Who is to be told of a message: those it matches, and those whose list it changed."""
        check_space(f"message {message.id!r} is", message.at.space, self._space)
        for kind in self._kinds.values():
            kind.check(message)
        matched = self._index.match(message) if len(self._index) else []
        told = [Notification(id, "match", message.id, time=message.time) for id in matched]
        for kind in self._kinds.values():
            told += kind.publish(message)
        if len(self._kinds) < len(_ROOM_OF):
            self._recent.append(message)
        self._now = max(self._now, message.time)
        return told

    def publish_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """Many messages at once, as columns; the same matches for any number of threads.

        They count for lists, and for who follows, one after the other; look these up with
        `results`.
        """
        check_space("the messages are", messages.space, self._space)
        for kind in self._kinds.values():
            kind.check_batch(messages)
        matches = self._index.match_batch(messages, threads=threads)
        if len(messages):
            for kind in self._kinds.values():
                kind.publish_batch(messages)
            if len(self._kinds) < len(_ROOM_OF):
                self._recent.append_batch(messages)
            self._now = max(self._now, float(messages.time.max()))
        return matches

    def publish_together(self, messages: MessageBatch) -> Told:
        """Many messages at once, as columns: what is to be told of them.

        Of a list, of messages or of terms, that is once, how it is after the last message against
        how it was before the first; of all else each change. Boolean subscriptions are not asked.
        """
        check_space("the messages are", messages.space, self._space)
        for kind in self._kinds.values():
            kind.check_batch(messages)
        told = Told()
        if len(messages):
            for kind in self._kinds.values():
                found = kind.publish_together(messages)
                told.lists = told.lists or found.lists
                told.terms += found.terms
                told.single += found.single
            if len(self._kinds) < len(_ROOM_OF):
                self._recent.append_batch(messages)
            self._now = max(self._now, float(messages.time.max()))
        told.single.sort(key=itemgetter(0))
        return told

    def prepare_for(self, subscription: AnySubscription) -> None:
        """Be ready for subscriptions of this kind, as if one had come: they find what it would."""
        name = _name_for(subscription)
        if name != _INDEX:
            self._awake(name, subscription.id)

    def advance(self, now: float) -> list[Notification]:
        """Time passes: windows move on, messages expire. Whose result changed by that."""
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        if now < self._now and self._may_refuse():
            raise ValueError(
                f"now {now} is before {self._now}, the latest so far; time only passes"
            )
        told = [each for kind in self._kinds.values() for each in kind.advance(now)]
        self._now = max(self._now, now)
        return told

    @property
    def next_expiry(self) -> float:
        """When to call `advance` at the latest: a message that somebody follows ends; inf: none."""
        followers = self._kinds.get(_MOVING)
        return inf if followers is None else followers.index.next_expiry

    def results(self, subscription_id: Id) -> list[Any]:
        """What a subscription has now.

        Of a boolean one the ids of live messages that match it; of a top-k one ids with scores, and
        of one for terms these with scores, best first.
        """
        if (kind := self._kind_of(subscription_id)) is not None:
            return kind.results(subscription_id)
        subscription = self._index.subscription(subscription_id)
        followers = self._awake(_MOVING, subscription.id)
        assert isinstance(followers, Followers)
        return followers.results_of(subscription)

    def explain(self, subscription_id: Id, message: Message) -> Explanation | RankExplanation:
        """Why a live subscription wants the message or not; publishes nothing.

        TypeError for a list of terms, which wants no message.
        """
        check_space(f"message {message.id!r} is", message.at.space, self._space)
        subscription = self.subscription(subscription_id)
        if isinstance(subscription, Subscription):
            return explain(subscription, message)
        if isinstance(subscription, TopKSubscription):
            top = self._kinds[_TOP].index
            return explain_rank(subscription, message, top.scoring, top.results(subscription.id))
        raise TypeError(
            f"subscription {subscription.id!r} is a list of terms, and no message matches it; "
            "see results()"
        )

    # ------------------------------------------------------------------ taking it apart

    @property
    def top(self) -> TopKIndex | None:
        """The index of top-k subscriptions; None where nobody has needed one."""
        kind = self._kinds.get(_TOP)
        return None if kind is None else kind.index

    def replace_top(self, index: TopKIndex | None) -> None:
        """Keep top-k lists with another index, which has heard the same messages; None: without.

        The subscriptions of the one before end.
        """
        self._kinds.pop(_TOP, None)
        if index is not None:
            self._kinds = _in_order(self._kinds | {_TOP: _kind(_TOP, index)})

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, all or nothing."""
        followers = self._kinds.get(_MOVING)
        own = {
            "now": None if self._now == -inf else self._now,
            "half_life": self._half_life,
            "endless": followers.endless if isinstance(followers, Followers) else [],
            "recent": self._recent.rows(),
        }
        with writing_parts(path, "Broker") as part_path:
            self._index.save(part_path(_INDEX))
            storage.write_arrays(part_path(_OWN), "Broker", own, {})
            for name, kind in self._kinds.items():
                kind.save(part_path(name))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Broker:
        """Read a saved broker, which goes on where it was; the file never changes.

        A saved index of `nearcast.boolean` is read too, as a broker that has heard of nothing.
        """
        kind = read_kind(path)
        if kind != "Broker":
            index_class = _class_of(kind, boolean, BooleanIndex, path)
            return cls(index=index_class.load(path))
        parts = part_kinds(path)
        if _OWN not in parts:
            raise BadFile(
                f"{os.fspath(path)} was saved by an earlier Nearcast, which kept less; subscribe "
                "anew, or load its index with the release that saved it"
            )
        index_class = _class_of(parts[_INDEX], boolean, BooleanIndex, path)
        others = {
            name: _class_of(parts[name], *_ROOM_OF[name], path).load(PartPath(path, name))
            for name in parts.keys() & _ROOM_OF.keys()
        }
        own, _ = storage.read_arrays(PartPath(path, _OWN), "Broker")
        index = index_class.load(PartPath(path, _INDEX))
        broker = cls(index=index, half_life=own.get("half_life", HALF_LIFE), **others)
        broker._now = -inf if own["now"] is None else own["now"]
        followers = broker._kinds.get(_MOVING)
        if isinstance(followers, Followers):
            followers.endless = own["endless"]
        broker._recent.take_rows(own["recent"])
        return broker

    # ------------------------------------------------------------------ private

    @property
    def _time(self) -> float:
        """The latest time that was heard of, for notifications that no message causes."""
        return self._now if isfinite(self._now) else 0.0

    def _awake(self, name: str, subscription_id: Id) -> Kind:
        """The index of a kind; where there is none yet, with what the broker remembers."""
        if name not in self._kinds:
            kind = _kind(name, self._usual(name, subscription_id))
            for batch in self._recent.batches():
                kind.publish_batch(batch)
            if isfinite(self._now):
                kind.advance(self._now)
            self._kinds = _in_order(self._kinds | {name: kind})
            if len(self._kinds) == len(_ROOM_OF):
                self._recent = RecentMessages(RECENT, self._space)  # nobody will ask any more
        return self._kinds[name]

    def _usual(self, name: str, subscription_id: Id) -> Any:
        """The index of a kind that was not given."""
        if name == _MOVING:
            return WordQuadtrees(space=self._space)
        if name == _TRENDING:
            return CellRows(half_life=self._half_life, space=self._space, lateness=inf)
        if self._space is Space.PLANE:
            example = {
                _TOP: "top=WordLists(CountWindow(10_000), space=Space.PLANE, max_dist=...)",
                _NEARBY: "nearby=TermFields(half_life=3600, space=Space.PLANE, a=...)",
            }[name]
            raise ValueError(
                f"subscription {subscription_id!r} needs to know which distances count in this "
                f"plane; give {example} when you make the broker"
            )
        if name == _TOP:
            return WordLists(CountWindow(RECENT), lateness=inf)
        return TermFields(half_life=self._half_life, lateness=inf)

    def _kind_of(self, subscription_id: object) -> Kind | None:
        """The kind with state that has a subscription of this id."""
        for kind in self._kinds.values():
            if len(kind.index) and subscription_id in kind.index:
                return kind
        return None

    def _end_others(self, subscription_id: Id, name: str) -> None:
        """Another kind has taken the id."""
        if name != _INDEX and subscription_id in self._index:
            self._index.remove(subscription_id)
        for other, kind in self._kinds.items():
            if other != name and subscription_id in kind.index:
                kind.unsubscribe(subscription_id)

    def _may_refuse(self) -> bool:
        """Is there an index that wants messages in the order of time?"""
        return any(getattr(kind.index, "lateness", inf) < inf for kind in self._kinds.values())


def _in_order(kinds: dict[str, Kind]) -> dict[str, Kind]:
    """The order in which messages come to them, whoever was the first to be needed."""
    return {name: kinds[name] for name in _ROOM_OF if name in kinds}


def _kind(name: str, index: Any) -> Kind:
    if name == _MOVING:
        return Followers(index, RECENT)
    return TopLists(index) if name == _TOP else TermLists(index)


def _name_for(subscription: object) -> str:
    """Which kind of index a subscription needs."""
    if isinstance(subscription, MovingSubscription):
        return _MOVING
    if isinstance(subscription, Subscription):
        return _INDEX
    for name, its_class in (
        (_TOP, TopKSubscription),
        (_TRENDING, TrendingSubscription),
        (_NEARBY, NearbyTrendingSubscription),
    ):
        if isinstance(subscription, its_class):
            return name
    raise TypeError(
        f"{subscription!r} is no subscription; give a Subscription, TopKSubscription, "
        "TrendingSubscription or NearbyTrendingSubscription"
    )


def _class_of(kind: str, room: Any, base: type, path: str | os.PathLike[str]) -> Any:
    """The class that wrote what is saved; `BadFile` for one that a broker cannot use."""
    found = getattr(room, kind) if kind in room.__all__ else None
    if not (isinstance(found, type) and issubclass(found, base)):
        raise BadFile(
            f"{os.fspath(path)} holds a {kind}, which a broker cannot use; "
            "give a file that Broker.save() wrote"
        )
    return found
