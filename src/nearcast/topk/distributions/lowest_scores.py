"""How good must a message be to come into a list?"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk.index import Scoring
from nearcast.topk.windows import CountWindow
from nearcast.topk.word_lists import WordLists


def lowest_of(ranked: Sequence[tuple[Any, float]], k: int) -> float:
    """The score that a message has to exceed: the paper's kScore; -1 where any is enough.

    >>> lowest_of([("a", 0.9), ("b", 0.4)], 2), lowest_of([("a", 0.9)], 2)
    (0.4, -1.0)
    """
    return ranked[k - 1][1] if len(ranked) >= k else -1.0


def lowest_scores(
    subscriptions: Sequence[TopKSubscription], messages: MessageBatch, scoring: Scoring
) -> list[float]:
    """The lowest score of each list when these messages are the window."""
    index = WordLists(
        CountWindow(max(1, len(messages))),
        space=scoring.space,
        max_dist=scoring.max_dist,
        statistics=scoring.statistics,
        lateness=inf,  # a sample may be in any order
    )
    index.publish_batch(messages)
    index.subscribe_many(list(subscriptions))
    return [lowest_of(index.results(each.id), each.k) for each in subscriptions]
