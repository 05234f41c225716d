"""Which subscriptions of a shard are live, and within the current batch from when to when?

A batch of the stream mixes changes and messages in any order. Instead of applying them in turn,
every version of a subscription keeps the positions between which it lives, and a match counts when
the position of the message lies between them. So a batch is matched at once, and a batch that is
matched again gives the same answer.

A version is a *slot* of the snapshot (it lived before) or an *entry* (it began since):

    gone_at  int64[slots]    position at which the snapshot's subscription ended
    born     int64[entries]  position at which a newer one began
    died     int64[entries]  position at which it ended

BEFORE stands for any position of an earlier batch, ALIVE for the future.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.id_table import IdTable
from nearcast.growing_array import GrowingArray
from nearcast.pipeline.changes import Changes, Withdrawals

BEFORE = -1
ALIVE = np.iinfo(np.int64).max


class Versions:
    """The life of every version of every subscription since a snapshot.

    `snapshot_ids` gives the slot of each subscription of the snapshot; it is not changed.
    """

    def __init__(self, snapshot_ids: IdTable) -> None:
        self._snapshot_ids = snapshot_ids
        self.gone_at = np.full(snapshot_ids.slots, ALIVE, np.int64)
        self._born = GrowingArray(np.empty(0, np.int64))
        self._died = GrowingArray(np.empty(0, np.int64))
        self._labels: list[pa.Array] = []
        self._ids = IdTable()  # live entries
        self._entry_of = GrowingArray(np.empty(0, np.int64))  # by slot of _ids
        self._touched_slots = np.empty(0, np.int64)
        self._touched_entries = np.empty(0, np.int64)
        self.gone = 0

    @property
    def born(self) -> NDArray[np.int64]:
        """Where each entry begins."""
        return self._born.used

    @property
    def died(self) -> NDArray[np.int64]:
        """Where each entry ends."""
        return self._died.used

    @property
    def entries(self) -> int:
        """How many versions began since the snapshot, dead ones included."""
        return len(self._born.used)

    def labels(self) -> pa.Array:
        """The ids of all entries, by entry; at least one entry is needed."""
        if len(self._labels) > 1:
            self._labels = [pa.concat_arrays(self._labels)]
        return self._labels[0]

    def begin_batch(self) -> None:
        """What changed in the batch before now lies in the past.  O(changes of that batch)."""
        self.gone_at[self._touched_slots] = BEFORE
        entries = self._touched_entries
        self._born.used[entries] = BEFORE
        self._died.used[entries[self._died.used[entries] < ALIVE]] = BEFORE
        self._touched_slots = self._touched_entries = np.empty(0, np.int64)

    def apply(self, changes: Changes) -> Withdrawals:
        """Take the changes of a batch over; row i of `changes.new` becomes the i-th new entry.

        Returns the withdrawals that somebody asked for and that found nothing to withdraw.
        O(n log n).
        """
        new, old = changes.new, changes.old
        labels = pa.concat_arrays([new.labels, old.labels]).dictionary_encode()
        code = np.array(labels.indices, np.int64)
        distinct = labels.dictionary
        position = np.concatenate([new.position, old.position])
        is_new = np.arange(len(code)) < len(new)
        order = np.lexsort((position, code))
        code, position, is_new = code[order], position[order], is_new[order]
        tied = (code[1:] == code[:-1]) & (position[1:] == position[:-1])
        if tied.any():
            row = int(np.flatnonzero(tied)[0])
            raise ValueError(
                f"two changes of id {distinct[code[row]].as_py()!r} have the offset "
                f"{position[row]}; nobody knows which is later: offsets must differ"
            )
        first = np.ones(len(code), bool)
        first[1:] = code[1:] != code[:-1]
        last = np.roll(first, -1)

        entry_before = self._live_entries(distinct)
        slot_before = self._live_slots(distinct)
        was_live = (entry_before >= 0) | (slot_before >= 0)
        live_here = np.where(first, was_live[code], np.roll(is_new, 1))

        # What was live before ends where the first change of its id is.
        self._end(entry_before[code[first]], slot_before[code[first]], position[first])
        # A new version ends where the next change of its id is.
        begin = self.entries
        entry = np.full(len(code), -1, np.int64)
        entry[is_new] = begin + order[is_new]
        end = np.where(last, ALIVE, np.roll(position, -1))
        died = np.empty(len(new), np.int64)
        died[order[is_new]] = end[is_new]
        self._born.extend(new.position)
        self._died.extend(died)
        self._labels.append(new.labels)
        self._touched_entries = np.concatenate(
            [self._touched_entries, np.arange(begin, begin + len(new))]
        )
        self._enter(distinct, code[last], entry[last])

        is_unknown = np.zeros(len(code), bool)
        is_unknown[order] = ~live_here
        return old.take(np.flatnonzero(is_unknown[len(new) :] & old.asked))

    def live_entries(self) -> NDArray[np.int64]:
        """The entries that live on after the batch, ascending."""
        return np.flatnonzero(self.died == ALIVE)

    def gone_slots(self) -> NDArray[np.int64]:
        """The slots of the snapshot that do not live on, ascending."""
        slots: NDArray[np.int64] = np.flatnonzero(self.gone_at != ALIVE)
        return slots

    def _live_entries(self, labels: pa.Array) -> NDArray[np.int64]:
        entry = np.full(len(labels), -1, np.int64)
        slot = self._ids.find(labels)
        entry[slot >= 0] = self._entry_of.used[slot[slot >= 0]]
        return entry

    def _live_slots(self, labels: pa.Array) -> NDArray[np.int64]:
        slot = self._snapshot_ids.find(labels).astype(np.int64)
        known = np.flatnonzero(slot >= 0)
        slot[known[self.gone_at[slot[known]] != ALIVE]] = -1
        return slot

    def _end(
        self, entry: NDArray[np.int64], slot: NDArray[np.int64], position: NDArray[np.int64]
    ) -> None:
        is_entry, is_slot = entry >= 0, slot >= 0
        self._died.used[entry[is_entry]] = position[is_entry]
        self.gone_at[slot[is_slot]] = position[is_slot]
        self.gone += int(is_slot.sum())
        self._touched_slots = np.concatenate([self._touched_slots, slot[is_slot]])
        self._touched_entries = np.concatenate([self._touched_entries, entry[is_entry]])

    def _enter(self, labels: pa.Array, code: NDArray[np.int64], entry: NDArray[np.int64]) -> None:
        """Remember the entry that each changed id has now, or that it has none."""
        slot = self._ids.find(labels.take(pa.array(code)))
        self._ids.remove(slot[(slot >= 0) & (entry < 0)])
        known = (slot >= 0) & (entry >= 0)
        self._entry_of.used[slot[known]] = entry[known]
        fresh = (slot < 0) & (entry >= 0)
        added = self._ids.add(labels.take(pa.array(code[fresh])))
        self._entry_of.extend(np.empty(self._ids.slots - len(self._entry_of.used), np.int64))
        self._entry_of.used[added] = entry[fresh]
