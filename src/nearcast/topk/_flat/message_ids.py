"""Which id has the message of an arrival, and which arrival the message of an id?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.id_table import IdTable
from nearcast.growing_array import GrowingArray
from nearcast.model import Id
from nearcast.storage import part
from nearcast.topk._flat.window import NEXT, OLDEST, Messages

_NONE = -1
_FEW = 4  # arrivals that are sooner forgotten one by one


class MessageIds:
    """The ids of the messages of a window.

    `_seq` has the arrival for each slot of the id table, -1 for a vacant one; `_slot`, a ring as
    those of `Messages`, has the slot for each arrival.
    """

    def __init__(self) -> None:
        self._ids = IdTable()
        self._seq = GrowingArray(np.empty(0, np.int32))
        self._slot: NDArray[np.int32] = np.empty(16, np.int32)

    def __len__(self) -> int:
        return len(self._ids)

    def has_any(self, ids: pa.Array) -> bool:
        """Is one of these in the window?"""
        return bool((self._ids.find(ids) >= 0).any())

    def id_of(self, seq: int) -> Id:
        """The id of a message that is in the window."""
        return self._ids.id_of(int(self._slot[seq & (len(self._slot) - 1)]))

    def ids_of(self, seqs: NDArray[np.int32]) -> pa.Array:
        """The ids of messages that are in the window.  O(seqs)."""
        return self._ids.ids_of(self._slot[seqs & (len(self._slot) - 1)])

    def add(self, ids: pa.Array, messages: Messages) -> None:
        """The newest messages of the window have these ids, which are new."""
        slots = self._ids.add(ids)
        end = int(messages.ends[NEXT])
        seqs = np.arange(end - len(slots), end)
        self._fit(messages, len(slots))
        self._slot[seqs & (len(self._slot) - 1)] = slots
        self._seq.used[slots] = seqs

    def add_one(self, id: Id, messages: Messages) -> None:
        """The newest message of the window has this id, which is new."""
        slot, seq = self._ids.add_one(id), int(messages.ends[NEXT]) - 1
        self._fit(messages, 1)
        self._slot[seq & (len(self._slot) - 1)] = slot
        self._seq.used[slot] = seq

    def _fit(self, messages: Messages, fresh: int) -> None:
        """Have room for all slots and for the window, whose newest messages have no ids yet."""
        size = len(messages.live)
        if size != len(self._slot):
            first = int(messages.ends[NEXT]) - fresh
            kept = np.arange(int(messages.ends[OLDEST]), first)[-len(self._slot) :]
            larger = np.empty(size, np.int32)
            larger[kept & (size - 1)] = self._slot[kept & (len(self._slot) - 1)]
            self._slot = larger
        short = self._ids.slots - len(self._seq.used)
        if short > 0:
            self._seq.extend(np.full(short, _NONE, np.int32))

    def take_out(self, id: Id) -> int | None:
        """Forget one id: the arrival of its message, None where it is not in the window."""
        slot = self._ids.find_one(id)
        if slot < 0:
            return None
        seq = int(self._seq.used[slot])
        self._drop_one(slot)
        return seq

    def forget(self, first: int, last: int) -> dict[int, Id]:
        """Forget the ids of the arrivals first:last, but of replaced ones: which they were."""
        if last - first <= _FEW:
            return self._forget_few(first, last)
        seqs = np.arange(first, last)
        slots = self._slot[seqs & (len(self._slot) - 1)]
        mine = self._seq.used[slots] == seqs  # not those that were replaced
        ids = self._ids.list_of(slots[mine])
        self._seq.used[slots[mine]] = _NONE
        self._ids.remove(slots[mine])
        return dict(zip(seqs[mine].tolist(), ids, strict=True))

    def _forget_few(self, first: int, last: int) -> dict[int, Id]:
        ids = {}
        for seq in range(first, last):
            slot = int(self._slot[seq & (len(self._slot) - 1)])
            if self._seq.used[slot] == seq:
                ids[seq] = self._ids.id_of(slot)
                self._drop_one(slot)
        return ids

    def _drop_one(self, slot: int) -> None:
        self._seq.used[slot] = _NONE
        self._ids.remove_one(slot)

    def count_from(self, shift: int) -> None:
        """Arrivals are numbered from `shift` on, a multiple of the size of rings."""
        self._seq.used[self._seq.used >= 0] -= shift

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        ids = {f"ids/{name}": array for name, array in self._ids.arrays().items()}
        return {"seq": self._seq.used, "slot": self._slot, **ids}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> MessageIds:
        """The ids whose `arrays()` these are; they are taken over, not copied."""
        ids = cls()
        ids._ids = IdTable.from_arrays(part(arrays, "ids/"))
        ids._seq = GrowingArray(arrays["seq"])
        ids._slot = arrays["slot"]
        return ids
