"""Which words belong to which shard: Algorithm 4 of DSkype, with room for words never seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.topk.distributions.distribution import check_shards, hash_of_word

FEWEST_MESSAGES = 2  # a word that fewer of the sample have is not in the table
HEAPS = 1024  # of words that are not in it

_Entries = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(row, rank): which rows have the words of which ranks, by row."""


@dataclass(frozen=True)
class WordRanges:
    """Each word belongs to one shard: those in a table as planned, others by their hash.

    - `table`: the shard of each word that is frequent enough to be planned for
    - `heaps`: the shards of all other words, by their hash

    >>> ranges = WordRanges({"tea": 1}, (0, 0))
    >>> ranges.shard_of("tea"), ranges.shard_of("never seen")
    (1, 0)
    """

    table: dict[str, int]
    heaps: tuple[int, ...]

    def shard_of(self, word: str) -> int:
        shard = self.table.get(word)
        return self.heaps[hash_of_word(word) % len(self.heaps)] if shard is None else shard

    @classmethod
    def plan(
        cls, subscriptions: Sequence[Sequence[str]], messages: MessageBatch, shards: int
    ) -> Self:
        """Consecutive ranges of words by frequency, halved again and again where costs balance.

        `subscriptions` are the words by which each of a sample is to be found. Words of which one
        message or none was seen are taken together in heaps, which come last: as often as a sample
        has a word for the first time, the stream will go on to bring new ones.
        O((words of samples) * log(shards)).
        """
        check_shards(shards)
        words = [words_of(messages, row) for row in range(len(messages))]
        seen = Counter(word for said in words for word in said)
        frequent = [word for word in seen if seen[word] >= FEWEST_MESSAGES]
        known = sorted(frequent, key=lambda word: (-seen[word], word))
        rank = {word: n for n, word in enumerate(known)}
        shard_of = np.zeros(len(known) + HEAPS, np.int64)
        _divide(
            _entries(subscriptions, rank), _entries(words, rank),
            0, len(shard_of), 0, shards, shard_of,
        )  # fmt: skip
        table = dict(zip(known, shard_of.tolist(), strict=False))
        return cls(table, tuple(shard_of[len(known) :].tolist()))

    def row(self) -> dict[str, Any]:
        return {"table": self.table, "heaps": self.heaps}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        return cls(row["table"], tuple(row["heaps"]))


def words_of(messages: MessageBatch, row: int) -> set[str]:
    """The distinct words of a message."""
    codes = messages.words[messages.word_start[row] : messages.word_start[row + 1]]
    return {messages.lexicon[code].as_py() for code in codes.tolist()}


def _entries(rows: Sequence[Any], rank: dict[str, int]) -> _Entries:
    ranks = [[_rank(word, rank) for word in words] for words in rows]
    row = np.repeat(np.arange(len(rows)), [len(each) for each in ranks])
    return row, np.array([number for each in ranks for number in each], np.int64)


def _rank(word: str, rank: dict[str, int]) -> int:
    known = rank.get(word)
    return len(rank) + hash_of_word(word) % HEAPS if known is None else known


def _divide(
    subscriptions: _Entries,
    messages: _Entries,
    first: int,
    last: int,
    shard: int,
    shards: int,
    shard_of: NDArray[np.int64],
) -> None:
    """Give the words of the ranks first:last to so many shards from `shard` on."""
    shard_of[first:last] = shard
    if shards == 1 or last - first < 2:
        return
    low_shards = shards // 2
    low, high = _costs(subscriptions, messages, first, last)
    off = np.abs(low[:-1] / low_shards**2 - high[1:] / (shards - low_shards) ** 2)
    split = first + int(np.argmin(off)) + 1
    _divide(
        _within(subscriptions, first, split), _within(messages, first, split),
        first, split, shard, low_shards, shard_of,
    )  # fmt: skip
    _divide(
        _within(subscriptions, split, last), _within(messages, split, last),
        split, last, shard + low_shards, shards - low_shards, shard_of,
    )  # fmt: skip


def _costs(
    subscriptions: _Entries, messages: _Entries, first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the words up to each rank cost, and those from each rank on: Equation 16."""
    low, high = np.ones(last - first), np.ones(last - first)
    for row, rank in (subscriptions, messages):
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        if len(starts) == 0:
            continue
        lowest, highest = np.minimum.reduceat(rank, starts), np.maximum.reduceat(rank, starts)
        low *= np.cumsum(np.bincount(lowest - first, minlength=last - first))
        high *= np.cumsum(np.bincount(highest - first, minlength=last - first)[::-1])[::-1]
    return low, high


def _within(entries: _Entries, first: int, last: int) -> _Entries:
    row, rank = entries
    chosen = (rank >= first) & (rank < last)
    return row[chosen], rank[chosen]
