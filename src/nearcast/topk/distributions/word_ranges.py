"""Which words belong to which shard: Algorithm 4 of DSkype, with rare words together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.topk.distributions.cost import shard_seconds
from nearcast.topk.distributions.distribution import check_shards, hash_of_word

RARE = 0.004  # the share of messages below which a word is rare
FEWEST_MESSAGES = 2  # of a frequent word, however few there are in all

_Entries = tuple[NDArray[np.int64], NDArray[np.int64]]
"""(row, number): which rows have the words of which ranks, or hashes; by row."""


@dataclass(frozen=True)
class WordRanges:
    """Each word belongs to one shard: frequent ones as planned, rare ones by their hash.

    - `table`: the shards of frequent words
    - `rare`: the shards among which all other words are divided

    >>> ranges = WordRanges({"tea": 1}, (0,))
    >>> ranges.shard_of("tea"), ranges.shard_of("never seen")
    (1, 0)
    """

    table: dict[str, int]
    rare: tuple[int, ...]

    def shard_of(self, word: str) -> int:
        shard = self.table.get(word)
        return self.rare[_positive(word) % len(self.rare)] if shard is None else shard

    @classmethod
    def plan(
        cls,
        subscriptions: Sequence[Sequence[str]],
        messages: MessageBatch,
        shards: int,
        total_subscriptions: int,
    ) -> Self:
        """Consecutive ranges of frequent words, halved again and again where costs balance.

        `subscriptions` are the words by which each of a sample of the total is to be found. Rare
        words are together in as few shards as are no busier than each would be if subscriptions
        were divided by hash: nearly every message has some of them, and most subscriptions have
        several, which then need one shard.  O((words of samples) * log(shards)).
        """
        check_shards(shards)
        words = [words_of(messages, row) for row in range(len(messages))]
        seen = Counter(word for said in words for word in said)
        fewest = max(FEWEST_MESSAGES, RARE * len(messages))
        frequent = [word for word in seen if seen[word] >= fewest]
        known = sorted(frequent, key=lambda word: (-seen[word], word))
        rank = {word: n for n, word in enumerate(known)}
        scales = (total_subscriptions / max(1, len(subscriptions)), 1.0 / max(1, len(messages)))
        for_rare = _shards_for_rare(subscriptions, words, rank, scales, shards)
        shard_of = np.zeros(len(known), np.int64)
        _divide(
            _ranks(subscriptions, rank), _ranks(words, rank), scales,
            0, len(known), 0, max(1, shards - for_rare), shard_of,
        )  # fmt: skip
        table = dict(zip(known, shard_of.tolist(), strict=True))
        return cls(table, tuple(range(shards - for_rare, shards)))

    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"table": self.table, "rare": self.rare}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        """The words whose `row` this is."""
        return cls(row["table"], tuple(row["rare"]))


def words_of(messages: MessageBatch, row: int) -> set[str]:
    """The distinct words of a message."""
    codes = messages.words[messages.word_start[row] : messages.word_start[row + 1]]
    return {messages.lexicon[code].as_py() for code in codes.tolist()}


def _shards_for_rare(
    subscriptions: Sequence[Iterable[str]],
    messages: Sequence[Iterable[str]],
    rank: dict[str, int],
    scales: tuple[float, float],
    shards: int,
) -> int:
    """How many shards the rare words get: at least one, and not all, if there are several."""
    total = scales[0] * len(subscriptions)
    wanted, said = _hashes(subscriptions, rank), _hashes(messages, rank)
    for count in range(1, shards - 1):
        share = scales[1] * _rows_a_shard(said, count)
        if shard_seconds(share, scales[0] * _rows_a_shard(wanted, count)) <= shard_seconds(
            1.0, total / shards
        ):
            return count
    return max(1, shards - 1)


def _rows_a_shard(entries: _Entries, shards: int) -> float:
    """How many rows have a word of a shard, on average, where hashes divide words among them."""
    row, hashes = entries
    return len(np.unique(row * shards + hashes % shards)) / shards


def _hashes(rows: Sequence[Iterable[str]], rank: dict[str, int]) -> _Entries:
    """The hashes of rare words."""
    return _entries([[_positive(word) for word in words if word not in rank] for words in rows])


def _ranks(rows: Sequence[Iterable[str]], rank: dict[str, int]) -> _Entries:
    """The ranks of frequent words."""
    return _entries([[rank[word] for word in words if word in rank] for words in rows])


def _positive(word: str) -> int:
    return hash_of_word(word) % 2**62


def _entries(rows: Sequence[Sequence[int]]) -> _Entries:
    row = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    return row, np.array([number for each in rows for number in each], np.int64)


def _divide(
    subscriptions: _Entries,
    messages: _Entries,
    scales: tuple[float, float],
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
    low_subscriptions, high_subscriptions = _on_each_side(subscriptions, scales[0], first, last)
    low_messages, high_messages = _on_each_side(messages, scales[1], first, last)
    off = _seconds(low_messages[:-1], low_subscriptions[:-1], low_shards) - _seconds(
        high_messages[1:], high_subscriptions[1:], shards - low_shards
    )
    split = first + int(np.argmin(np.abs(off))) + 1
    _divide(
        _within(subscriptions, first, split), _within(messages, first, split), scales,
        first, split, shard, low_shards, shard_of,
    )  # fmt: skip
    _divide(
        _within(subscriptions, split, last), _within(messages, split, last), scales,
        split, last, shard + low_shards, shards - low_shards, shard_of,
    )  # fmt: skip


def _seconds(
    share: NDArray[np.float64], subscriptions: NDArray[np.float64], shards: int
) -> NDArray[np.float64]:
    """What one of so many shards costs that divide these evenly."""
    return shard_seconds(share / shards, subscriptions / shards)


def _on_each_side(
    entries: _Entries, scale: float, first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many rows have a word up to each rank, and from each rank on."""
    row, rank = entries
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    if len(starts) == 0:
        return np.zeros(last - first), np.zeros(last - first)
    lowest, highest = np.minimum.reduceat(rank, starts), np.maximum.reduceat(rank, starts)
    begin = np.bincount(lowest - first, minlength=last - first).astype(np.float64)
    end = np.bincount(highest - first, minlength=last - first).astype(np.float64)
    return np.cumsum(begin) * scale, np.cumsum(end[::-1])[::-1] * scale


def _within(entries: _Entries, first: int, last: int) -> _Entries:
    row, rank = entries
    chosen = (rank >= first) & (rank < last)
    return row[chosen], rank[chosen]
