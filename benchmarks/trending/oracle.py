"""The lists that some subscriptions must have at the end, by the definition."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.oracle import WrongAnswerError
from benchmarks.trending.roads import network
from benchmarks.trending.workload import Workload
from nearcast.model import NearbyTrendingSubscription, Point, TrendingSubscription
from nearcast.space import EARTH_RADIUS, RegionColumn, is_in
from nearcast.trending import Decay, NearbyIndex, TermRules, TrendingIndex

SAMPLE = 20
Lists = dict[int, dict[str, float]]
"""What each term has, best first; of regions those of the list, in whole units."""


def expected_lists(workload: Workload) -> Lists:
    """For a sample of subscriptions every document that counts for them is counted."""
    count = workload.settings.subscriptions
    chosen = range(0, count, max(1, count // SAMPLE))
    return _nearby(workload, chosen) if workload.settings.is_nearby else _regions(workload, chosen)


def check_lists(name: str, index: TrendingIndex, expected: Lists) -> int:
    """How many lists were compared, all of them right, or as right as the index promises."""
    for id, right in expected.items():
        found = index.top(id)
        if isinstance(index, NearbyIndex):
            k = index.subscription(id).k
            is_right = _is_about_right(dict(found), right, k, index.max_error)
        else:
            is_right = [term for term, _ in found] == list(right)
        if not is_right:
            best = list(right.items())[: len(found) + 1]
            raise WrongAnswerError(f"{name}: the list of {id} is {found}, not {best}")
    return len(expected)


def _is_about_right(
    found: dict[str, float], right: dict[str, float], k: int, max_error: float
) -> bool:
    """Scores are off by the error at the most, and nothing better by more than it is missing."""
    error = max_error + 1e-9
    missing = max((score for term, score in right.items() if term not in found), default=0.0)
    return (
        len(found) == min(k, len(right))
        and all(abs(score - right[term]) <= error * right[term] for term, score in found.items())
        and missing * (1.0 - error) <= min(found.values(), default=0.0) * (1.0 + error)
    )


def _regions(workload: Workload, chosen: range) -> Lists:
    decay, rules = Decay(workload.half_life), TermRules()
    batch = workload.everything()
    base = decay.base(float(batch.time.max()))
    lists: Lists = {}
    for n in chosen:
        subscription = workload.subscription(n)
        assert isinstance(subscription, TrendingSubscription)
        column = RegionColumn.of_regions([subscription.region], batch.space)
        _, covers = column.covers()
        units: Counter[str] = Counter()
        for row in _meeting(batch.at, covers).tolist():
            message = batch.message(row)
            if is_in(message.at, subscription.region):
                worth = decay.weight(message.time) << (decay.epoch(message.time) - base)
                for term in rules.terms(message.keywords):
                    units[term] += worth
        ranked = sorted(units, key=lambda term: (-units[term], term))
        lists[n] = {term: float(units[term]) for term in ranked[: subscription.k]}
    return lists


def _nearby(workload: Workload, chosen: range) -> Lists:
    """All terms of everybody in the sample."""
    rules, batch = TermRules(), workload.everything()
    numbers: dict[str, int] = {}
    row, term = [], []
    for n in range(len(batch)):
        for word in rules.terms(batch.message(n).keywords):
            row.append(n)
            term.append(numbers.setdefault(word, len(numbers)))
    words, middles = list(numbers), batch.middles()
    decayed = np.exp2((batch.time - batch.time.max()) / workload.half_life)
    lists: Lists = {}
    for n in chosen:
        subscription = workload.subscription(n)
        assert isinstance(subscription, NearbyTrendingSubscription)
        worth = decayed / (workload.settings.a + _distances(workload, subscription.at, middles))
        sums = np.bincount(term, worth[row], len(words))
        order = np.argsort(-sums, kind="stable").tolist()
        lists[n] = {words[place]: float(sums[place]) for place in order}
    return lists


def _distances(workload: Workload, here: Point, there: NDArray[np.float64]) -> NDArray[np.float64]:
    """From one place to many."""
    place = np.array([[here.lon, here.lat]])
    if workload.settings.follows_roads:
        roads = network()
        (node, off), others = roads.nearest(place)[0].tolist(), roads.nearest(there)
        ways = roads.ways_from(int(node))[others[:, 0].astype(np.int64)]
        return off + ways + others[:, 1]
    return _great_circle(np.radians(place[0]), np.radians(there))


def _great_circle(here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres between places in radians."""
    across, up = ((there - here) / 2.0).T
    square = np.sin(up) ** 2 + np.cos(here[1]) * np.cos(there[:, 1]) * np.sin(across) ** 2
    metres: NDArray[np.float64] = 2.0 * EARTH_RADIUS * np.arcsin(np.minimum(1.0, np.sqrt(square)))
    return metres


def _meeting(at: NDArray[np.float64], covers: NDArray[np.float32]) -> NDArray[np.int64]:
    """The rows whose boxes meet one of the covers."""
    west, south, east, north = at.T
    meets = np.zeros(len(at), bool)
    for left, bottom, right, top in covers.astype(np.float64).tolist():
        meets |= (west <= right) & (east >= left) & (south <= top) & (north >= bottom)
    return np.flatnonzero(meets)
