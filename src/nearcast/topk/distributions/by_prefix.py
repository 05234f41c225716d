"""`ByPrefix`: a subscription is with as few of its words as its list allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import TopKSubscription
from nearcast.topk._flat.columns import unit_vectors
from nearcast.topk.distributions.by_keyword import ByKeyword
from nearcast.topk.distributions.distribution import Targets
from nearcast.topk.distributions.lowest_scores import lowest_scores
from nearcast.topk.distributions.placement import NOTHING, Placement
from nearcast.topk.distributions.word_ranges import WordRanges
from nearcast.topk.index import Scoring
from nearcast.topk.word_statistics import WordStatistics

ROUNDING = 1e-9  # what a score may be above its bound by
SHARE = 0.97  # of the messages that have a word, in which it is not heavier than `heaviest`
FEWEST = 30  # messages that tell how heavy a word is


@dataclass(frozen=True)
class ByPrefix(ByKeyword):
    """As `ByKeyword`, without shards whose words alone bring no message into the list.

    That is the loose prefix of DSkype (section 7.3.4, Definition 12): the longer a list has been
    good, the fewer words it is kept by. When its lowest score falls, more shards get it. Two things
    are other than in the paper. A word of a message counts no more than it usually weighs there,
    which says far more than its weight in the subscription alone; the few messages in which a word
    is heavier go to all shards. And shards come in the order of what their words may add to a
    score, so that words that share a shard count together. Use `plan`.

    - `heaviest`: how much a word weighs at the most in a message that is not sent everywhere, where
      that is less than 1

    >>> from nearcast.model import Point
    >>> prefix = ByPrefix(2, WordRanges({"jazz": 0, "the": 1}, (0,)), {"the": 0.25})
    >>> statistics = WordStatistics(100, {"jazz": 1, "the": 90})
    >>> subscription = TopKSubscription("s", "jazz the", Point(0, 0), k=5, alpha=0.5)
    >>> placement = prefix.placement(subscription, statistics)
    >>> placement.shards, round(placement.beyond[0], 2)
    ((0, 1), 0.52)
    """

    name: ClassVar[str] = "prefix"
    heaviest: Mapping[str, float]

    @classmethod
    def plan(
        cls,
        subscriptions: Sequence[TopKSubscription],
        messages: MessageBatch,
        shards: int,
        scoring: Scoring,
        total_subscriptions: int,
    ) -> Self:
        """Divide the words by their cost, where a subscription has those of its prefix alone.

        How long a prefix is depends on how good lists are, so those of the samples are made.
        """
        lowest = lowest_scores(subscriptions, messages, scoring)
        heaviest = heaviest_words(messages, scoring.statistics)
        wanted = []
        for each, score in zip(subscriptions, lowest, strict=True):
            words = _in_order(each, scoring.statistics, heaviest)
            beyond = _beyond(each.alpha, [[word] for word in words])
            needed = Placement(tuple(range(len(words))), beyond).needed(score)
            wanted.append([word for word, _, _ in words[:needed]])
        words_by_shard = WordRanges.plan(wanted, messages, shards, total_subscriptions)
        return cls(shards, words_by_shard, heaviest)

    def placement(self, subscription: TopKSubscription, statistics: WordStatistics) -> Placement:
        by_shard: dict[int, list[_Word]] = {}
        for word in _in_order(subscription, statistics, self.heaviest):
            by_shard.setdefault(self.words.shard_of(word[0]), []).append(word)
        shards = sorted(by_shard, key=lambda shard: (-_most(by_shard[shard]), shard))
        beyond = _beyond(subscription.alpha, [by_shard[shard] for shard in shards])
        return Placement(tuple(shards), beyond)

    def targets(self, messages: MessageBatch, statistics: WordStatistics) -> Targets:
        targets = super().targets(messages, statistics)
        row, word, weight = word_weights(messages, statistics)
        lexicon = messages.lexicon.to_pylist()
        most = np.array([self.heaviest.get(word, 1.0) for word in lexicon])
        if len(word):
            targets[row[weight > most[word]]] = True
        return targets

    def row(self) -> dict[str, Any]:
        return {**super().row(), "heaviest": dict(self.heaviest)}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        return cls(row["shards"], WordRanges.of_row(row["words"]), row["heaviest"])


_Word = tuple[str, float, float]
"""A word of a subscription, its weight there, and the most it weighs in a message."""


def heaviest_words(messages: MessageBatch, statistics: WordStatistics) -> dict[str, float]:
    """By word: what it weighs at the most in nearly all messages that have it."""
    _, word, weight = word_weights(messages, statistics)
    order = np.lexsort((weight, word))
    word, weight = word[order], weight[order]
    starts = np.flatnonzero(np.diff(word, prepend=-1))
    ends = np.append(starts[1:], len(word))
    often = ends - starts >= FEWEST
    starts, ends = starts[often], ends[often]
    at = starts + ((ends - starts - 1) * SHARE).astype(np.int64)
    names = messages.lexicon.take(word[starts]).to_pylist()
    return dict(zip(names, weight[at].tolist(), strict=True))


def word_weights(
    messages: MessageBatch, statistics: WordStatistics
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """(row, word, weight) of all distinct words of messages, by row."""
    counts = np.diff(messages.word_start)
    rows = np.flatnonzero(counts)
    if len(rows) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
    idf = np.array([statistics.idf(word) for word in messages.lexicon.to_pylist()])
    start, word, _, weight = unit_vectors(messages.words, counts[rows], idf)
    return np.repeat(rows, np.diff(start)), word, weight


def _in_order(
    subscription: TopKSubscription, statistics: WordStatistics, heaviest: Mapping[str, float]
) -> list[_Word]:
    """The words of a subscription, those first that may add most to a score."""
    weights = statistics.weights(subscription.keywords)
    words = [(word, weight, heaviest.get(word, 1.0)) for word, weight in weights.items()]
    return sorted(words, key=lambda word: (-word[1] * word[2], word[0]))


def _most(words: Sequence[_Word]) -> float:
    return sum(weight * heaviest for _, weight, heaviest in words)


def _beyond(alpha: float, groups: Sequence[Sequence[_Word]]) -> tuple[float, ...]:
    """What a message can score that has no word of the first groups: after one, after two, ..."""
    beyond = [NOTHING]
    left: list[_Word] = []
    for group in reversed(groups[1:]):
        left.extend(group)
        length = sqrt(sum(weight * weight for _, weight, _ in left))
        alike = min(length, _most(left))
        beyond.append(alpha + (1.0 - alpha) * alike + ROUNDING)
    return tuple(reversed(beyond))
