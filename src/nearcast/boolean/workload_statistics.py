"""What decides how long indexes take: measured on a sample of subscriptions and messages.

How often each word is used is counted in all subscriptions, one pass over their words; everything
else in a sample, so that it takes well under a second whatever there is. Entries are those of
`SubscriptionStore`: a clause of a subscription over a rectangle of its region's cover.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean.index import check_space

MOST_SUBSCRIPTIONS = 50_000  # of the sample
MOST_MESSAGES = 5_000
MOST_WORDS = 200_000  # of all messages of the sample, and of all its subscriptions
MOST_PAIRS = 300_000  # of a message and an entry or one of its words, each looked at
LONG_LIST = 16  # entries: a list with more is a structure of its own in most indexes

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WorkloadStatistics:
    """An average message, and how many of all entries it meets on the way to its matches.

    - `subscriptions`, `entries`: how many there are
    - `clause_words`: required words of an entry
    - `general`: share of entries that are not the only clause of their subscription, or forbid
      words
    - `message_words`: distinct words of a message; `known_words`: those subscriptions use
    - `range_messages`: share of the messages that are boxes
    - `near`: entries whose rectangle a message's place meets
    - `long_lists`: words of a message that are the rarest of more than 16 entries
    - `listed`: entries whose rarest word a message has, or that have no words; of these,
      `listed_near` are near, `satisfied` have all their words in the message, `matches` both
    - `headed`: entries whose commonest word a message has, or that have no words
    """

    subscriptions: int
    entries: float = 0.0
    clause_words: float = 0.0
    general: float = 0.0
    message_words: float = 0.0
    known_words: float = 0.0
    range_messages: float = 0.0
    near: float = 0.0
    long_lists: float = 0.0
    listed: float = 0.0
    listed_near: float = 0.0
    satisfied: float = 0.0
    matches: float = 0.0
    headed: float = 0.0

    @property
    def near_share(self) -> float:
        """How likely a message's place meets a region."""
        return self.near / max(1.0, self.entries)


def measure_workload(
    subscriptions: SubscriptionBatch, messages: MessageBatch
) -> WorkloadStatistics:
    """Statistics of these subscriptions and messages; the same for the same ones."""
    check_space("the messages are", messages.space, subscriptions.space)
    draw = np.random.default_rng(0)
    few = _some_messages(messages, draw)
    entries = _Entries(subscriptions, few.lexicon)
    if not len(subscriptions) or not len(few):
        return WorkloadStatistics(
            len(subscriptions),
            entries=entries.scale * len(entries.bounds),
            clause_words=_mean(entries.word_counts),
            general=_mean(entries.is_general),
        )
    places = few.rects[few.rect_start[:-1]]  # the first rectangle is near enough for a statistic
    having = _Having(few)
    lists = _Lists(entries.rarest, len(few.lexicon))
    heads = _Lists(entries.commonest, len(few.lexicon))
    length = lists.length[having.word]
    most_pairs = int(MOST_PAIRS / (1 + _mean(entries.word_counts)))
    pairs = lists.pairs(having, len(few), most_pairs, draw)
    is_near = _meet(entries.bounds[pairs.entry], places[pairs.message])
    is_satisfied = _all_there(entries, having, pairs)

    listed = entries.scale * (lists.wordless + float(length.sum()) / len(few))
    return WorkloadStatistics(
        subscriptions=len(subscriptions),
        entries=entries.scale * len(entries.bounds),
        clause_words=_mean(entries.word_counts),
        general=_mean(entries.is_general),
        message_words=len(having.word) / len(few),
        known_words=float(entries.is_used[having.word].sum()) / len(few),
        range_messages=_mean(few.is_box),
        near=entries.scale * len(entries.bounds) * _near_share(entries.bounds, places, draw),
        long_lists=float((entries.scale * length > LONG_LIST).sum()) / len(few),
        listed=listed,
        listed_near=listed * _mean(is_near),
        satisfied=listed * _mean(is_satisfied),
        matches=listed * _mean(is_near & is_satisfied),
        headed=entries.scale * (heads.wordless + float(heads.length[having.word].sum()) / len(few)),
    )


def _some_messages(messages: MessageBatch, draw: np.random.Generator) -> MessageBatch:
    """A random sample."""
    count = min(MOST_MESSAGES, _affordable(len(messages), len(messages.words)))
    return messages.take(draw.choice(len(messages), count, replace=False) if count else [])


