"""Routing by words, and dividing the words among shards.

```
rank       int32[v]    by code of a batch's lexicon: number in the table of known words, frequent
                       words first, or -1 for a word that is not in it
word_hash  uint64[v]   by code: decides among words that are not in the table
first      int32[v]    by code: the word belongs to the shards first:last, nearly always one; its
last       int32[v]    clauses are dealt out among them, its messages go to all of them
masks      uint64[n, w]  the shards of each row, see `_route_kernels`
```

The arrays of a batch (clause_start, required_start, required; word_start, words) are drawn in
`nearcast.batches`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.pipeline.partitioning._route_kernels import Masks, Starts, set_bit

Codes: TypeAlias = NDArray[np.int32]
Hashes: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float64]

NO_WORD = -1


@njit(cache=True, nogil=True)
def rarest_word(required: Codes, first: int, last: int, rank: Codes, word_hash: Hashes) -> int:
    """The code of the rarest of required[first:last], or NO_WORD where there is none.  O(words).

    Which one it is depends on the words alone, not on their codes or order.
    """
    rarest = NO_WORD
    for k in range(first, last):
        code = required[k]
        if rarest == NO_WORD:
            rarest = code
        elif rank[code] < 0:
            if rank[rarest] >= 0 or word_hash[code] < word_hash[rarest]:
                rarest = code
        elif 0 <= rank[rarest] < rank[code]:
            rarest = code
    return rarest


@njit(cache=True, nogil=True)
def rarest_words(
    required_start: Starts, required: Codes, rank: Codes, word_hash: Hashes
) -> NDArray[np.int32]:
    """The code of the rarest word of each clause, NO_WORD for a clause without any.  O(words)."""
    rarest = np.empty(len(required_start) - 1, np.int32)
    for clause in range(len(rarest)):
        rarest[clause] = rarest_word(
            required, required_start[clause], required_start[clause + 1], rank, word_hash
        )
    return rarest


@njit(cache=True, nogil=True)
def mark_subscriptions(
    clause_start: Starts,
    required_start: Starts,
    required: Codes,
    rank: Codes,
    word_hash: Hashes,
    first: Codes,
    last: Codes,
    id_hash: Hashes,
    shards: int,
    masks: Masks,
) -> None:
    """Set a shard of the rarest word of each clause; all shards where it has none.  O(words)."""
    for row in range(len(masks)):
        for clause in range(clause_start[row], clause_start[row + 1]):
            word = rarest_word(
                required, required_start[clause], required_start[clause + 1], rank, word_hash
            )
            if word == NO_WORD:
                for every in range(shards):
                    set_bit(masks, row, every)
            else:
                chosen = id_hash[row] % np.uint64(last[word] - first[word])
                set_bit(masks, row, first[word] + np.int64(chosen))


@njit(cache=True, nogil=True)
def mark_messages(
    word_start: Starts, words: Codes, first: Codes, last: Codes, masks: Masks
) -> None:
    """Set the shards of all words of each message; shard 0 where it has none.  O(words)."""
    for row in range(len(masks)):
        if word_start[row] == word_start[row + 1]:
            set_bit(masks, row, 0)
        for k in range(word_start[row], word_start[row + 1]):
            for shard in range(first[words[k]], last[words[k]]):
                set_bit(masks, row, shard)


@njit(cache=True, nogil=True)
def messages_by_word(
    word_start: Starts, words: Codes, number: Codes, count: int
) -> tuple[Starts, NDArray[np.int32]]:
    """(start, message): word w is in message[start[w]:start[w+1]], each once.  O(words).

    `number` int32[v] maps codes to [0, count), or to a negative number for words to leave out.
    """
    last_seen = np.full(count, -1, np.int64)
    start = np.zeros(count + 1, np.int64)
    for row in range(len(word_start) - 1):
        for k in range(word_start[row], word_start[row + 1]):
            word = number[words[k]]
            if word >= 0 and last_seen[word] != row:
                last_seen[word] = row
                start[word + 1] += 1
    for word in range(count):
        start[word + 1] += start[word]
    message = np.empty(start[count], np.int32)
    at = start[:-1].copy()
    last_seen[:] = -1
    for row in range(len(word_start) - 1):
        for k in range(word_start[row], word_start[row + 1]):
            word = number[words[k]]
            if word >= 0 and last_seen[word] != row:
                last_seen[word] = row
                message[at[word]] = row
                at[word] += 1
    return start, message


@njit(cache=True, nogil=True)
def chance_of_hashed_words(
    word_start: Starts, words: Codes, rank: Codes, shards: int
) -> NDArray[np.float64]:
    """How likely a message visits a given shard because of words not in the table.  O(words).

    A repeated word counts as several, which the next power of 1 - 1/shards hardly notices.
    """
    chance = np.empty(len(word_start) - 1)
    for row in range(len(chance)):
        missed = 1.0
        for k in range(word_start[row], word_start[row + 1]):
            if rank[words[k]] < 0:
                missed *= 1.0 - 1.0 / shards
        chance[row] = 1.0 - missed
    return chance


@njit(cache=True, nogil=True)
def fill_ranges(
    limit: float,
    shards: int,
    clauses: Floats,
    start: Starts,
    message: NDArray[np.int32],
    weight: Floats,
    clauses_everywhere: float,
    messages_everywhere: float,
    costs: tuple[float, float, float],
    first: Codes,
    last: Codes,
) -> bool:
    """Give each word in turn to the current shard until that would cost more than `limit`.

    A word that is too much for what is left of a shard has several: its clauses are divided evenly,
    its messages come to each of them.

    ```
    clauses      float64[t]   how many clauses have this rarest word, by number in the table
    start, message            the messages of each word, from `messages_by_word`
    weight       float64[m]   how much of a message does not come to every shard anyhow
    costs                     of a subscription, of a message, of a pair of them
    first, last  int32[t]     the result
    ```

    False if the shards do not suffice.  O(words of messages).
    """
    counted = np.full(len(weight), -1, np.int32)  # the last shard that has counted the message
    current = 0
    subscriptions, messages = clauses_everywhere, messages_everywhere
    for word in range(len(clauses)):
        alone, more = messages_everywhere, 0.0
        for k in range(start[word], start[word + 1]):
            alone += weight[message[k]]
            if counted[message[k]] != current:
                more += weight[message[k]]
        room = most_subscriptions(limit, messages + more, costs) - subscriptions
        needed = shards_needed(clauses[word], room, shards)
        if needed > 1:
            # Is the next shard, with nothing in it yet, a better start?
            fresh_room = most_subscriptions(limit, alone, costs) - clauses_everywhere
            fresh_needed = shards_needed(clauses[word], fresh_room, shards)
            if 1 + fresh_needed <= needed:
                current += 1
                needed = fresh_needed
                subscriptions, messages, more = clauses_everywhere, alone, 0.0
        if current + needed > shards:
            return False
        first[word] = current
        last[word] = current + needed
        current += needed - 1
        # The next words go on in the last shard that this one has.
        if needed > 1:
            subscriptions, messages, more = clauses_everywhere, alone, 0.0
        subscriptions += clauses[word] / needed
        messages += more
        for k in range(start[word], start[word + 1]):
            counted[message[k]] = current
    return True


@njit(cache=True, nogil=True)
def most_subscriptions(limit: float, messages: float, costs: tuple[float, float, float]) -> float:
    """How many subscriptions, with so many messages, cost no more than `limit`?  O(1)."""
    of_subscription, of_message, of_pair = costs
    return (limit - of_message * messages) / (of_subscription + of_pair * messages)


@njit(cache=True, nogil=True)
def shards_needed(clauses: float, room: float, shards: int) -> int:
    """How many shards with room for `room` clauses do so many need?  shards + 1 is too many."""
    if room < 0.0 or clauses > room * shards:
        return shards + 1
    if clauses <= room:
        return 1
    return int(np.ceil(clauses / room))
