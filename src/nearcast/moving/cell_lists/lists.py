"""Live messages by word and cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._quad._grid import grid_over
from nearcast.moving._flat.messages import Messages
from nearcast.moving._flat.sides import Found, Movers, Sides
from nearcast.moving.ap_plus_tree._lists import CHUNKS, HELD, is_live, no_lists
from nearcast.moving.cell_lists._kernels import (
    LISTS,
    ROWS,
    cell_differences,
    insert_messages,
    no_keys,
)
from nearcast.moving.word_quadtrees._update import middles_of

FEW = 64  # messages, for which it does not matter where cells are


class CellLists:
    """Lists of messages by word and cell, of one grid or of several.

    Messages that are gone stay in their lists until as many are gone as are live. Then, and when
    there are twice as many as at the last time, all lists are made again, over the part of the
    world where messages are.

    Parameters
    ----------
    sides: columns and rows of each grid, the coarsest first
    word_first: is the word chosen first, by how many messages have it, or in each cell?
    """

    def __init__(self, sides: tuple[int, ...], word_first: bool) -> None:
        self._sides = np.array(sides, np.int64)
        self._word_first = word_first
        self._frame = grid_over(np.empty((0, 4), np.float32), None).frame
        self._keys = no_keys(0)
        self._lists = no_lists(0)
        self._gone = 0
        self._framed = 0
        self._is_void = False

    def is_worn(self, live: int) -> bool:
        """Is it time for `make_anew`?"""
        return self._is_void or self._gone > FEW + live or live > FEW + 2 * self._framed

    def make_anew(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Choose the frame anew, and put all live messages in their lists again."""
        self._frame = grid_over(middles_of(messages, live), None).frame
        self._keys, self._lists = no_keys(len(self._keys.counts) - 1), no_lists(0)
        self._framed, self._gone, self._is_void = len(live), 0, False
        self.insert(messages, live)

    def insert(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Add messages.  O(words x cells) each."""
        self._keys, self._lists = insert_messages(
            self._keys, self._lists, self._frame, self._sides, messages, slots
        )

    def remove(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Messages are gone: their postings are passed over from now on."""
        self._gone += len(slots)

    def differences(self, messages: Messages, movers: Movers, old: Sides, new: Sides) -> Found:
        """What subscriptions lose and gain when they move from the old sides to the new ones."""
        rows, signs, slots, candidates = cell_differences(
            self._keys, self._lists, self._frame, self._sides, self._word_first, messages,
            movers.clauses, movers.chains, movers.number_of, movers.slots,
            old.regions, old.rows, old.all_covers(), new.regions, new.rows, new.all_covers(),
            movers.is_earth,
        )  # fmt: skip
        return Found(rows, signs, slots, int(candidates))

    def have_words(self, words: int) -> None:
        """Have a place for so many words."""
        counts = self._keys.counts
        if words + 1 > len(counts):
            longer = np.zeros(words + 1 + words // 4, np.int64)
            longer[: len(counts)] = counts
            self._keys = self._keys._replace(counts=longer)

    def keep_words(self, kept: NDArray[np.int64]) -> None:
        """Words have other numbers: all lists have to be made again."""
        self._keys, self._lists = no_keys(len(kept)), no_lists(0)
        self._is_void = True

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, spare room included."""
        return sum(array.nbytes for array in (*self._keys, *self._lists))

    def check(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Assert that lists are counted right, and hold all live messages."""
        keys, lists = self._keys, self._lists
        rows = keys.table[keys.table[:, 1] > 0]
        assert len(rows) == keys.used[ROWS] == keys.used[LISTS]
        assert int(rows[:, 2].sum()) == lists.used[HELD]
        held = set()
        for number, length in rows[:, 1:].tolist():
            at, total = int(lists.first[number + 1]), 0
            while at:
                count = int(lists.chunks[at, 1])
                total += count
                postings = lists.chunks[at, 2 : 2 + count].tolist()
                held |= {posting >> 32 for posting in postings if is_live(messages, posting)}
                at = int(lists.chunks[at, 0])
            assert total == length
        assert held == set(live.tolist())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        return {
            "frame": self._frame,
            "table": self._keys.table,
            "word_counts": self._keys.counts,
            "key_counts": self._keys.used,
            "first": self._lists.first,
            "chunks": self._lists.chunks[: self._lists.used[CHUNKS]],
            "list_counts": self._lists.used,
            "counts": np.array([self._framed, self._gone]),
        }

    def take_over(self, arrays: Any) -> CellLists:
        """Have the state whose `arrays()` these are."""
        self._frame = arrays["frame"]
        self._keys = type(self._keys)(arrays["table"], arrays["word_counts"], arrays["key_counts"])
        self._lists = type(self._lists)(arrays["first"], arrays["chunks"], arrays["list_counts"])
        self._framed, self._gone = arrays["counts"].tolist()
        return self