def _affordable(rows: int, words: int) -> int:
    """How many of the rows have the most words that a sample may have."""
    return rows if words <= MOST_WORDS else max(1, rows * MOST_WORDS // words)


class _Entries:
    """The entries of some subscriptions, with words numbered as the messages number them."""

    def __init__(self, batch: SubscriptionBatch, lexicon: pa.LargeStringArray) -> None:
        size = len(batch.required) + len(batch.required_start)
        count = min(MOST_SUBSCRIPTIONS, _affordable(len(batch), size))
        rows = np.linspace(0, max(0, len(batch) - 1), count).astype(np.int64)
        self.scale = len(batch) / max(1, count)
        cover_row, cover = batch.regions.take(rows).covers()
        clause, clauses = _runs(batch.clause_start, rows[cover_row])
        self.bounds = np.repeat(cover, clauses, axis=0)
        words, self.word_counts = _runs(batch.required_start, clause)
        self.word_start = np.concatenate([[0], np.cumsum(self.word_counts)])
        forbids = np.diff(batch.forbidden_start)[clause] > 0
        self.is_general = forbids | np.repeat(clauses > 1, clauses)

        code = pc.index_in(batch.lexicon, value_set=lexicon).fill_null(-1)
        known = np.asarray(code, dtype=np.int64)
        self.is_used = np.zeros(len(lexicon) + 1, bool)
        self.is_used[known] = True  # the last one stands for -1
        self.words = known[batch.required[words]]
        used = np.bincount(batch.required, minlength=len(batch.lexicon))
        owner = np.repeat(np.arange(len(clause)), self.word_counts)
        by_use = self.words[np.lexsort((used[batch.required[words]], owner))]
        self.rarest = self._of_each(by_use, self.word_start[:-1])
        self.commonest = self._of_each(by_use, self.word_start[1:] - 1)

    def _of_each(self, words: Numbers, at: Numbers) -> Numbers:
        """The word at a position for each entry, -1 where no message has it, or -2: no words."""
        chosen = np.full(len(at), -2)
        has_words = self.word_counts > 0
        chosen[has_words] = words[at[has_words]]
        return chosen


class _Having:
    """Which message has which word, each pair once, sorted by both."""

    def __init__(self, messages: MessageBatch) -> None:
        message = np.repeat(np.arange(len(messages)), np.diff(messages.word_start))
        self.vocabulary = max(1, len(messages.lexicon))
        self.key = np.unique(message * self.vocabulary + messages.words)
        self.message, self.word = np.divmod(self.key, self.vocabulary)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Messages and entries, side by side."""

    message: Numbers
    entry: Numbers


class _Lists:
    """The entries by one of their words."""

    def __init__(self, words: Numbers, vocabulary: int) -> None:
        self._order = np.argsort(words, kind="stable")
        ends = np.searchsorted(words[self._order], np.arange(-2, vocabulary), side="right")
        self._start = ends[1:]  # by word: where its list begins
        self.length = np.diff(self._start)
        self.wordless = int(ends[0])

    def pairs(self, having: _Having, messages: int, most: int, draw: np.random.Generator) -> _Pairs:
        """Messages with their listed entries: all of these pairs, or random ones of them."""
        begin = np.concatenate([[0], np.cumsum(self.length[having.word])])
        total = int(begin[-1]) + messages * self.wordless
        chosen = np.arange(total) if total <= most else draw.integers(total, size=most)
        by_word = chosen[chosen < begin[-1]]
        row = np.searchsorted(begin, by_word, side="right") - 1
        listed = self._start[having.word[row]] + by_word - begin[row]
        others = chosen[chosen >= begin[-1]] - begin[-1]
        message, wordless = np.divmod(others, max(1, self.wordless))
        return _Pairs(
            np.concatenate([having.message[row], message]),
            self._order[np.concatenate([listed, wordless])],
        )


def _all_there(entries: _Entries, having: _Having, pairs: _Pairs) -> NDArray[np.bool_]:
    """Does the message of each pair have all required words of the entry?"""
    at, lengths = _runs(entries.word_start, pairs.entry)
    pair = np.repeat(np.arange(len(lengths)), lengths)
    words = entries.words[at]
    key = pairs.message[pair] * having.vocabulary + words
    place = np.minimum(np.searchsorted(having.key, key), len(having.key) - 1)
    is_missing = (words < 0) | (having.key[place] != key) if len(having.key) else words < 0
    return np.bincount(pair, is_missing, len(lengths)) == 0


def _near_share(
    bounds: NDArray[np.float32], places: NDArray[np.float64], draw: np.random.Generator
) -> float:
    """The share of random entries that a random message's place meets."""
    entry = draw.integers(len(bounds), size=MOST_PAIRS)
    message = draw.integers(len(places), size=MOST_PAIRS)
    return float(_meet(bounds[entry], places[message]).mean())


def _meet(bounds: NDArray[np.float32], rects: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Does each rectangle meet the other one in its row?"""
    meets: NDArray[np.bool_] = (
        (bounds[:, 0] <= rects[:, 2])
        & (bounds[:, 1] <= rects[:, 3])
        & (bounds[:, 2] >= rects[:, 0])
        & (bounds[:, 3] >= rects[:, 1])
    )
    return meets


def _runs(start: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers]:
    """The positions start[i]:start[i + 1] of each chosen i, and how many each has."""
    begin = start[chosen]
    lengths = start[chosen + 1] - begin
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(begin - before, lengths), lengths


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else 0.0
