"""The oracle: every message of the window is scored for every subscription, as the page reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from nearcast import storage
from nearcast.model import Id, Message, Point, Space, TopKSubscription
from nearcast.model.ids import check_id
from nearcast.space import distance
from nearcast.topk.index import Scoring, TopKIndex, TopKStats
from nearcast.topk.list_change import ListChange, Ranked, list_change
from nearcast.topk.windows import CountWindow, window_of, window_row
from nearcast.topk.word_statistics import WordStatistics


@dataclass(frozen=True, slots=True)
class _Kept:
    """A message of the window: what its score needs, when it counts from, when it arrived."""

    id: Id
    at: Point
    weights: dict[str, float]
    time: float
    arrival: int


class ScanTopK(TopKIndex):
    """No structure: the lists that all other indexes must have.

    >>> index = ScanTopK(CountWindow(2), max_dist=10.0, space=Space.PLANE)
    >>> here = Point(0, 0, space=Space.PLANE)
    >>> index.subscribe(TopKSubscription("s", "tea", here, k=1, alpha=0.5))
    []
    >>> index.publish(Message(1, text="tea", at=Point(4, 3, space=Space.PLANE)))
    [ListChange(subscription_id='s', results=((1, 0.75),), entered=(1,), left=())]
    >>> index.publish(Message(2, text="tea", at=here))[0].left
    (1,)
    """

    def _begin(self) -> None:
        self._subscriptions: dict[Id, TopKSubscription] = {}
        self._kept: list[_Kept] = []
        self._arrivals = 0
        self._scored = 0

    def subscribe(self, subscription: TopKSubscription) -> list[ListChange]:
        self._check_subscription(subscription)
        replaced = self._subscriptions.get(subscription.id)
        before = self._ranked(replaced) if replaced else ()
        self._subscriptions[subscription.id] = subscription
        change = list_change(subscription.id, before, self._ranked(subscription))
        return [change] if change else []

    def unsubscribe(self, subscription_id: Id) -> None:
        del self._subscriptions[self._known(subscription_id)]

    def publish(self, message: Message) -> list[ListChange]:
        now = self._checked_time(message)
        before = self._lists()
        self.now = now
        kept = [each for each in self._kept if each.id != message.id]
        weights = self.scoring.statistics.weights(message.keywords) if message.keywords else {}
        kept.append(_Kept(message.id, message.middle, weights, now, self._arrivals))
        self._arrivals += 1
        self._kept = self._in_window(kept)
        return self._changes(before)

    def advance(self, now: float) -> list[ListChange]:
        now = self._checked_now(now)
        before = self._lists()
        self.now = now
        self._kept = self._in_window(self._kept)
        return self._changes(before)

    def results(self, subscription_id: Id) -> Ranked:
        return self._ranked(self.subscription(subscription_id))

    def subscription(self, subscription_id: Id) -> TopKSubscription:
        return self._subscriptions[self._known(subscription_id)]

    def ids(self) -> list[Id]:
        return list(self._subscriptions)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._subscriptions

    def stats(self) -> TopKStats:
        return TopKStats(
            len(self), len(self._kept), 0, 0, self._scored, 0, self._arrivals * len(self)
        )

    def check(self) -> None:
        arrivals = [each.arrival for each in self._kept]
        assert arrivals == sorted(set(arrivals))
        assert len({each.id for each in self._kept}) == len(self._kept)
        assert self._kept == self._in_window(self._kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        meta = {
            "window": window_row(self.window),
            "space": self.space.name,
            "max_dist": self.scoring.max_dist,
            "documents": self.scoring.statistics.documents,
            "frequencies": dict(self.scoring.statistics.frequencies),
            "lateness": self.lateness,
            "now": None if self.now == float("-inf") else self.now,
            "arrivals": self._arrivals,
            "subscriptions": [
                [each.id, each.keywords, each.at.lon, each.at.lat, each.k, each.alpha]
                for each in self._subscriptions.values()
            ],
            "messages": [
                [each.id, each.at.lon, each.at.lat, each.weights, each.time, each.arrival]
                for each in self._kept
            ],
        }
        storage.write_arrays(path, "ScanTopK", meta, {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, _ = storage.read_arrays(path, "ScanTopK")
        space = Space[meta["space"]]
        index = cls(
            window_of(meta["window"]),
            space=space,
            max_dist=meta["max_dist"],
            statistics=WordStatistics(meta["documents"], meta["frequencies"]),
            lateness=meta["lateness"],
        )
        index.now = float("-inf") if meta["now"] is None else meta["now"]
        index._arrivals = meta["arrivals"]
        for id, words, lon, lat, k, alpha in meta["subscriptions"]:
            at = Point(lon, lat, space=space)
            index._subscriptions[id] = TopKSubscription(id, words, at, k, alpha)
        for id, lon, lat, weights, time, arrival in meta["messages"]:
            at = Point(lon, lat, space=space)
            index._kept.append(_Kept(id, at, weights, time, arrival))
        return index

    def _known(self, subscription_id: Id) -> Id:
        if subscription_id not in self._subscriptions:
            raise KeyError(subscription_id)
        return check_id(subscription_id, "subscription")

    def _in_window(self, kept: list[_Kept]) -> list[_Kept]:
        if isinstance(self.window, CountWindow):
            return kept[-self.window.messages :]
        return [each for each in kept if each.time > self.now - self.window.seconds]

    def _lists(self) -> dict[Id, Ranked]:
        return {id: self._ranked(each) for id, each in self._subscriptions.items()}

    def _changes(self, before: dict[Id, Ranked]) -> list[ListChange]:
        changes = (
            list_change(id, before[id], self._ranked(each))
            for id, each in self._subscriptions.items()
        )
        return [change for change in changes if change]

    def _ranked(self, subscription: TopKSubscription) -> Ranked:
        self._scored += len(self._kept)
        wanted = self.scoring.statistics.weights(subscription.keywords)
        scored = (
            (score(subscription, wanted, each.at, each.weights, self.scoring), each)
            for each in self._kept
            if not wanted.keys().isdisjoint(each.weights)
        )
        best = sorted(scored, key=lambda pair: (-pair[0], -pair[1].arrival))
        return tuple((each.id, value) for value, each in best[: subscription.k])


def score(
    subscription: TopKSubscription,
    wanted: dict[str, float],
    at: Point,
    said: dict[str, float],
    scoring: Scoring,
) -> float:
    """How much a message is worth to a subscription, given the weights of their words."""
    near = 1.0 - min(1.0, distance(subscription.at, at) / scoring.max_dist)
    alike = sum(wanted[word] * said[word] for word in _common(wanted, said))
    return subscription.alpha * near + (1.0 - subscription.alpha) * alike


def _common(wanted: dict[str, float], said: dict[str, float]) -> Iterable[str]:
    return sorted(wanted.keys() & said.keys())
