"""The oracle: every document is counted for every subscription, as the page reads."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, inf
from typing import Self

from nearcast import storage
from nearcast.model import (
    Id,
    Message,
    NearbyTrendingSubscription,
    Place,
    Point,
    Region,
    TrendingSubscription,
)
from nearcast.model.ids import check_id
from nearcast.model.shapes import Box
from nearcast.space import RegionColumn, distance, is_in
from nearcast.space.road_network import RoadNetwork
from nearcast.trending.decay import MOST_UNITS, WEIGHT_BITS, Decay
from nearcast.trending.index import AnyTrending, TrendingStats
from nearcast.trending.nearby import LONGEST_MEMORY, NearbyIndex
from nearcast.trending.terms_change import Terms, TermsChange, terms_change

_is_in = lru_cache(maxsize=1 << 16)(is_in)  # which is exact, and takes its time
_weight = lru_cache(maxsize=1 << 16)(Decay.weight)
_road_distance = lru_cache(maxsize=1 << 16)(RoadNetwork.distance)


@dataclass(frozen=True, slots=True)
class _Document:
    """What a score needs of a document."""

    at: Place
    middle: Point
    counts: dict[str, int]
    time: float


class ScanTrending(NearbyIndex):
    """No structure: the lists that all other indexes must have, for both kinds of subscription.

    For regions it forgets documents as the decay says, and for nearness after 1,000 half-lives.

    >>> from nearcast.model import Circle
    >>> index = ScanTrending(half_life=3600.0)
    >>> here = Point(2.35, 48.86)
    >>> index.subscribe(TrendingSubscription("city", Circle(here, 5_000.0), k=2))
    []
    >>> _ = index.publish(Message(1, text="Rain and more rain", at=here, time=0.0))
    >>> index.publish(Message(2, text="The bus is late", at=here, time=3600.0))[0].terms
    (('bus', 1.0), ('late', 1.0))
    >>> index.publish(Message(3, text="rain", at=here, time=3600.0))[0].entered
    ('rain',)
    """

    kinds = (TrendingSubscription, NearbyTrendingSubscription)
    follows_roads = True

    def _begin(self) -> None:
        self._subscriptions: dict[Id, AnyTrending] = {}
        self._documents: list[_Document] = []
        self._moved_base = -inf

    def subscribe(self, subscription: AnyTrending) -> list[TermsChange]:
        self._check_subscription(subscription)
        replaced = self._subscriptions.get(subscription.id)
        before = _terms(self._ranked(replaced, self.now)) if replaced else ()
        self._subscriptions[subscription.id] = subscription
        change = terms_change(subscription.id, before, self._ranked(subscription, self.now))
        return [change] if change else []

    def unsubscribe(self, subscription_id: Id) -> None:
        del self._subscriptions[self._known(subscription_id)]

    def publish(self, message: Message) -> list[TermsChange]:
        now = self._checked_time(message)
        before = self._lists()
        self.now = now
        counts = Counter(self.terms.terms(message.keywords))
        self._documents.append(_Document(message.at, message.middle, dict(counts), message.time))
        self._forget()
        self._make_room(dict(counts))
        return self._changes(before)

    def advance(self, now: float) -> list[TermsChange]:
        now = self._checked_now(now)
        before = self._lists()
        self.now = now
        self._forget()
        return self._changes(before)

    def top(self, subscription_id: Id, now: float | None = None) -> Terms:
        subscription = self.subscription(subscription_id)
        return self._ranked(subscription, self._asked_time(now))

    def subscription(self, subscription_id: Id) -> AnyTrending:
        return self._subscriptions[self._known(subscription_id)]

    def ids(self) -> list[Id]:
        return list(self._subscriptions)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._subscriptions

    def stats(self) -> TrendingStats:
        terms = {term for each in self._documents for term in each.counts}
        return TrendingStats(len(self), len(self._documents), len(terms))

    def count_cycles(self) -> None:
        """There is no kernel whose cycles could be counted."""

    def check(self) -> None:
        assert all(each.time <= self.now for each in self._documents)

    def save(self, path: str | os.PathLike[str]) -> None:
        live = self._subscriptions.values()
        regions = [each.region for each in live if isinstance(each, TrendingSubscription)]
        meta = {
            "settings": self.settings(),
            "now": None if self.now == -inf else self.now,
            "moved_base": None if self._moved_base == -inf else self._moved_base,
            "subscriptions": [[each.id, each.k, _point(each)] for each in live],
            "documents": [[_corners(each.at), each.counts, each.time] for each in self._documents],
        }
        column = RegionColumn.of_regions(regions, self.space)
        arrays = {f"regions/{name}": array for name, array in column.arrays().items()}
        if self.roads is not None:
            arrays |= {f"roads/{name}": array for name, array in self.roads.arrays().items()}
        storage.write_arrays(path, "ScanTrending", meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, arrays = storage.read_arrays(path, "ScanTrending")
        index = cls.from_settings(meta["settings"])
        if "roads/nodes" in arrays:
            index.roads = RoadNetwork.from_arrays(storage.part(arrays, "roads/"), index.space)
        index.now = -inf if meta["now"] is None else meta["now"]
        moved = meta.get("moved_base")
        index._moved_base = -inf if moved is None else moved
        column = RegionColumn.from_arrays(storage.part(arrays, "regions/"), index.space)
        regions = iter([column.region(row) for row in range(len(column))])
        for id, k, point in meta["subscriptions"]:
            if point is None:
                region = next(regions)
                assert region is not None
                index._subscriptions[id] = TrendingSubscription(id, region, k)
            else:
                at = Point(*point, space=index.space)
                index._subscriptions[id] = NearbyTrendingSubscription(id, at, k)
        for corners, counts, time in meta["documents"]:
            shape = Point if len(corners) == 2 else Box
            place = shape(*corners, space=index.space)
            centre = Message(0, text="", at=place).middle
            index._documents.append(_Document(place, centre, counts, time))
        return index

    def _distance(self, a: Point, b: Point) -> float:
        return distance(a, b) if self.roads is None else _road_distance(self.roads, a, b)

    def _known(self, subscription_id: Id) -> Id:
        if subscription_id not in self._subscriptions:
            raise KeyError(subscription_id)
        return check_id(subscription_id, "subscription")

    def _forget(self) -> None:
        oldest = self.decay.moment(self.now) - LONGEST_MEMORY
        self._documents = [d for d in self._documents if self.decay.moment(d.time) > oldest]

    def _make_room(self, said: dict[str, int]) -> None:
        """Move the base on until sums have room for what was said last; see `decay`."""
        while any(self._units_of(term) > MOST_UNITS for term in said):
            self._moved_base = self._base + 1

    @property
    def _base(self) -> int:
        """The epoch of the oldest document that can count for regions."""
        return int(max(self._moved_base, self.decay.base(self.now)))

    def _worths(self) -> list[tuple[_Document, int]]:
        """The documents that count for regions, and what one mention has, in units."""
        if not self._documents:
            return []
        base, worths = self._base, []
        for each in self._documents:
            epoch = self.decay.epoch(each.time)
            if self.decay.counts(each.time, self.now) and epoch >= base:
                worths.append((each, _weight(self.decay, each.time) << (epoch - base)))
        return worths

    def _units_of(self, term: str) -> int:
        """What a term has in all documents that count for regions."""
        return sum(each.counts.get(term, 0) * worth for each, worth in self._worths())

    def _lists(self) -> dict[Id, tuple[str, ...]]:
        ranked = {id: self._ranked(each, self.now) for id, each in self._subscriptions.items()}
        return {id: _terms(terms) for id, terms in ranked.items()}

    def _changes(self, before: dict[Id, tuple[str, ...]]) -> list[TermsChange]:
        changes = (
            terms_change(id, before[id], self._ranked(each, self.now))
            for id, each in self._subscriptions.items()
        )
        return [change for change in changes if change]

    def _ranked(self, subscription: AnyTrending, now: float) -> Terms:
        """Ranked by what is exact; only then comes what a unit is worth at the time asked for."""
        amounts: Mapping[str, float]
        if isinstance(subscription, TrendingSubscription):
            amounts, unit = self._units_in(subscription.region)
        else:
            amounts, unit = self._sums_near(subscription.at)
        best = sorted(amounts.items(), key=lambda pair: (-pair[1], pair[0]))[: subscription.k]
        value = 2.0 ** (unit - self.decay.moment(now)) if best else 0.0
        return tuple((term, amount * value) for term, amount in best)

    def _units_in(self, region: Region) -> tuple[dict[str, int], float]:
        """What terms have, in whole units, and the moment at which a unit is worth 1."""
        worths = self._worths()
        units: Counter[str] = Counter()
        for each, worth in worths:
            if _is_in(each.at, region):
                for term, times in each.counts.items():
                    units[term] += times * worth
        return units, self._base - WEIGHT_BITS if worths else 0

    def _sums_near(self, at: Point) -> tuple[dict[str, float], float]:
        """What terms have, in sums that are rounded once, and when they are worth that."""
        now = self.decay.moment(self.now)
        parts: dict[str, list[float]] = {}
        for each in self._documents:
            worth = 2.0 ** (self.decay.moment(each.time) - now) / (
                self.a + self._distance(at, each.middle)
            )
            for term, times in each.counts.items():
                parts.setdefault(term, []).append(times * worth)
        return {term: fsum(values) for term, values in parts.items()}, now


def _terms(ranked: Terms) -> tuple[str, ...]:
    return tuple(term for term, _ in ranked)


def _corners(at: Place) -> list[float]:
    if isinstance(at, Point):
        return [at.lon, at.lat]
    return [at.west, at.south, at.east, at.north]


def _point(subscription: AnyTrending) -> list[float] | None:
    return (
        _corners(subscription.at) if isinstance(subscription, NearbyTrendingSubscription) else None
    )
