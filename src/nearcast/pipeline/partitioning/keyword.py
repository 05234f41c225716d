"""`Keyword`: each shard has a part of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning._keyword_kernels import (
    Codes,
    mark_messages,
    mark_subscriptions,
)
from nearcast.pipeline.partitioning._word_plan import known_words, plan_words
from nearcast.pipeline.partitioning.cost import MANY
from nearcast.pipeline.partitioning.hashing import Hashes, hash_words
from nearcast.pipeline.partitioning.partitioning import Partitioning, check_shards
from nearcast.pipeline.partitioning.routes import Routes, mask_words
from nearcast.storage import part
from nearcast.text.string_table import StringTable

MOST_WORDS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Keyword(Partitioning):
    """Words belong to shards; a clause is kept with its rarest word, a message visits all of its.

    A message that satisfies a clause has all of its required words, so one of them is enough to
    bring the two together. Frequent words are in a table, in consecutive ranges of their frequency
    (DSkype, section 7.3.3); all others belong to the shard of their hash, so new words may come at
    any time. A word that alone is too much for one shard has several: its clauses are dealt out
    by `id_hash` among them, its messages go to all of them. A clause without required words is kept
    in all shards, a message without words goes to shard 0.

    - `words`: the table, the most frequent word first
    - `first`, `last`: int32[words], a word belongs to the shards first:last

    >>> from nearcast.datasets import Tweets, subscriptions_from
    >>> from nearcast.pipeline.partitioning import hash_ids, measure
    >>> tweets = Tweets(vocabulary=10_000).batch(2000)
    >>> subscriptions = subscriptions_from(tweets, 1000)
    >>> id_hash = hash_ids(subscriptions.ids)
    >>> keyword = Keyword.plan(subscriptions, id_hash, tweets, 16)
    >>> metrics = measure(keyword, subscriptions, id_hash, tweets)
    >>> metrics.replication, metrics.shards_per_message < 8
    (1.0, True)
    """

    name: ClassVar[str] = "keyword"
    shards: int
    words: StringTable
    first: Codes
    last: Codes

    @classmethod
    def plan(
        cls,
        subscriptions: SubscriptionBatch,
        id_hash: Hashes,
        messages: MessageBatch,
        shards: int,
        most_words: int = MOST_WORDS,
        *,
        total_subscriptions: int = MANY,
        total_messages: int = MANY,
    ) -> Self:
        """Divide the words by their cost, given samples of what is to come.  O(words).

        Parameters
        ----------
        most_words: the size of the table, which every task gets a copy of
        total_subscriptions, total_messages: how many there will be, of which these are samples
        """
        check_shards(shards)
        table = known_words(subscriptions, messages, shards, most_words)
        first, last = plan_words(
            table,
            subscriptions,
            messages,
            max(total_subscriptions, 1) / max(len(subscriptions), 1),
            max(total_messages, 1) / max(len(messages), 1),
            shards,
        )
        return cls(shards, table, first, last)

    def of_subscriptions(self, batch: SubscriptionBatch, id_hash: Hashes) -> Routes:
        rank, word_hash, first, last = self._look_up(batch.lexicon)
        masks = self._no_shards(len(batch))
        mark_subscriptions(
            batch.clause_start, batch.required_start, batch.required,
            rank, word_hash, first, last, id_hash, self.shards, masks,
        )  # fmt: skip
        return Routes.of_masks(masks)

    def of_messages(self, batch: MessageBatch) -> Routes:
        _, _, first, last = self._look_up(batch.lexicon)
        masks = self._no_shards(len(batch))
        mark_messages(batch.word_start, batch.words, first, last, masks)
        return Routes.of_masks(masks)

    def _look_up(self, lexicon: pa.LargeStringArray) -> tuple[Codes, Hashes, Codes, Codes]:
        """Of each word: its number in the table or -1, its hash, its first and last shard."""
        rank = self.words.find(lexicon)
        word_hash = hash_words(lexicon)
        first = (word_hash % np.uint64(self.shards)).astype(np.int32)
        last = first + np.int32(1)
        known = rank >= 0
        first[known] = self.first[rank[known]]
        last[known] = self.last[rank[known]]
        return rank, word_hash, first, last

    def _no_shards(self, rows: int) -> NDArray[np.uint64]:
        return np.zeros((rows, mask_words(self.shards)), np.uint64)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        words = {f"words/{name}": array for name, array in self.words.arrays().items()}
        return {"first": self.first, "last": self.last, **words}

    @classmethod
    def _of_arrays(cls, shards: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        words = StringTable.from_arrays(part(arrays, "words/"))
        return cls(shards, words, arrays["first"], arrays["last"])
