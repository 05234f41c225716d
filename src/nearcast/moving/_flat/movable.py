"""Boolean indexes whose subscriptions move."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean._store_kernels import chained_entries
from nearcast.boolean.flat_index import FlatIndex
from nearcast.boolean.found import slots_in_order, starts_of
from nearcast.boolean.rarest_word_tree._update import relocate_all
from nearcast.boolean.rarest_word_tree.tree import RarestWordTree
from nearcast.boolean.subscription_store import Entries, SubscriptionStore
from nearcast.space.region_column import BOX, RegionColumn

TOGETHER = 8192  # moves: so few are not mistaken for an index that is filled anew
MOVES_TO_ONE_CHANGE = 8
"""A move leaves words as they are: so many age the order of words as one other change does."""


class OneCoverStore(SubscriptionStore):
    """A store in which each clause is one entry, wherever its region goes.

    A region across the antimeridian has one rectangle all around the world instead of two: entries
    neither come nor go when a subscription moves.
    """

    def _covers(self, regions: RegionColumn) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        return np.arange(len(regions), dtype=np.int32), one_covers(regions)

    def _entries(self, numbers: NDArray[np.int32], bounds: NDArray[np.float32]) -> Entries:
        entries = super()._entries(numbers, bounds)
        kind, shape = self.regions.kernel_arrays()[:2]
        slots = entries.slot
        crossing = (kind[slots] == BOX) & (shape[slots, 0] > shape[slots, 2])
        return Entries(
            entries.entry, slots, bounds, entries.is_shaped | crossing, entries.is_shared
        )

    def with_bounds(self, numbers: NDArray[np.int32], bounds: NDArray[np.float32]) -> Entries:
        """Entries of subscriptions that have just moved, given the covers of their regions."""
        return self._entries(numbers, bounds)


def one_covers(regions: RegionColumn) -> NDArray[np.float32]:
    """One rectangle around each region: west, south, east, north, rounded outward."""
    rows, bounds = regions.covers()
    if len(rows) == len(regions):
        return bounds
    second = np.flatnonzero(rows[1:] == rows[:-1]) + 1
    bounds[second - 1, 0], bounds[second - 1, 2] = -180.0, 180.0
    return np.delete(bounds, second, axis=0)


class Movable(FlatIndex):
    """A boolean index of which subscriptions move; for use by the indexes of this room alone."""

    _store_type = OneCoverStore
    _store: OneCoverStore

    @property
    def store(self) -> OneCoverStore:
        """What it keeps of subscriptions."""
        return self._store

    def find(self, ids: pa.Array) -> NDArray[np.int32]:
        """The slots of ids, -1 for those that are not live."""
        return self._store.ids.find(ids)

    def relocate(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        """Subscriptions have other regions now.  A removal and an insertion each."""
        for low in range(0, len(slots), TOGETHER):
            some = slots[low : low + TOGETHER]
            self._withdraw(self._store.entries_of(some))
            self._store.regions.put(some, regions.take(np.arange(low, low + len(some))))
            self._place(self._store.entries_of(some))
            self._tidy()

    def remove_now(self, slot: int) -> None:
        """End the subscription in a slot."""
        slots = np.array([slot])
        self._withdraw(self._store.entries_of(slots))
        self._store.remove(slots)
        self._tidy()

    def matches(
        self,
        ranks: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The slots that messages reach, and where those of each end; see `MessageBatch`."""
        messages = len(word_start) - 1
        found = self._matcher(ranks, word_start, rects, rect_start)(0, messages)
        start = starts_of(found, messages)
        return slots_in_order(found, start), start[1:]


class MovableWordTree(Movable, RarestWordTree):
    """The default boolean index, for subscriptions that move."""

    _moves = 0  # since the last one that counted as a change

    def relocate(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        store = self._store
        entries, counts = chained_entries(*store.chains, slots)
        changes, self._moves = divmod(self._moves + len(entries), MOVES_TO_ONE_CHANGE)
        self._changes += changes
        store.regions.put(slots, regions)
        bounds = np.repeat(one_covers(regions), counts, axis=0)
        arena = self._arena(store.with_bounds(entries, bounds))
        self._tree = relocate_all(self._tree, store.clauses, store.chains, arena)
        self._note_changes(0)
        self._tidy()
