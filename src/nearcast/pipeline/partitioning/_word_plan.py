"""Which words belong to which shard: the ranges of DSkype's Algorithm 4, and hot words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning._keyword_kernels import (
    NO_WORD,
    chance_of_hashed_words,
    fill_ranges,
    messages_by_word,
    rarest_words,
)
from nearcast.pipeline.partitioning.cost import (
    MESSAGE_SECONDS,
    PAIR_SECONDS,
    SUBSCRIPTION_SECONDS,
)
from nearcast.pipeline.partitioning.hashing import hash_words
from nearcast.text.string_table import StringTable

# A word seen once says nothing about its frequency, and a larger sample would have many more.
FEWEST_MESSAGES = 2
HALVINGS = 32  # of the interval that holds the best cost


def known_words(
    subscriptions: SubscriptionBatch, messages: MessageBatch, shards: int, most_words: int
) -> StringTable:
    """Words worth an entry: frequent in messages, or required by many clauses; frequent first."""
    every = np.arange(len(messages.lexicon), dtype=np.int32)
    start, _ = messages_by_word(messages.word_start, messages.words, every, len(every))
    table = StringTable()
    table.add(_most_frequent(messages.lexicon, np.diff(start), FEWEST_MESSAGES, most_words))
    # A word that a shard's share of all clauses requires would make that shard heavy, even where no
    # message has it. There are few of them.
    required = np.bincount(subscriptions.required, minlength=len(subscriptions.lexicon))
    required[table.find(subscriptions.lexicon) >= 0] = 0
    clauses = len(subscriptions.required_start) - 1
    room = most_words - len(table)
    table.add(_most_frequent(subscriptions.lexicon, required, clauses // shards + 1, room))
    return table


def _most_frequent(
    words: pa.LargeStringArray, counts: NDArray[np.int64], fewest: int, most: int
) -> pa.LargeStringArray:
    # Hashes break ties, so that the order of the lexicon does not matter.
    order = np.lexsort((hash_words(words), -counts))
    chosen = order[counts[order] >= fewest][:most]
    return words.take(pa.array(chosen))


def plan_words(
    table: StringTable,
    subscriptions: SubscriptionBatch,
    messages: MessageBatch,
    subscription_weight: float,
    message_weight: float,
    shards: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(first, last) int32[table]: each word belongs to the shards first:last.

    The costliest shard is as cheap as consecutive ranges of words allow. Ranges that may not cost
    more than a limit are filled greedily, and the least limit for which the shards suffice is found
    by halving. Cost grows with its range, so that is the best there is, unless a word needs several
    shards; Algorithm 4 halves recursively and comes close.  O(words * HALVINGS).
    """
    rank = table.find(subscriptions.lexicon)
    rarest = rarest_words(
        subscriptions.required_start,
        subscriptions.required,
        rank,
        hash_words(subscriptions.lexicon),
    )
    posted = rank[rarest[rarest != NO_WORD]]
    clauses = np.bincount(posted[posted >= 0], minlength=len(table)).astype(np.float64)
    without_word = len(rarest) - len(posted)
    clauses_everywhere = without_word + float((posted < 0).sum()) / shards

    message_rank = table.find(messages.lexicon)
    start, message = messages_by_word(messages.word_start, messages.words, message_rank, len(table))
    chance = chance_of_hashed_words(messages.word_start, messages.words, message_rank, shards)
    costs = (
        SUBSCRIPTION_SECONDS * subscription_weight,
        MESSAGE_SECONDS * message_weight,
        PAIR_SECONDS * subscription_weight * message_weight,
    )
    first, last = np.empty(len(table), np.int32), np.empty(len(table), np.int32)

    def fits(limit: float) -> bool:
        return fill_ranges(
            limit, shards, clauses, start, message, 1.0 - chance,
            clauses_everywhere, float(chance.sum()), costs, first, last,
        )  # fmt: skip

    too_low, enough = 0.0, _more_than_all(len(rarest), len(messages), costs)
    for _ in range(HALVINGS):
        middle = (too_low + enough) / 2
        if fits(middle):
            enough = middle
        else:
            too_low = middle
    fits(enough)
    return first, last


def _more_than_all(clauses: int, messages: int, costs: tuple[float, float, float]) -> float:
    """A limit that one shard with everything is sure to keep, however its sums are rounded."""
    of_subscription, of_message, of_pair = costs
    n, m = 1.0 + 2.0 * clauses, 1.0 + 2.0 * messages
    return of_subscription * n + of_message * m + of_pair * n * m
