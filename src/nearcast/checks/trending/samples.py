"""Subscriptions and documents that meet often, and what it means that lists are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

from nearcast.batches import MessageBatch
from nearcast.model import (
    Box,
    Circle,
    Id,
    Message,
    NearbyTrendingSubscription,
    Place,
    Point,
    Polygon,
    Region,
    Space,
    TrendingSubscription,
)
from nearcast.trending import ScanTrending, TermsChange, TermsChanges, TrendingIndex
from nearcast.trending.index import AnyTrending
from nearcast.trending.terms_change import Terms, terms_change

MakeIndex: TypeAlias = Callable[..., TrendingIndex]
"""What makes a new, empty index, given `half_life`, `space` and others: usually its class."""

Check: TypeAlias = Callable[[MakeIndex], None]

SPACES = (Space.EARTH, Space.PLANE)
WORDS = ("tea", "cake", "été", "straße", "茶", "bus", "sale", "x1", "और", "naïve", "the")
ROUNDING = 1e-9
"""What a sum of floating-point numbers may be off by, relatively."""


class Pair:
    """An index and the oracle with the same settings, which are told the same."""

    def __init__(self, make_index: MakeIndex, **settings: Any) -> None:
        self.index = make_index(**settings)
        shared = ScanTrending(half_life=1.0, a=1.0).settings()
        shared |= {k: v for k, v in self.index.settings().items() if k in shared}
        self.oracle = ScanTrending.from_settings(shared)
        self.oracle.roads = getattr(self.index, "roads", None)
        self.live: dict[Id, AnyTrending] = {}

    @property
    def kind(self) -> type:
        """The kind of subscription that the index takes."""
        return self.index.kinds[0]

    @property
    def is_exact(self) -> bool:
        """Does the index promise the lists of the oracle, and no others that are about as good?"""
        return self.kind is TrendingSubscription or getattr(self.index, "max_error", 0.0) == 0.0

    def subscribe(self, subscription: AnyTrending) -> None:
        """To both; what they tell is compared."""
        before = self._lists()
        self.live[subscription.id] = subscription
        self._compare(
            before, self.oracle.subscribe(subscription), self.index.subscribe(subscription)
        )

    def unsubscribe(self, id: Id) -> None:
        """From both."""
        del self.live[id]
        self.oracle.unsubscribe(id)
        self.index.unsubscribe(id)

    def publish(self, message: Message) -> None:
        """To both; what they tell is compared."""
        before = self._lists()
        self._compare(before, self.oracle.publish(message), self.index.publish(message))

    def publish_as_columns(self, messages: MessageBatch) -> None:
        """To both, as a batch; what the index tells is compared with its lists before and after."""
        before = self._lists()
        self.oracle.publish_batch(messages)
        told = self.index.publish_as_columns(messages)
        after = {id: self.index.top(id) for id in self.live}
        changes = [terms_change(id, before[id], after[id]) for id in self.live]
        expected = TermsChanges.of([change for change in changes if change])
        assert _by_id(told) == _by_id(expected)

    def advance(self, now: float) -> None:
        """Both; what they tell is compared."""
        before = self._lists()
        self._compare(before, self.oracle.advance(now), self.index.advance(now))

    def assert_same_lists(self) -> None:
        """The index holds the subscriptions of the oracle and has its lists."""
        assert len(self.index) == len(self.live)
        assert set(self.index.ids()) == set(self.live)
        assert self.index.now == self.oracle.now
        for id in self.live:
            self._assert_same_list(id)
        self.index.check()

    def _assert_same_list(self, id: Id) -> None:
        found = self.index.top(id)
        if self.is_exact:
            right = self.oracle.top(id)
            assert terms_of(found) == terms_of(right), f"{id!r}: {found}, not {right}"
            _assert_close(found, dict(right), ROUNDING)
        else:
            self._assert_about_right(self.live[id], found)

    def _assert_about_right(self, subscription: AnyTrending, found: Terms) -> None:
        """Scores within the error that is allowed, and in an order that fits it."""
        error = getattr(self.index, "max_error", 0.0) + ROUNDING
        everything = replace(subscription, id="all of them", k=10_000)
        self.oracle.subscribe(everything)
        exact = dict(self.oracle.top("all of them"))
        self.oracle.unsubscribe("all of them")
        assert len(found) == min(subscription.k, len(exact))
        _assert_close(found, exact, error)
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
        for term in exact.keys() - set(terms_of(found)):
            assert exact[term] * (1.0 - error) <= scores[-1] * (1.0 + error), (
                f"{term} with {exact[term]} is missing from {found}"
            )

    def _lists(self) -> dict[Id, tuple[str, ...]]:
        return {id: terms_of(self.index.top(id)) for id in self.live}

    def _compare(
        self,
        before: dict[Id, tuple[str, ...]],
        expected: list[TermsChange],
        found: list[TermsChange],
    ) -> None:
        """Told are the lists that have changed; exact ones as the oracle tells them."""
        told = {change.subscription_id: change for change in found}
        assert len(told) == len(found), f"a list is told twice in {found}"
        after = self._lists()
        changed = {id for id in self.live if before.get(id, ()) != after[id]}
        assert told.keys() == changed, f"told are {told.keys()}, changed have {changed}"
        for id, change in told.items():
            assert change.terms == self.index.top(id)
        if self.is_exact:
            right = {change.subscription_id: change for change in expected}
            assert told.keys() == right.keys(), f"told are {told.keys()}, not {right.keys()}"
            for id, change in told.items():
                assert change.entered == right[id].entered
                assert change.left == right[id].left
                assert change.moved == right[id].moved


def _by_id(changes: TermsChanges) -> dict[str, tuple[Any, ...]]:
    """What is told of each list."""
    found = {}
    terms, left = changes.terms.to_pylist(), changes.left.to_pylist()
    for row, id in enumerate(changes.subscription_ids.to_pylist()):
        own = range(changes.start[row], changes.start[row + 1])
        found[str(id)] = (
            [(terms[n], float(changes.scores[n])) for n in own],
            [terms[n] for n in own if changes.is_new[n]],
            [terms[n] for n in own if changes.is_moved[n]],
            left[changes.left_start[row] : changes.left_start[row + 1]],
        )
    assert len(found) == len(changes), "a list is told twice"
    return found


def terms_of(ranked: Terms) -> tuple[str, ...]:
    """The terms alone."""
    return tuple(term for term, _ in ranked)


def _assert_close(found: Terms, exact: dict[str, float], error: float) -> None:
    for term, score in found:
        assert abs(score - exact[term]) <= error * exact[term], (
            f"{term} has {score} and should have {exact[term]}"
        )


def some_subscriptions(
    kind: type, count: int, space: Space, seed: int = 1
) -> Iterable[AnyTrending]:
    """Subscriptions of a kind with every shape of region, numbered from 0.

    >>> [s.k for s in some_subscriptions(TrendingSubscription, 3, Space.EARTH)]
    [2, 10, 3]
    """
    random = Random(seed)
    for number in range(count):
        k = random.choice([1, 2, 3, 10, 40])
        if kind is TrendingSubscription:
            yield TrendingSubscription(number, _region(random, space), k)
        else:
            yield NearbyTrendingSubscription(number, _point(random, space), k)


def some_documents(count: int, space: Space, seed: int = 2, step: float = 3.0) -> Iterable[Message]:
    """Documents at points and in boxes, with no words to many, numbered from 0, in time's order.

    >>> [round(m.time, 1) for m in some_documents(3, Space.PLANE)]
    [0.0, 3.0, 3.0]
    """
    random = Random(seed)
    time = 0.0
    for number in range(count):
        words = [random.choice(WORDS) for _ in range(random.choice([0, 1, 3, 6, 12]))]
        yield Message(number, keywords=words, at=_place(random, space), time=time)
        time += random.choice([0.0, 0.0, 0.25, 1.0]) * step


def _x(random: Random, space: Space) -> float:
    """Grid points, so that borders meet, and now and then the end of the world."""
    ends = [-180.0, 180.0] if space is Space.EARTH else [-1e9, 1e9]
    return random.choice([*ends, random.randint(-3, 3) * 10.0, random.uniform(-40, 40)])


def _y(random: Random, space: Space) -> float:
    ends = [-90.0, 90.0] if space is Space.EARTH else [-1e9, 1e9]
    return random.choice([*ends, random.randint(-3, 3) * 10.0, random.uniform(-40, 40)])


def _point(random: Random, space: Space) -> Point:
    return Point(_x(random, space), _y(random, space), space=space)


def _box(random: Random, space: Space) -> Box:
    west, east = _x(random, space), _x(random, space)
    south, north = sorted((_y(random, space), _y(random, space)))
    if space is Space.PLANE:
        west, east = sorted((west, east))
    return Box(west, south, east, north, space=space)


def _region(random: Random, space: Space) -> Region:
    kind = random.random()
    if kind < 0.5:
        return _box(random, space)
    if kind < 0.8:
        radii = (0.0, 1e5, 3e6, 1e7) if space is Space.EARTH else (0.0, 1.0, 30.0, 200.0)
        return Circle(_point(random, space), random.choice(radii))
    x, y = random.uniform(-50, 10), random.uniform(-60, 20)
    return Polygon([[(x, y), (x + 60, y), (x + 50, y + 50), (x + 10, y + 10)]], space=space)


def _place(random: Random, space: Space) -> Place:
    if random.random() < 0.2:
        return _box(random, space)
    return _point(random, space)
