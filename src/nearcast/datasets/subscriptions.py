"""Subscriptions made from messages: somebody wants to hear of things like this, around here.

The workload of the AP-Tree papers (Wang et al., ICDE 2015 and VLDB Journal 2017): some words of a
message, and a square around its place.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import ExpressionColumn, MessageBatch, SubscriptionBatch
from nearcast.datasets._subscription_kernels import general_clauses, pick_words
from nearcast.datasets._words_in_use import words_in_use
from nearcast.model import Box, Space
from nearcast.space.region_column import RegionColumn


def subscriptions_from(
    messages: MessageBatch,
    count: int,
    *,
    bounds: Box | None = None,
    words: tuple[int, int] = (1, 5),
    area: tuple[float, float] = (0.0001, 0.01),
    seed: int = 0,
    first_id: int = 0,
) -> SubscriptionBatch:
    """`count` subscriptions that want all of a few words, in the order of their messages.

    Messages are chosen at random, each at most once where there are enough of them; ids count up
    from `first_id`.

    Parameters
    ----------
    bounds: the space; by default the smallest box around the messages
    words: the least and the most words a subscription takes (all of a shorter message)
    area: the least and the most area of its square, as shares of the area of `bounds`

    >>> from nearcast.datasets import Tweets
    >>> len(subscriptions_from(Tweets(vocabulary=1000).batch(50), 20))
    20
    """
    row = _choose(messages, count, seed)
    start, picked = _words(messages, row, words, seed)
    clauses = np.arange(count + 1, dtype=np.int64)
    return _batch(messages, row, bounds, area, seed, first_id, clauses, start, picked)


def expressions_from(
    messages: MessageBatch,
    count: int,
    *,
    bounds: Box | None = None,
    words: tuple[int, int] = (3, 7),
    area: tuple[float, float] = (0.0001, 0.01),
    seed: int = 0,
    first_id: int = 0,
) -> SubscriptionBatch:
    """Like `subscriptions_from`, but with expressions such as `(a OR b) AND c AND d`.

    The words are cut in two parts; AND or OR is chosen for the inside of each part and
    between the two.

    >>> from nearcast.datasets import Tweets
    >>> batch = expressions_from(Tweets(vocabulary=1000).batch(50), 20)
    >>> max(len(batch.subscription(i).expression.clauses) for i in range(20)) > 1
    True
    """
    row = _choose(messages, count, seed)
    start, picked = _words(messages, row, words, seed)
    each = np.diff(start)
    most_clauses = np.maximum(each, (each // 2) * (each - each // 2)).sum()
    clause_start = np.empty(count + 1, np.int64)
    required_start = np.empty(int(most_clauses) + 1, np.int64)
    # The longest form: two words in each clause of a product of ORs.
    required = np.empty(int((each**2 // 2 + each).sum()), np.int32)
    general_clauses(seed, start, picked, clause_start, required_start, required)
    required_start = required_start[: clause_start[-1] + 1].copy()
    required = required[: required_start[-1]].copy()
    return _batch(
        messages, row, bounds, area, seed, first_id, clause_start, required_start, required
    )


def _choose(messages: MessageBatch, count: int, seed: int) -> NDArray[np.int64]:
    """The messages to make subscriptions from, in ascending order."""
    usable = np.flatnonzero(np.diff(messages.word_start) > 0)
    if usable.size == 0 and count > 0:
        raise ValueError("none of the messages has a word; a subscription needs at least one")
    draw = np.random.Generator(np.random.PCG64(seed))
    return np.sort(draw.choice(usable, count, replace=count > usable.size))


def _words(
    messages: MessageBatch, row: NDArray[np.int64], words: tuple[int, int], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    fewest, most = words
    if not 1 <= fewest <= most:
        raise ValueError(f"words {words} is no range; give 1 <= least <= most")
    start = np.empty(row.size + 1, np.int64)
    picked = np.empty(row.size * most, np.int32)
    pick_words(seed, row, messages.word_start, messages.words, fewest, most, start, picked)
    return start, picked[: start[-1]].copy()


def _batch(
    messages: MessageBatch,
    row: NDArray[np.int64],
    bounds: Box | None,
    area: tuple[float, float],
    seed: int,
    first_id: int,
    clause_start: NDArray[np.int64],
    required_start: NDArray[np.int64],
    required: NDArray[np.int32],
) -> SubscriptionBatch:
    in_use, required = words_in_use(required, len(messages.lexicon))
    return SubscriptionBatch(
        pa.array(np.arange(first_id, first_id + row.size, dtype=np.int64)),
        ExpressionColumn(
            lexicon=messages.lexicon.take(pa.array(in_use)),
            clause_start=clause_start,
            required_start=required_start,
            required=required,
            forbidden_start=np.zeros(required_start.size, np.int64),
            forbidden=np.empty(0, np.int32),
        ),
        RegionColumn.of_boxes(
            _squares(messages, row, bounds or bounds_of(messages), area, seed), messages.space
        ),
    )


def _squares(
    messages: MessageBatch,
    row: NDArray[np.int64],
    bounds: Box,
    area: tuple[float, float],
    seed: int,
) -> NDArray[np.float64]:
    """A square in degrees (or plane units) around each place, cut off where the Earth ends."""
    low, high = area
    if not 0.0 < low <= high <= 1.0:
        raise ValueError(f"area {area} is no range of shares; give 0 < least <= most <= 1")
    draw = np.random.Generator(np.random.PCG64(seed + 1))
    share = low + (high - low) * draw.random(row.size)
    whole = (bounds.east - bounds.west) * (bounds.north - bounds.south)
    half = (np.sqrt(share * whole) / 2)[:, None]
    place = messages.at[row]
    centre = (place[:, :2] + place[:, 2:]) / 2
    squares = np.concatenate([centre - half, centre + half], axis=1)
    if messages.space is Space.EARTH:
        limit: Any = (180.0, 90.0, 180.0, 90.0)
        squares = np.clip(squares, np.negative(limit), limit)
    return squares


def bounds_of(messages: MessageBatch) -> Box:
    """The smallest box around the messages (none of which may cross the antimeridian)."""
    west, south = messages.at[:, :2].min(axis=0)
    east, north = messages.at[:, 2:].max(axis=0)
    return Box(float(west), float(south), float(east), float(north), space=messages.space)
