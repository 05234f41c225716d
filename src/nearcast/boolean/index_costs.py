"""What a message costs in each index of the room, by a small formula of the workload's statistics.

The formula is a sum: for each term, how much of it an average message has, times what one of it
takes. `python -m benchmarks.boolean.recommend_fit` fits the constants to measurements and prints
them: microseconds on one core of the machine they were fitted on, a virtual AMD EPYC at 2.6 GHz.
Another machine has others; the order of the indexes is what they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt

from nearcast.boolean.workload_statistics import WorkloadStatistics as Statistics


@dataclass(frozen=True, slots=True)
class Term:
    """Something that takes time: how much of it a message has, and how to say why it is so much."""

    amount: Callable[[Statistics], float]
    because: Callable[[Statistics], str]


def _words(at: Statistics) -> str:
    return (
        f"messages have {_number(at.message_words)} words, "
        f"{_number(at.known_words)} of which subscriptions use"
    )


def _near(at: Statistics) -> str:
    boxes = f" ({at.range_messages:.0%} of the messages are boxes)" if at.range_messages else ""
    return f"a message's place meets {_number(at.near)} of {_number(at.entries)} regions{boxes}"


def _listed(at: Statistics) -> str:
    return f"a message has the rarest word of {_number(at.listed)} subscriptions"


def _ranges(at: Statistics) -> str:
    return f"{at.range_messages:.0%} of the messages are boxes, with parts of many cells in them"


def _matches(at: Statistics) -> str:
    return f"a message has {_number(at.matches)} matches"


def _listed_near(at: Statistics) -> str:
    return (
        f"{_number(at.listed_near)} of the {_number(at.listed)} subscriptions whose rarest word a "
        "message has are where it is"
    )


TERMS = {
    "message": Term(
        lambda at: 1.0,
        lambda at: f"messages have only {_number(at.known_words)} words that subscriptions use",
    ),
    "word": Term(lambda at: at.known_words, _words),
    "word, level": Term(lambda at: at.known_words * log2(2 + at.entries), _words),
    "word, near": Term(lambda at: at.known_words * sqrt(at.near), _near),
    "word, word": Term(lambda at: at.known_words**2, _words),
    "list": Term(lambda at: at.long_lists, _words),
    "list, level": Term(
        lambda at: at.long_lists * log2(2 + at.listed / max(1.0, at.long_lists)), _words
    ),
    "list, near": Term(lambda at: sqrt(at.long_lists * at.listed_near), _listed_near),
    "box": Term(lambda at: at.range_messages, _ranges),
    "box, word": Term(lambda at: at.range_messages * at.known_words, _ranges),
    "box, list": Term(lambda at: at.range_messages * at.long_lists, _ranges),
    "box, near": Term(lambda at: at.range_messages * at.near, _ranges),
    "box, listed": Term(lambda at: at.range_messages * at.listed, _ranges),
    "box, listed, near": Term(lambda at: at.range_messages * at.listed_near, _ranges),
    "near": Term(lambda at: at.near, _near),
    "listed": Term(lambda at: at.listed, _listed),
    "listed, near": Term(lambda at: at.listed_near, _listed_near),
    "long clause": Term(
        lambda at: at.listed_near * max(0.0, at.clause_words - 2),
        lambda at: f"subscriptions have {_number(at.clause_words)} words",
    ),
    "headed": Term(
        lambda at: at.headed,
        lambda at: f"a message has the commonest word of {_number(at.headed)} subscriptions",
    ),
    "satisfied": Term(
        lambda at: at.satisfied,
        lambda at: f"a message has all words of {_number(at.satisfied)} subscriptions",
    ),
    "match": Term(lambda at: at.matches, _matches),
    "subscription": Term(
        lambda at: float(at.subscriptions), lambda at: f"there are {at.subscriptions:,}"
    ),
}


COSTS: dict[str, dict[str, float]] = {
    "RarestWordTree": {
        "message": 0.227,
        "list, near": 0.021,
        "word": 0.0344,
        "listed, near": 0.00368,
        "headed": 1.28e-05,
    },
    "RQTree": {
        "message": 0.178,
        "list, near": 0.101,
        "box, listed": 0.00328,
        "word, level": 0.00603,
        "box, listed, near": 0.0398,
        "box, list": 0.47,
    },
    "IQTree": {
        "message": 0.38,
        "list, near": 0.112,
        "box, list": 1.48,
        "word": 0.161,
        "box, listed, near": 0.0437,
        "box, listed": 0.00196,
    },
    "APTree": {
        "message": 0.853,
        "word, near": 0.00732,
        "box, listed": 0.00232,
        "listed, near": 0.00872,
        "box, listed, near": 0.0253,
    },
    "TrieQuadtree": {
        "message": 0.438,
        "word, near": 0.00439,
        "satisfied": 0.0012,
        "box, listed, near": 0.0426,
        "word, level": 0.0156,
    },
    "RtTree": {
        "message": 0.296,
        "list, near": 0.189,
        "word, near": 0.00421,
        "match": 0.0692,
        "word, level": 0.00455,
        "box, listed, near": 0.037,
    },
    "IRTree": {
        "message": 0.528,
        "word, near": 0.00859,
        "listed, near": 0.0805,
        "headed": 2.67e-05,
        "box, near": 0.000692,
    },
    "MBRTrie": {
        "message": 0.661,
        "list, level": 0.0767,
        "word, near": 0.00314,
        "satisfied": 0.0018,
        "box, listed, near": 0.0209,
        "word, word": 0.000439,
    },
    "PTQuadtree": {
        "message": 0.969,
        "near": 0.00527,
        "box, listed": 0.00261,
        "word, level": 0.00536,
        "long clause": 0.0488,
        "box, near": 0.00587,
    },
    "LFilter": {
        "message": 0.466,
        "list, near": 0.0498,
        "word": 0.166,
        "box, listed": 0.00263,
        "listed, near": 0.0172,
        "headed": 3.34e-05,
    },
    # By hand, from four workloads of 1,000 to 100,000 subscriptions: it is never near the others.
    "ScanIndex": {
        "message": 95.0,
        "subscription": 0.034,
    },
}


def predict(index: str, statistics: Statistics) -> float:
    """Expected microseconds a message.  O(1)."""
    return sum(cost * TERMS[name].amount(statistics) for name, cost in COSTS[index].items())


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
