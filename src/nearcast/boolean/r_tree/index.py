"""An index that arranges entries in an R-tree whose nodes have inverted lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._records import records_of
from nearcast.boolean.r_tree._build import build
from nearcast.boolean.r_tree._check import check_tree
from nearcast.boolean.r_tree._layout import (
    CHANGES,
    ENTRIES,
    GARBAGE,
    LEAVES,
    NOBODY,
    NODES,
    ROWS,
    RTree,
    Settings,
    empty_tree,
)
from nearcast.boolean.r_tree._lists import without_garbage
from nearcast.boolean.r_tree._update import insert_all, remove_all
from nearcast.boolean.r_tree._walk import walk
from nearcast.boolean.record_index import RecordIndex, Runs
from nearcast.boolean.subscription_store import Entries
from nearcast.model import Space
from nearcast.text.order import Tf

MOST_FANOUT = 31  # a set of children is an int32

# So many changes, as a share of the entries there, are cheaper to build in than to make singly.
BULK_SHARE = 0.25
# Fewer changes than this are no reason to build anything again.
FEW_CHANGES = 1024
# And fewer rows of inverted lists are not worth collecting.
FEW_ROWS = 1024


class RTreeIndex(RecordIndex):
    """What R-trees with words have in common; a subclass says which words are listed where.

    Words are ranked by how many entries require them, the most frequent first, so that the last of
    an entry's words is its rarest; words that come later count as the rarest of all until the
    next rebuild.
    """

    def __init__(self, space: Space, fanout: int, leaf_capacity: int, listing: int) -> None:
        for name, value, least in (("fanout", fanout, 2), ("leaf_capacity", leaf_capacity, 1)):
            if not isinstance(value, int):
                raise TypeError(f"{name} {value!r} is not a whole number; give an int")
            if value < least:
                raise ValueError(f"{name} {value} is too small; it must be at least {least}")
        if fanout > MOST_FANOUT:
            raise ValueError(f"fanout {fanout} is too large; it must be at most {MOST_FANOUT}")
        super().__init__(space)
        self._settings = Settings(fanout, leaf_capacity, listing)
        self._tree = empty_tree(self._settings, 0)
        self._built_with = 0
        self._is_due = False

    def rebuild(self) -> None:
        """Rank the words by what is live now and build the whole tree again.  O(n log n).

        Done by itself when a batch is large, or as many entries have come and gone as there were.
        """
        self._catch_up()
        self._store.order_words(Tf())
        entries = self._store.all_entries()
        tree = empty_tree(self._settings, len(self._store.clauses.slot))
        tree = build(tree, self._store.clauses, self._settings, records_of(entries))
        self._tree = without_garbage(tree)
        self._built_with = len(entries)
        self._is_due = False

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        self._catch_up()
        expected = records_of(self._store.all_entries())
        check_tree(self._tree, self._store.clauses, self._settings, expected)

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        self._change(entries, adding=True)

    def _withdraw(self, entries: Entries) -> None:
        self._change(entries, adding=False)

    def _tidy(self) -> None:
        changes = int(self._tree.used[CHANGES])
        if (
            self._is_due
            or changes > max(FEW_CHANGES, self._built_with)
            or self._store.has_many_unused_words()
        ):
            self.rebuild()

    @property
    def _records(self) -> NDArray[np.int32]:
        return self._tree.records

    def _candidates(
        self,
        have: NDArray[np.int32],
        have_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
        first: int,
        last: int,
    ) -> Runs:
        runs: Runs = walk(
            self._tree, self._settings, have, have_start, rects, rect_start, first, last
        )
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        used = self._tree.used
        room = int(used[LEAVES]) * self._settings.leaf_capacity
        return int(used[NODES]), room / max(1, int(used[ENTRIES]))

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        tree, used = self._tree, self._tree.used
        branches = used[NODES] * self._settings.fanout
        room = used[LEAVES] * self._settings.leaf_capacity
        arrays: dict[str, NDArray[Any]] = {
            "nodes": tree.nodes[: used[NODES]],
            "boxes": tree.boxes[:branches],
            "children": tree.children[:branches],
            "lists": tree.lists[: used[ROWS]],
            "leaves": tree.leaves[: used[LEAVES]],
            "records": tree.records[:room],
            "keys": tree.keys[:room],
            "homes": tree.homes[: len(self._store.clauses.slot)],
            "used": used,
        }
        return {"settings": list(self._settings), "built_with": self._built_with}, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._settings = Settings(*settings["settings"])
        self._built_with = settings["built_with"]
        self._tree = RTree(*(arrays[field] for field in RTree._fields))
        self._is_due = False

    # ------------------------------------------------------------------ private

    def _change(self, entries: Entries, *, adding: bool) -> None:
        """O(fanout * height) for each entry, unless so many are better built."""
        present = int(self._tree.used[ENTRIES])
        if len(entries) > max(self._settings.leaf_capacity, BULK_SHARE * present):
            self._is_due = True
        if self._is_due:
            return  # everything is about to be built again
        self._find_homes()
        if adding:
            self._tree = insert_all(
                self._tree, self._store.clauses, self._settings, records_of(entries)
            )
        else:
            remove_all(self._tree, self._settings, entries.entry)
        if self._tree.used[GARBAGE] > FEW_ROWS + self._tree.used[ROWS] // 2:
            self._tree = without_garbage(self._tree)

    def _find_homes(self) -> None:
        """Room in `homes` for every entry of the store.  O(1) amortised."""
        homes, needed = self._tree.homes, len(self._store.clauses.slot)
        if needed > len(homes):
            wider = np.full(needed + needed // 2, NOBODY, np.int32)
            wider[: len(homes)] = homes
            self._tree = self._tree._replace(homes=wider)
