"""An index beside the oracle, and what it means that lists are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

from nearcast.model import Id, Message, Point, Space, TopKSubscription
from nearcast.topk import ListChange, ScanTopK, TopKIndex
from nearcast.topk.list_change import Ranked
from nearcast.topk.windows import Window

MakeIndex: TypeAlias = Callable[..., TopKIndex]
"""What makes a new, empty index, given a window and settings: usually its class."""

Check: TypeAlias = Callable[[MakeIndex], None]

WORDS = ("tea", "cake", "été", "straße", "茶", "bus", "sale", "और")
HERE = Point(2.35, 48.86)
ROUNDING = 1e-9
"""What scores may be off by, relatively."""


class Pair:
    """An index and the oracle with the same settings, which are told the same."""

    def __init__(self, make_index: MakeIndex, window: Window, **settings: Any) -> None:
        self.index = make_index(window, **settings)
        self.oracle = ScanTopK(window, **settings)
        self.live: set[Id] = set()
        self._before: dict[Id, tuple[tuple[Id, ...], tuple[Id, ...]]] = {}

    def subscribe(self, *subscriptions: TopKSubscription) -> None:
        """To both; what they tell is compared."""
        for subscription in subscriptions:
            self.live.add(subscription.id)
            self._compare(self.oracle.subscribe(subscription), self.index.subscribe(subscription))

    def unsubscribe(self, id: Id) -> None:
        """From both."""
        self.live.remove(id)
        self._before.pop(id, None)
        self.oracle.unsubscribe(id)
        self.index.unsubscribe(id)

    def publish(self, *messages: Message) -> None:
        """To both; what they tell is compared."""
        for message in messages:
            self._compare(self.oracle.publish(message), self.index.publish(message))

    def advance(self, now: float) -> None:
        """Both; what they tell is compared."""
        self._compare(self.oracle.advance(now), self.index.advance(now))

    def assert_same_lists(self) -> None:
        """The index holds the subscriptions of the oracle and has its lists."""
        assert len(self.index) == len(self.live)
        assert set(self.index.ids()) == self.live
        assert self.index.now == self.oracle.now
        for id in self.live:
            assert_same_list(self.index.results(id), self.oracle.results(id))
        self.index.check()

    def _compare(self, expected: list[ListChange], found: list[ListChange]) -> None:
        """Each list whose messages have changed is told once, as it is now."""
        told = {change.subscription_id: change for change in found}
        wanted = {change.subscription_id: change for change in expected}
        assert len(told) == len(found), f"a list is told twice in {found}"
        before, self._before = self._before, {id: self._ids(id) for id in self.live}
        for id, (exact, own) in self._before.items():
            if id in told:
                assert told[id].results == self.index.results(id)
            exact_before, own_before = before.get(id, ((), ()))
            if exact != own or exact_before != own_before:
                continue  # equal scores that were rounded apart
            if exact != exact_before:
                assert id in told, f"nobody was told of {wanted[id]}"
                assert told[id].entered == wanted[id].entered
                assert told[id].left == wanted[id].left
            elif id in told:
                assert not told[id].entered
                assert not told[id].left

    def _ids(self, id: Id) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
        """Of the messages in the list of the oracle and of the index."""
        exact, own = self.oracle.results(id), self.index.results(id)
        return tuple(each for each, _ in exact), tuple(each for each, _ in own)


def assert_same_list(found: Ranked, expected: Ranked) -> None:
    """Equal scores, best first, and the same messages but for those that rounding may swap."""
    assert len(found) == len(expected), f"{found}, not {expected}"
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True), f"{found} is not in order"
    lowest = expected[-1][1] if expected else 0.0
    exact = dict(expected)
    for (id, score), (_, other) in zip(found, expected, strict=True):
        # One that is not expected has the score of the last, which others outside may have too.
        for right in (other, exact.get(id, lowest)):
            assert abs(score - right) <= ROUNDING * max(score, right), f"{found}, not {expected}"


def some_subscriptions(count: int, space: Space, seed: int = 1) -> Iterator[TopKSubscription]:
    """Subscriptions of all sorts, numbered from 0."""
    random = Random(seed)
    for number in range(count):
        words = random.sample(WORDS, random.randint(1, 4))
        k, alpha = random.choice([1, 2, 3, 30]), random.choice([0.0, 0.3, 0.5, 1.0])
        yield TopKSubscription(number, words, some_point(random, space), k, alpha)


def some_messages(count: int, space: Space, seed: int = 2) -> Iterator[Message]:
    """Messages of many words to none, numbered from 0, in the order of time."""
    random = Random(seed)
    time = 0.0
    for number in range(count):
        words = random.choices([*WORDS, "nobody's"], k=random.choice([0, 1, 2, 5]))
        yield Message(number, keywords=words, at=some_point(random, space), time=time)
        time += random.choice([0.0, 0.5, 2.0])


def some_point(random: Random, space: Space) -> Point:
    """Many at the same places, some at the ends of the world."""
    if space is Space.PLANE:
        return Point(random.randint(-2, 2), random.uniform(-3, 3), space=space)
    longitude = random.choice([-180.0, 180.0, 0.0, 0.01, random.uniform(-3, 3)])
    return Point(longitude, random.choice([-90.0, 90.0, 0.0, random.uniform(-3, 3)]))
