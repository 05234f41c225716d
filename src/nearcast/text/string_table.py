"""Distinct strings and their numbers, without a Python object per string."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.text._string_kernels import EMPTY, add_strings, fill_slots, find_strings

_Scalar = TypeVar("_Scalar", bound=np.generic)
Words: TypeAlias = "list[str] | pa.StringArray | pa.LargeStringArray | pa.ChunkedArray"

_FEW = 32  # words of a list
_MAX_LOAD = 0.6  # of the slots; linear probing gets slow beyond


class StringTable:
    """Distinct strings, numbered 0, 1, 2, … in the order in which they first arrive.

    Strings are only ever added, so a number stays good for ever. All state is in three flat
    arrays (drawn in `_string_kernels.py`); `find` may run in many threads at once, `add` in one.

    >>> table = StringTable()
    >>> table.add(["coffee", "tea", "coffee"])
    array([0, 1, 0], dtype=int32)
    >>> table.find(["tea", "milk"])
    array([ 1, -1], dtype=int32)
    >>> table.word(1), len(table)
    ('tea', 2)
    """

    def __init__(self) -> None:
        self._count = 0
        self._data = np.empty(64, np.uint8)
        self._start = np.zeros(1, np.int64)
        self._slots = np.full(16, EMPTY, np.int32)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes in use, spare room for growth not counted."""
        return sum(array.nbytes for array in self.arrays().values())

    def add(self, words: Words) -> NDArray[np.int32]:
        """The number of each string; the new ones are entered first.  Amortised O(bytes)."""
        queried, offsets = _arrow_bytes(words)
        numbers = np.empty(len(offsets) - 1, np.int32)
        # Most are known, and looking many up together is several times as fast.
        find_strings(queried, offsets, self._data, self._start, self._slots, numbers)
        position = 0
        while True:
            capacity = min(len(self._start) - 1, int(_MAX_LOAD * len(self._slots)))
            position, self._count = add_strings(
                queried, offsets, position,
                self._data, self._start, self._slots, self._count, capacity, numbers,
            )  # fmt: skip
            if position == len(numbers):
                return numbers
            if self._count == capacity:
                self._grow_capacity()
            else:
                self._grow_data(int(offsets[position + 1] - offsets[position]))

    def find(self, words: Words) -> NDArray[np.int32]:
        """The number of each string, -1 for those never added.  O(bytes)."""
        queried, offsets = _arrow_bytes(words)
        numbers = np.empty(len(offsets) - 1, np.int32)
        find_strings(queried, offsets, self._data, self._start, self._slots, numbers)
        return numbers

    def word(self, number: int) -> str:
        """The string with this number."""
        if not 0 <= number < self._count:
            raise IndexError(f"string {number} is not in a table of {self._count} strings")
        return bytes(self._data[self._start[number] : self._start[number + 1]]).decode()

    def to_arrow(self, numbers: NDArray[np.integer] | None = None) -> pa.LargeStringArray:
        """The strings with these numbers, or all of them by number (then nothing is copied).

        >>> table = StringTable()
        >>> _ = table.add(["coffee", "tea"])
        >>> table.to_arrow(np.array([1, 0, 1])).to_pylist()
        ['tea', 'coffee', 'tea']
        """
        # Sharing the arrays is safe: entries are never overwritten, and growing makes new arrays.
        arrays = self.arrays()
        start, data = pa.py_buffer(arrays["start"]), pa.py_buffer(arrays["data"])
        everything = pa.LargeStringArray.from_buffers(self._count, start, data)
        return everything if numbers is None else everything.take(pa.array(numbers))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The whole state, as read-only views, for saving."""
        start = self._start[: self._count + 1]
        views: dict[str, NDArray[np.generic]] = {
            "data": self._data[: start[-1]],
            "start": start,
            "slots": self._slots[:],
        }
        for view in views.values():
            view.flags.writeable = False  # another table made from them must not write into ours
        return views

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "StringTable":
        """The table whose `arrays()` these are, taken over without a copy where they are writable.

        Copy-on-write memory maps are: what is added later stays in this process.

        >>> table = StringTable()
        >>> _ = table.add(["coffee"])
        >>> StringTable.from_arrays(table.arrays()).find(["coffee"])
        array([0], dtype=int32)
        """
        table = cls()
        table._data = _writable(arrays["data"], np.uint8)
        table._start = _writable(arrays["start"], np.int64)
        table._slots = _writable(arrays["slots"], np.int32)
        table._count = len(table._start) - 1
        return table

    def _grow_capacity(self) -> None:
        if self._count + 1 == len(self._start):
            start = np.empty(2 * len(self._start) + 16, np.int64)
            start[: len(self._start)] = self._start
            self._start = start
        if self._count + 1 > _MAX_LOAD * len(self._slots):
            slots = np.full(2 * len(self._slots), EMPTY, np.int32)
            fill_slots(self._data, self._start, self._count, slots)
            self._slots = slots

    def _grow_data(self, needed: int) -> None:
        data = np.empty(2 * len(self._data) + needed, np.uint8)
        data[: len(self._data)] = self._data
        self._data = data


def _writable(array: NDArray[np.generic], dtype: type[_Scalar]) -> NDArray[_Scalar]:
    """The same memory as a plain array (a memory map is a subclass), a copy if it is read-only."""
    return np.asarray(np.require(array, dtype, ["C", "W"]))


def _arrow_bytes(words: Words) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 bytes of the strings and where each begins, without copying the bytes."""
    if isinstance(words, list):
        if len(words) <= _FEW and None not in words:
            return _bytes_of_few(words)
        words = pa.array(words, pa.large_string())
    if words.null_count:
        raise ValueError(f"{words.null_count} of {len(words)} strings are null; drop them first")
    if words.type != pa.large_string():
        words = words.cast(pa.large_string())
    if isinstance(words, pa.ChunkedArray):
        words = words.combine_chunks()
    if len(words) == 0:
        return _read_only(b"", np.uint8), _read_only(bytes(8), np.int64)
    _, offsets, data = words.buffers()
    starts = _read_only(offsets, np.int64)[words.offset : words.offset + len(words) + 1]
    return _read_only(data or b"", np.uint8), starts


def _bytes_of_few(words: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The same, sooner than an Arrow array is made of them."""
    texts = [word.encode() for word in words]
    starts = np.array([0, *accumulate(map(len, texts))], np.int64)
    starts.flags.writeable = False
    return _read_only(b"".join(texts), np.uint8), starts


def _read_only(buffer: Any, dtype: type[_Scalar]) -> NDArray[_Scalar]:
    """A view that is read-only even where the buffer is not, so that one compiled kernel serves."""
    array = np.frombuffer(buffer, dtype)
    array.flags.writeable = False
    return array
