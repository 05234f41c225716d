"""The lists that some subscriptions must have at the end, by the definition."""

import numpy as np

from benchmarks.oracle import WrongAnswerError
from benchmarks.topk.workload import Workload
from nearcast.model import Id
from nearcast.topk import TimeWindow, TopKIndex
from nearcast.topk.index import Scoring
from nearcast.topk.scan import score

SAMPLE = 20
_ROUNDING = 1e-9
Lists = dict[int, list[tuple[Id, float]]]


def expected_lists(workload: Workload) -> Lists:
    """Every message of the window is scored for a sample of subscriptions."""
    scoring = Scoring.of(workload.source.space, workload.max_dist, workload.statistics)
    batch = workload.last_messages()
    window = workload.window
    if isinstance(window, TimeWindow):
        first = int(np.searchsorted(batch.time, batch.time[-1] - window.seconds, side="right"))
    else:
        first = len(batch) - window.messages
    count = workload.settings.subscriptions
    chosen = [workload.subscription(n) for n in range(0, count, max(1, count // SAMPLE))]
    weights = [workload.statistics.weights(each.keywords) for each in chosen]
    found: list[list[tuple[float, int, Id]]] = [[] for _ in chosen]
    for n in range(first, len(batch)):
        message = batch.message(n)
        said = workload.statistics.weights(message.keywords)
        for subscription, wanted, scored in zip(chosen, weights, found, strict=True):
            if not wanted.keys().isdisjoint(said):
                at = message.middle
                scored.append((score(subscription, wanted, at, said, scoring), n, message.id))
    return {
        subscription.id: [(id, value) for value, _, id in sorted(scored, reverse=True)][
            : subscription.k
        ]
        for subscription, scored in zip(chosen, found, strict=True)
        if isinstance(subscription.id, int)
    }


def check_lists(name: str, index: TopKIndex, expected: Lists) -> int:
    """How many lists were compared, all of them right; messages of equal scores may differ."""
    for id, right in expected.items():
        found = index.results(id)
        scores, right_scores = [value for _, value in found], [value for _, value in right]
        if len(found) != len(right) or not np.allclose(scores, right_scores, _ROUNDING, 0.0):
            raise WrongAnswerError(f"{name}: the list of {id} is {found}, not {right}")
    return len(expected)
