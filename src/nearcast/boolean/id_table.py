"""From the ids people use to the dense slots indexes use, and back, without an object per id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearcast.boolean._id_kernels import (
    FREE,
    drop_ids,
    enter_ids,
    find_id,
    find_ids,
    put_numbers,
)
from nearcast.boolean.found import Found, slots_in_order
from nearcast.growing_array import GrowingArray
from nearcast.text.string_table import StringTable, Words

_MAX_LOAD = 0.7
_ROOM_TO_GROW = 1.1  # of a table that is made anew; a power of two leaves more, mostly
_VACANT, _INTEGER, _TEXT = 0, 1, 2

ForAll = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""As `map`."""


class IdTable:
    """Ids, integers or strings, each with a slot number; freed slots are used again.

    >>> ids = IdTable()
    >>> ids.add(pa.array(["tea", "cake"]))
    array([0, 1], dtype=int32)
    >>> ids.remove(np.array([0]))
    >>> ids.find(pa.array(["tea", "cake"])), ids.add(pa.array([7]))
    (array([-1,  1], dtype=int32), array([0], dtype=int32))
    >>> ids.ids_of(np.array([1, 0])).to_pylist()
    ['cake', '7']
    """

    def __init__(self) -> None:
        self._number = GrowingArray(np.empty(0, np.int64))  # the integer, or number of the string
        self._kind = GrowingArray(np.empty(0, np.uint8))
        self._vacant = GrowingArray(np.empty(0, np.int32))
        self._table = np.full(16, FREE, np.int32)
        self._taken = 0  # cells of the table that are not FREE
        self._texts = StringTable()
        self._text_slot = GrowingArray(np.empty(0, np.int32))
        self._count = 0
        self._text_count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def slots(self) -> int:
        """How many slots there are, vacant ones included."""
        return len(self._number.used)

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return sum(array.nbytes for array in self.arrays().values())

    def live_slots(self) -> NDArray[np.int64]:
        """The slots in use, ascending."""
        return np.flatnonzero(self._kind.used)

    def find(self, ids: pa.Array) -> NDArray[np.int32]:
        """The slot of each id, -1 for ids not in the table.  O(1) expected each."""
        if pa.types.is_integer(ids.type):
            slots = np.empty(len(ids), np.int32)
            find_ids(self._table, self._number.used, _integers(ids), slots)
            return slots
        texts = self._texts.find(ids)
        slots = np.full(len(ids), -1, np.int32)
        known = texts >= 0
        slots[known] = self._text_slot.used[texts[known]]
        return slots

    def find_one(self, id_: int | str) -> int:
        """The slot of an id, -1 for one that is not in the table.  O(1) expected."""
        if isinstance(id_, int):
            return int(find_id(self._table, self._number.used, id_))
        text = int(self._texts.find([id_])[0])
        return int(self._text_slot.used[text]) if text >= 0 else -1

    def has(self, id_: int | str) -> bool:
        """Is this id in the table?  O(1) expected."""
        return self.find_one(id_) >= 0

    def slot_of(self, id_: int | str) -> int:
        """The slot of an id, KeyError if it is not in the table.  O(1) expected."""
        slot = self.find_one(id_)
        if slot < 0:
            raise KeyError(id_)
        return slot

    def add(self, ids: pa.Array) -> NDArray[np.int32]:
        """Give each id a slot; none may be in the table yet.  Amortised O(1) each."""
        slots = self._claim(len(ids))
        if pa.types.is_integer(ids.type):
            self._put_integers(slots, _integers(ids))
        else:
            self._put_texts(slots, ids)
        return slots

    def add_one(self, id_: int | str) -> int:
        """Give an id a slot; it may not be in the table yet.  Amortised O(1)."""
        slots = self._claim(1)
        if isinstance(id_, int):
            self._put_integers(slots, np.array([id_]))
        else:
            self._put_texts(slots, [id_])
        return int(slots[0])

    def remove(self, slots: NDArray[Any]) -> None:
        """Free slots that are in use.  O(1) each."""
        kind = self._kind.used[slots]
        drop_ids(self._table, self._number.used, slots[kind == _INTEGER])
        self._text_slot.used[self._number.used[slots[kind == _TEXT]]] = -1
        self._text_count -= int((kind == _TEXT).sum())
        self._kind.used[slots] = _VACANT
        self._vacant.extend(slots)
        self._count -= len(slots)

    def remove_one(self, slot: int) -> None:
        """Free a slot that is in use.  O(1)."""
        if self._kind.used[slot] == _INTEGER:
            drop_ids(self._table, self._number.used, np.array([slot]))
        else:
            self._text_slot.used[self._number.used[slot]] = -1
            self._text_count -= 1
        self._kind.used[slot] = _VACANT
        self._vacant.extend(np.array([slot]))
        self._count -= 1

    def id_of(self, slot: int) -> int | str:
        """The id in a slot."""
        number = int(self._number.used[slot])
        return number if self._kind.used[slot] == _INTEGER else self._texts.word(number)

    def ids_of(self, slots: NDArray[Any]) -> pa.Array:
        """The ids in these slots: int64 when all ids are integers, else strings.  O(slots)."""
        numbers = _numbers_at(self._number.used, slots)
        if self._text_count == 0:
            return pa.array(numbers)
        is_text = self._kind.used[slots] == _TEXT
        if is_text.all():
            return self._texts.to_arrow(numbers)
        texts = self._texts.to_arrow(np.where(is_text, numbers, 0))
        return pc.if_else(pa.array(is_text), texts, pa.array(numbers).cast(pa.large_string()))

    def ids_in_order(
        self, found: Sequence[Found], start: NDArray[np.int64], for_all: ForAll
    ) -> pa.Array:
        """The ids that messages reach, in the messages' order, beginning at `start`.  O(result).

        They are looked up in the order in which they were found, where neighbours are together.
        `for_all`: a `map`, which may use threads
        """
        if 0 < self._text_count < self._count:  # the slots are needed to tell the kinds apart
            return self.ids_of(slots_in_order(found, start))
        numbers = np.empty(int(start[-1]), np.int64)

        def put(part: Found) -> None:
            put_numbers(self._number.used, part.slots, part.end, start[part.rows], numbers)

        for _ in for_all(put, found):
            pass
        return self._texts.to_arrow(numbers) if self._text_count else pa.array(numbers)

    def list_of(self, slots: NDArray[Any]) -> list[int | str]:
        """The ids in these slots, each as it was given.  O(slots)."""
        if self._text_count in (0, self._count):
            return self.ids_of(slots).to_pylist()
        return [self.id_of(slot) for slot in slots.tolist()]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        own = {
            "number": self._number.used,
            "kind": self._kind.used,
            "vacant": self._vacant.used,
            "table": self._table,
            "text_slot": self._text_slot.used,
            "counts": np.array([self._taken, self._count, self._text_count]),
        }
        return own | {f"text_{name}": array for name, array in self._texts.arrays().items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> IdTable:
        """The table whose `arrays()` these are; they are taken over, not copied."""
        ids = cls()
        ids._number = GrowingArray(arrays["number"])
        ids._kind = GrowingArray(arrays["kind"])
        ids._vacant = GrowingArray(arrays["vacant"])
        ids._table = arrays["table"]
        ids._text_slot = GrowingArray(arrays["text_slot"])
        ids._taken, ids._count, ids._text_count = arrays["counts"].tolist()
        texts = {name: arrays[f"text_{name}"] for name in ("data", "start", "slots")}
        ids._texts = StringTable.from_arrays(texts)
        return ids

    def _claim(self, count: int) -> NDArray[np.int32]:
        """Slots for so many ids: vacant ones first, the lowest numbers of new ones after them."""
        again = self._vacant.shrink(min(count, len(self._vacant.used)))
        fresh = count - len(again)
        if fresh == 0:
            return again
        begin = self.slots
        self._number.extend(np.zeros(fresh, np.int64))
        self._kind.extend(np.zeros(fresh, np.uint8))
        return np.concatenate([again, np.arange(begin, begin + fresh, dtype=np.int32)])

    def _put_integers(self, slots: NDArray[np.int32], numbers: NDArray[np.int64]) -> None:
        self._number.used[slots] = numbers
        self._kind.used[slots] = _INTEGER
        self._count += len(slots)
        self._enter(slots)

    def _put_texts(self, slots: NDArray[np.int32], ids: Words) -> None:
        self._forget_unused_texts()
        texts = self._texts.add(ids)
        self._number.used[slots] = texts
        self._kind.used[slots] = _TEXT
        fresh = len(self._texts) - len(self._text_slot.used)
        if fresh:
            self._text_slot.extend(np.full(fresh, -1, np.int32))
        self._text_slot.used[texts] = slots
        self._text_count += len(slots)
        self._count += len(slots)

    def _enter(self, slots: NDArray[np.int32]) -> None:
        if self._taken + len(slots) > _MAX_LOAD * len(self._table):
            integers = np.flatnonzero(self._kind.used == _INTEGER).astype(np.int32)
            size = 16
            while size * _MAX_LOAD < len(integers) * _ROOM_TO_GROW:
                size *= 2
            self._table = np.full(size, FREE, np.int32)
            self._taken = enter_ids(self._table, self._number.used, integers)
        else:
            self._taken += enter_ids(self._table, self._number.used, slots)

    def _forget_unused_texts(self) -> None:
        """Ids that came and went must not pile up: start a new table when most are unused."""
        if len(self._texts) < 1024 or len(self._texts) < 2 * self._text_count:
            return
        slots = np.flatnonzero(self._kind.used == _TEXT)
        texts = self._texts.to_arrow(self._number.used[slots])
        self._texts = StringTable()
        self._number.used[slots] = self._texts.add(texts)
        self._text_slot = GrowingArray(slots.astype(np.int32))


def _numbers_at(numbers: NDArray[np.int64], slots: NDArray[Any]) -> NDArray[np.int64]:
    """numbers[slots], without the waiting for memory that NumPy would do one by one."""
    taken = np.empty(len(slots), np.int64)
    put_numbers(numbers, slots, np.array([len(slots)]), np.zeros(1, np.int64), taken)
    return taken


def _integers(ids: pa.Array) -> NDArray[np.int64]:
    return ids.cast(pa.int64()).to_numpy(zero_copy_only=False)
