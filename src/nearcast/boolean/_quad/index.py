"""What IQ-Tree and RQ-Tree have in common: all but how they keep lists and cells."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean._quad._cells import STEP_SHARE, Grid, Pricing, cover_all
from nearcast.boolean._quad._check import check_pairs
from nearcast.boolean._quad._grid import grid_over
from nearcast.boolean._quad._lists import rarest_lists, settle_all, write_runs
from nearcast.boolean._records import ENTRY, NO_WORD, WEST, WORD_A, WORD_B, records_of
from nearcast.boolean._run_pool import GARBAGE, RECORDS, RunPool, empty_pool
from nearcast.boolean.history import MessageHistory
from nearcast.boolean.record_index import RecordIndex
from nearcast.boolean.subscription_store import Entries
from nearcast.growing_array import GrowingArray
from nearcast.model import Space
from nearcast.text.order import TermOrder, Tf

# So many changes at once, as a share of the entries there, are cheaper to build in.
BULK_SHARE = 0.25
# After changes of this share everything is built again: what is in use was seen by the cost model,
# and what is not is gone.
CHANGED_SHARE = 0.5
FEW_CHANGES = 8


class QuadIndex(RecordIndex):
    """Each entry is in the list of its rarest word, in one or several cells of a quadtree.

    Which cells is decided by the cost model of Chen, Cong and Cao: to attach an entry to a cell
    costs `update_cost`, and one verification for each message that is in the cell and has the
    word; the cheapest set of disjoint cells that contain the region is taken, large and small.
    """

    def __init__(
        self,
        space: Space,
        history: MessageBatch | None,
        update_cost: float,
        most_cells: int,
        list_capacity: int,
    ) -> None:
        if not 0 < update_cost < float("inf"):
            raise ValueError(
                f"update_cost {update_cost} is not a positive number; "
                "give verifications per message, for example 0.0001"
            )
        for name, value in (("most_cells", most_cells), ("list_capacity", list_capacity)):
            if not isinstance(value, int):
                raise TypeError(f"{name} {value!r} is not a whole number; give an int")
            if value < 1:
                raise ValueError(f"{name} {value} is too small; it must be at least 1")
        super().__init__(space)
        self._history = MessageHistory.of(history, space) if history is not None else None
        self._pricing = Pricing(float(update_cost), most_cells)
        self._list_capacity = list_capacity
        self._grid = grid_over(np.empty((0, 4), np.float32), None)
        self._chance = GrowingArray(np.ones(1, np.float32))  # by list: that a message has its word
        self._divided = GrowingArray(np.zeros(1, bool))  # by list: may it use cells but the root?
        self._pool = empty_pool()
        self._entries = 0
        self._changes = 0  # since everything was built
        self._is_due = False

    # ------------------------------------------------------------------ what a subclass does

    @abstractmethod
    def _sort_keys(self, lists: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """One number for each pair of a list and a cell, in the order their runs shall lie."""

    @abstractmethod
    def _hang(
        self,
        lists: NDArray[np.int64],
        codes: NDArray[np.int64],
        references: NDArray[np.int64],
        words: int,
    ) -> None:
        """Forget everything and have just these runs, which come in the order of the keys."""

    @abstractmethod
    def _divides(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which lists of these sizes may use other cells than the root, when all are built?"""

    @abstractmethod
    def _put(
        self,
        records: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        """Add records to lists in cells; returns lists at the root that have become long."""

    @abstractmethod
    def _drop(
        self,
        entries: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> None:
        """Take entries out of lists in cells."""

    @abstractmethod
    def _take(self, number: int) -> NDArray[np.int32]:
        """Empty a list that is at the root alone; returns its records."""

    @abstractmethod
    def _pack(self) -> None:
        """Leave the garbage of the pool behind."""

    @abstractmethod
    def _held(self) -> dict[tuple[int, int], NDArray[np.int32]]:
        """The records of each (list, cell), in plain Python, for `check`."""

    # ------------------------------------------------------------------ building

    def rebuild(self) -> None:
        """Find the rarest words and the likely places again, and build everything.  O(n log n).

        Done by itself when a batch is large, and after half as many changes as there were entries.
        """
        self._catch_up()
        entries = self._store.all_entries()
        self._chance = GrowingArray(self._ordered_chances())
        points = self._history.points if self._history else None
        self._grid = grid_over(entries.bounds, points)
        records = _by_words(self._settled(entries))
        lists = rarest_lists(self._store.clauses, np.ascontiguousarray(records[:, ENTRY]))
        sizes = np.bincount(lists, minlength=len(self._chance.used))
        is_worth_it = self._chance.used > self._least_chance
        self._divided = GrowingArray(self._divides(sizes) & is_worth_it)
        owner, codes = self._cover(_bounds(records), lists)
        of_list = lists[owner].astype(np.int64)
        keys = self._sort_keys(of_list, codes)
        order = np.argsort(keys, kind="stable")
        is_new = np.diff(keys[order], prepend=-1) != 0
        begins = np.append(np.flatnonzero(is_new), len(keys))
        self._pool, references = write_runs(records, owner[order], begins)
        groups = order[is_new]
        self._hang(of_list[groups], codes[groups], references, self._store.words)
        self._entries, self._changes, self._is_due = len(entries), 0, False

    def _ordered_chances(self) -> NDArray[np.float32]:
        """Order the words so that the rarest are last; how likely a message has each list's."""
        self._store.order_words(Tf())
        if self._history is None:
            chance = self._store.shares_by_rank()
        else:
            chance = self._history.chances_of(self._store.words_by_rank())
            self._store.order_words(_LikelyFirst(chance))
            chance = -np.sort(-chance, kind="stable")
        return np.concatenate([np.ones(1), chance]).astype(np.float32)

    @property
    def _least_chance(self) -> float:
        """With less, no cells could spare the verifications that they cost."""
        return STEP_SHARE * self._pricing.update_cost

    def _settled(self, entries: Entries) -> NDArray[np.int32]:
        records = records_of(entries)
        settle_all(self._store.clauses, records)
        return records

    def _cover(
        self, bounds: NDArray[np.float32], lists: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        pairs: tuple[NDArray[np.int32], NDArray[np.int64]] = cover_all(
            self._grid, self._pricing, bounds, lists, self._chance.used, self._divided.used
        )
        return pairs

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        self._note_changes(len(entries))
        self._entries += len(entries)
        if self._is_due:
            return
        fresh = self._store.words + 1 - len(self._chance.used)
        self._chance.extend(np.zeros(fresh, np.float32))
        self._divided.extend(np.zeros(fresh, bool))
        lists = rarest_lists(self._store.clauses, entries.entry)
        owner, codes = self._cover(entries.bounds, lists)
        long = self._put(self._settled(entries), lists, owner, codes)
        for number in np.unique(long).tolist():
            self._divide(number)
        self._pack_when_due()

    def _withdraw(self, entries: Entries) -> None:
        self._note_changes(len(entries))
        self._entries -= len(entries)
        if self._is_due:
            return
        lists = rarest_lists(self._store.clauses, entries.entry)
        owner, codes = self._cover(entries.bounds, lists)
        self._drop(entries.entry, lists, owner, codes)
        self._pack_when_due()

    def _tidy(self) -> None:
        if self._is_due or self._store.has_many_unused_words():
            self.rebuild()

    @property
    def _records(self) -> NDArray[np.int32]:
        return self._pool.records

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        self._catch_up()
        entries = self._store.all_entries()
        lists = rarest_lists(self._store.clauses, entries.entry)
        owner, codes = self._cover(entries.bounds, lists)
        assert self._entries == len(entries)
        assert len(self._chance.used) == len(self._divided.used) >= 1
        assert self._pool.used[GARBAGE] <= self._pool.used[RECORDS] <= len(self._pool.records)
        check_pairs(
            self._grid.frame, self._settled(entries), entries.bounds, lists, owner, codes,
            self._held(),
        )  # fmt: skip

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {
            "frame": self._grid.frame,
            "mass": self._grid.mass,
            "chance": self._chance.used,
            "divided": self._divided.used,
            "records": self._pool.records[: self._pool.used[RECORDS]],
            "pool_used": self._pool.used,
        }
        if self._history:
            arrays |= {f"history/{name}": a for name, a in self._history.arrays().items()}
        settings = {
            "pricing": list(self._pricing),
            "list_capacity": self._list_capacity,
            "entries": self._entries,
            "changes": self._changes,
        }
        return settings, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._pricing = Pricing(*settings["pricing"])
        self._list_capacity = settings["list_capacity"]
        self._entries, self._changes = settings["entries"], settings["changes"]
        self._is_due = False
        self._grid = Grid(arrays["frame"], arrays["mass"])
        self._chance = GrowingArray(arrays["chance"])
        self._divided = GrowingArray(arrays["divided"])
        self._pool = RunPool(arrays["records"], arrays["pool_used"])
        history = storage.part(arrays, "history/")
        self._history = MessageHistory.from_arrays(history) if history else None

    # ------------------------------------------------------------------ private

    def _note_changes(self, count: int) -> None:
        """Rather than be changed at many places, everything is built again."""
        self._changes += count
        self._is_due |= count > max(FEW_CHANGES, BULK_SHARE * self._entries)
        self._is_due |= self._changes > max(FEW_CHANGES, CHANGED_SHARE * self._entries)

    def _divide(self, number: int) -> None:
        """Let a long list use other cells than the root, when that is worth it.  O(list)."""
        if self._divided.used[number]:
            return
        chance, divided = self._chance.used, self._divided.used
        records = self._take(number)
        # Subscriptions stand for the messages to come where no better is known.
        chance[number] = max(chance[number], len(records) / self._entries)
        divided[number] = chance[number] > self._least_chance
        lists = np.full(len(records), number, np.int32)
        owner, codes = self._cover(_bounds(records), lists)
        self._put(records, lists, owner, codes)

    def _pack_when_due(self) -> None:
        if self._pool.used[GARBAGE] > 1024 + self._pool.used[RECORDS] // 2:
            self._pack()


def _by_words(records: NDArray[np.int32]) -> NDArray[np.int32]:
    """The records in the order of the words left to check.

    Those that a list has side by side then have the same answer, which the processor guesses.
    """
    return records[np.lexsort((records[:, WORD_B], records[:, WORD_A] & NO_WORD))]


def _bounds(records: NDArray[np.int32]) -> NDArray[np.float32]:
    return np.ascontiguousarray(records.view(np.float32)[:, WEST:])


class _LikelyFirst(TermOrder):
    """By how likely each word is, given in the order of `Tf`, which settles ties as well."""

    def __init__(self, chance: NDArray[np.float64]) -> None:
        self._chance = chance

    def order(self, frequency: NDArray[np.int64]) -> NDArray[np.int64]:
        return Tf().order(frequency)[np.argsort(-self._chance, kind="stable")]
