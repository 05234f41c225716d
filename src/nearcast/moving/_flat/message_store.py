"""Live messages: ids, words, places, and who expires next."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.boolean._words import known_words
from nearcast.boolean.id_table import IdTable
from nearcast.growing_array import GrowingArray
from nearcast.moving._flat.messages import (
    RECTS,
    RECTS_AT,
    VACANT,
    WORDS,
    WORDS_AT,
    Messages,
    gathered,
    heap_of,
    place_heads,
    timeline,
)
from nearcast.moving._flat.pool import Pool
from nearcast.storage import part

FEW = 1024  # rows that are not worth packing

Gathered = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]
"""Words, where those of each message begin, rectangles, and where theirs do."""


class MessageStore:
    """Messages in slots, in the arrays of `_flat.messages`.

    Words and rectangles of messages that are gone stay where they are until there is no more room.
    """

    def __init__(self) -> None:
        self.ids = IdTable()
        self._seq = GrowingArray(np.empty(0, np.int64))
        self._head = GrowingArray(np.empty((0, 4), np.int32))
        self._expires = GrowingArray(np.empty(0))
        self._words = Pool(np.empty(0, np.int32))
        self._rects = Pool(np.empty((0, 4)))
        self._heap = np.empty((16, 3))
        self._heap_size = 0
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def messages(self) -> Messages:
        """The arrays that kernels read."""
        return Messages(
            self._seq.used, self._head.used, self._expires.used, self._words.used, self._rects.used
        )

    @property
    def next_expiry(self) -> float:
        """No message expires before; one that was replaced may count.  O(1)."""
        return float(self._heap[0, 0]) if self._heap_size else inf

    def live(self) -> NDArray[np.int64]:
        """The slots of all messages, ascending.  O(slots)."""
        return self.ids.live_slots()

    def gathered(self, slots: NDArray[Any]) -> Gathered:
        """The words and places of some messages."""
        parts: Gathered = gathered(self.messages, slots)
        return parts

    def put(
        self, batch: MessageBatch, numbers: NDArray[np.int32], ends: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Messages arrive: (slots, the arrivals of those whose ids and slots they take, or -1).

        `numbers` are those of the words in the batch's lexicon, `ends` when messages expire.
        """
        slots = self.ids.find(batch.ids).astype(np.int64)
        is_new = slots < 0
        if is_new.any():
            slots[is_new] = self.ids.add(batch.ids.filter(pa.array(is_new)))
        short = self.ids.slots - len(self._head.used)
        if short > 0:
            self._seq.extend(np.full(short, VACANT, np.int64))
            self._head.extend(np.zeros((short, 4), np.int32))
            self._expires.extend(np.zeros(short))
        seq, head = self._seq.used, self._head.used
        old_seq = np.where(is_new, np.int64(VACANT), seq[slots])
        self._forget_rows(slots[~is_new])
        words, word_start = known_words(
            numbers[batch.words], batch.word_start, np.int64(0), np.int64(len(batch))
        )
        self._make_room(len(words), len(batch.rects))
        seq[slots] = self._arrivals + np.arange(len(batch))
        head[slots, WORDS] = np.diff(word_start)
        head[slots, RECTS] = np.diff(batch.rect_start)
        place_heads(head, slots, len(self._words.used), len(self._rects.used))
        self._words.extend(words)
        self._rects.extend(batch.rects)
        self._expires.used[slots] = ends
        self._arrivals += len(batch)
        return slots, old_seq

    def pass_time(
        self,
        slots: NDArray[np.int64],
        times: NDArray[np.float64],
        old_seq: NDArray[np.int64],
        now: float,
        last_now: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], float]:
        """What happens while messages that were `put` arrive: (events, live, now).

        See `timeline`. Messages that have expired have no arrival any more, but their ids, words
        and places until they are forgotten.
        """
        needed = self._heap_size + len(slots)
        if needed > FEW + 2 * len(self):
            # Entries of messages that were replaced must not pile up.
            earlier = self.live()
            earlier = earlier[self._seq.used[earlier] < self._arrivals - len(slots)]
            kept = np.isin(earlier, slots, invert=True)
            pending = self._heap[: self._heap_size]
            waiting = pending[np.isin(pending[:, 1], old_seq)]
            fresh = heap_of(self.messages, earlier[kept])
            both = np.concatenate([fresh, waiting])
            both = both[np.argsort(both[:, 0], kind="stable")]  # a sorted array is a heap
            self._heap_size = len(both)
            self._heap = both
            needed = self._heap_size + len(slots)
        if needed > len(self._heap):
            larger = np.empty((needed + needed // 4, 3))
            larger[: self._heap_size] = self._heap[: self._heap_size]
            self._heap = larger
        events, live, self._heap_size, now = timeline(
            self.messages, self._heap, self._heap_size, slots, times, old_seq,
            self._arrivals - len(slots), now, last_now,
        )  # fmt: skip
        return events, live, float(now)

    def forget(self, slots: NDArray[np.int64]) -> None:
        """Messages are gone: their ids, words and places too.  O(1) each, amortised."""
        if len(slots) == 0:
            return
        self._forget_rows(slots)
        self._seq.used[slots] = VACANT
        self.ids.remove(slots.astype(np.int32))

    def _forget_rows(self, slots: NDArray[np.int64]) -> None:
        """The words and places of these messages are not needed any more."""
        head = self._head.used
        self._words.unused += int(head[slots, WORDS].sum())
        self._rects.unused += int(head[slots, RECTS].sum())
        head[slots] = 0

    def _make_room(self, words: int, rects: int) -> None:
        """Where there is no room for so many more, move together what is in use, or have more."""
        if not (self._words.is_wasteful(words) or self._rects.is_wasteful(rects)):
            return
        live = self.live()
        kept_words, _, kept_rects, _ = self.gathered(live)
        self._words.refill(kept_words)
        self._rects.refill(kept_rects)
        place_heads(self._head.used, live, 0, 0)

    def words_in_use(self, words: int) -> NDArray[np.bool_]:
        """Which of so many words does a message have?  O(words of all)."""
        in_use = np.zeros(words, bool)
        in_use[self.gathered(self.live())[0]] = True
        return in_use

    def renumber(self, new_number: NDArray[np.int32]) -> None:
        """Words have other numbers, in the same order; those in use are not negative."""
        self._words.used[:] = new_number[self._words.used]

    def check(self, now: float) -> None:
        """Assert that rows, ids and the heap agree."""
        live = self.live()
        seq, head, expires = self._seq.used, self._head.used, self._expires.used
        assert (seq[live] >= 0).all()
        assert (expires[live] > now).all()
        assert (np.delete(seq, live) == VACANT).all()
        assert len(np.unique(seq[live])) == len(live)
        assert int(head[:, WORDS].sum()) + self._words.unused == len(self._words.used)
        assert int(head[:, RECTS].sum()) + self._rects.unused == len(self._rects.used)
        assert (head[live, WORDS_AT] + head[live, WORDS] <= len(self._words.used)).all()
        assert (head[live, RECTS_AT] + head[live, RECTS] <= len(self._rects.used)).all()
        heap = self._heap[: self._heap_size]
        parents = (np.arange(1, len(heap)) - 1) // 2
        assert (heap[parents, 0] <= heap[1:, 0]).all()
        current = heap[seq[heap[:, 2].astype(np.int64)] == heap[:, 1]]
        ending = live[expires[live] < np.inf]
        assert sorted(current[:, 2].tolist()) == ending.tolist()
        assert (expires[current[:, 2].astype(np.int64)] == current[:, 0]).all()

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        rows = sum(each.used.nbytes for each in (self._seq, self._head, self._expires))
        pools = self._words.nbytes + self._rects.nbytes
        return rows + pools + self._heap.nbytes + self.ids.nbytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        return {
            "seq": self._seq.used,
            "head": self._head.used,
            "expires": self._expires.used,
            "words": self._words.used,
            "rects": self._rects.used,
            "heap": self._heap[: self._heap_size],
            "counts": np.array([self._arrivals, self._words.unused, self._rects.unused]),
            **{f"ids/{name}": array for name, array in self.ids.arrays().items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> MessageStore:
        """The store whose `arrays()` these are; they are taken over, not copied."""
        store = cls()
        store.ids = IdTable.from_arrays(part(arrays, "ids/"))
        store._seq = GrowingArray(arrays["seq"])
        store._head = GrowingArray(arrays["head"])
        store._expires = GrowingArray(arrays["expires"])
        store._words = Pool(arrays["words"])
        store._rects = Pool(arrays["rects"])
        store._heap = arrays["heap"]
        store._heap_size = len(store._heap)
        store._arrivals, store._words.unused, store._rects.unused = arrays["counts"].tolist()
        return store


def joined(parts: list[Gathered]) -> Gathered:
    """The messages of all parts, one part after the other."""
    words, word_starts, rects, rect_starts = zip(*parts, strict=True)
    return (
        np.concatenate(words),
        _joined_starts(word_starts, np.int64),
        np.concatenate(rects),
        _joined_starts(rect_starts, np.int32),
    )


def _joined_starts(starts: tuple[NDArray[Any], ...], dtype: Any) -> NDArray[Any]:
    sizes = np.concatenate([np.diff(start) for start in starts])
    joined_start = np.zeros(len(sizes) + 1, dtype)
    np.cumsum(sizes, out=joined_start[1:])
    return joined_start
