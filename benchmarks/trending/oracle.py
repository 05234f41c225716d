"""The lists that some subscriptions must have at the end, by the definition."""

from collections import Counter

import numpy as np

from benchmarks.oracle import WrongAnswerError
from benchmarks.trending.workload import Workload
from nearcast.space import RegionColumn, is_in
from nearcast.trending import Decay, TermRules, TrendingIndex

SAMPLE = 20
Lists = dict[int, list[str]]


def expected_lists(workload: Workload) -> Lists:
    """Every document that can be in the region is counted for a sample of subscriptions."""
    decay, rules = Decay(workload.half_life), TermRules()
    batch = workload.everything()
    base = decay.base(float(batch.time.max()))
    count = workload.settings.subscriptions
    lists: Lists = {}
    for n in range(0, count, max(1, count // SAMPLE)):
        subscription = workload.subscription(n)
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
        lists[n] = ranked[: subscription.k]
    return lists


def check_lists(name: str, index: TrendingIndex, expected: Lists) -> int:
    """How many lists were compared, all of them right."""
    for id, right in expected.items():
        found = [term for term, _ in index.top(id)]
        if found != right:
            raise WrongAnswerError(f"{name}: the list of {id} is {found}, not {right}")
    return len(expected)


def _meeting(at: np.ndarray, covers: np.ndarray) -> np.ndarray:
    """The rows whose boxes meet one of the covers."""
    west, south, east, north = at.T
    meets = np.zeros(len(at), bool)
    for left, bottom, right, top in covers.astype(np.float64).tolist():
        meets |= (west <= right) & (east >= left) & (south <= top) & (north >= bottom)
    return np.flatnonzero(meets)
