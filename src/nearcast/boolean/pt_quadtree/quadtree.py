"""The PT-Quadtree: a quadtree whose cells know a few words, one of which every entry has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._records import ENTRY, records_of
from nearcast.boolean._run_pool import GARBAGE, RECORDS
from nearcast.boolean.pt_quadtree._build import build
from nearcast.boolean.pt_quadtree._check import check_quadtree
from nearcast.boolean.pt_quadtree._layout import (
    CHANGES,
    ENTRIES,
    LOOSE_TOKENS,
    MOST_LEVELS,
    NODES,
    TOKENS,
    WITH_WORDS,
    WITHOUT_WORDS,
    Quadtree,
    Settings,
    empty_quadtree,
    pack_tokens,
)
from nearcast.boolean.pt_quadtree._lists import Lists, empty_lists, pack_lists
from nearcast.boolean.pt_quadtree._pivots import fit_sets
from nearcast.boolean.pt_quadtree._update import add_entries, drop_all
from nearcast.boolean.pt_quadtree._walk import walk
from nearcast.boolean.pt_quadtree.policies import CopyToLeaves, Placement
from nearcast.boolean.record_index import RecordIndex, Runs
from nearcast.boolean.subscription_store import FARTHEST_BOUND, Entries, SubscriptionStore
from nearcast.model import Space
from nearcast.text.order import Idf

# So many changes, as a share of the entries there, are cheaper to build in than to make singly.
BULK_SHARE = 0.25
# After so many, as a share of the entries, sets are loose and cells no longer fit.
DRIFT_SHARE = 0.5
FEW = 16  # entries that may come one by one even when there are no others
LITTLE = 1024  # changes and garbage not worth a thought


class PTQuadtree(RecordIndex):
    """Subscriptions by place in a quadtree, whose cells have sets of pivotal words.

    The smallest box around all regions is divided into four equal cells, and each of these again,
    until a cell has few entries. In a leaf's list each entry is represented by one word, chosen so
    that few words represent all; a message that has none of a cell's words need not look below it.
    A word that all lists below a cell share is kept in that cell alone (its cover set).
    Subscriptions to `ANY` have no word and a quadtree of their own, where words prune nothing.

    A point message looks at one list, of all entries that touch its leaf; a range message at those
    of all leaves it touches. An insertion or removal goes to every leaf the region touches,
    O(levels) each; the whole is built again, O(copies of all words), after changes to half of it.

    Parameters
    ----------
    space: what coordinates mean
    leaf_capacity: a cell with more entries is divided (tau_num in the paper)
    most_levels: the smallest cells have 4 ** -most_levels of the whole area (tau_area)
    most_copies: how often the average entry may be stored because its region touches several
        leaves; a cell stays whole where dividing it would pass this. The paper divides regardless,
        which multiplies memory where regions are large beside cells
    placement: where entries are kept; `CopyToLeaves` by default, or `SmallestCell`

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = PTQuadtree()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.match(Message(2, text="iPad sale!", at=Box(11, 5, 12, 6)))
    []

    References
    ----------
    M. Yu, G. Li, J. Feng: A Cost-based Method for Location-Aware Publish/Subscribe Services.
    CIKM 2015, section 4.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        leaf_capacity: int = 64,
        most_levels: int = 16,
        most_copies: float = 8.0,
        placement: Placement | None = None,
    ) -> None:
        super().__init__(space)
        self._settings = quadtree_settings(leaf_capacity, most_levels, most_copies, placement)
        self._quadtree = empty_quadtree()
        self._lists = empty_lists()
        self._frame = np.array([-180.0, -90.0, 180.0, 90.0])
        self._numbering = np.zeros(0, np.int32)
        self._is_due = False

    def rebuild(self) -> None:
        """Build the whole quadtree again around what is live now.

        O(copies of all words).  Done by itself when a batch is large or many single changes were
        made.
        """
        self._catch_up()
        self._store.order_words(Idf())
        entries = self._store.all_entries()
        self._frame = frame_around(entries.bounds)
        self._quadtree, self._lists = build_quadtree(
            self._store, empty_lists(), self._settings, self._frame, records_of(entries),
            entries.entry.astype(np.int64),
        )  # fmt: skip
        self._is_due = False

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        self._catch_up()
        expected = self._store.all_entries()
        ids = {entry: entry for entry in expected.entry.tolist()}
        check_quadtree(
            self._quadtree, self._lists, self._store.clauses, self._settings,
            records_of(expected), ids,
        )  # fmt: skip

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        self._change(entries, adding=True)

    def _withdraw(self, entries: Entries) -> None:
        self._change(entries, adding=False)

    def _tidy(self) -> None:
        used = self._quadtree.used
        if used[CHANGES] > LITTLE + DRIFT_SHARE * used[ENTRIES]:
            self._is_due = True
        if self._is_due or self._store.has_many_unused_words():
            self.rebuild()
            return
        if used[LOOSE_TOKENS] > LITTLE + used[TOKENS] // 2:
            self._quadtree = pack_tokens(self._quadtree)
        if self._lists.used[GARBAGE] > LITTLE + self._lists.used[RECORDS] // 2:
            self._lists = pack_lists(self._lists, self._quadtree.lists[: used[NODES]])

    @property
    def _records(self) -> NDArray[np.int32]:
        return self._lists.records

    def _candidates(
        self,
        have: NDArray[np.int32],
        have_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
        first: int,
        last: int,
    ) -> Runs:
        runs: Runs = walk(self._quadtree, have, have_start, rects, rect_start, first, last)
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        used = self._quadtree.used
        copies = float(self._lists.used[RECORDS]) / max(1, int(used[ENTRIES]))
        return int(used[NODES]), copies

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays = quadtree_arrays(self._quadtree) | lists_arrays(self._lists)
        return {"settings": list(self._settings)}, arrays | {"frame": self._frame}

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._settings = Settings(*settings["settings"])
        self._quadtree = Quadtree(*(arrays[field] for field in Quadtree._fields))
        self._lists = Lists(arrays["records"], arrays["lists_used"], arrays["ids"])
        self._frame = arrays["frame"]
        self._numbering = np.zeros(0, np.int32)
        self._is_due = False

    # ------------------------------------------------------------------ private

    def _change(self, entries: Entries, *, adding: bool) -> None:
        if len(entries) > max(FEW, BULK_SHARE * float(self._quadtree.used[ENTRIES])):
            self._is_due = True
        if self._is_due:
            return  # everything is about to be built again
        records = records_of(entries)
        ids = records[:, ENTRY].astype(np.int64)
        clauses = self._store.clauses
        if not adding:
            drop_all(self._quadtree, self._lists, clauses, self._settings, records, ids)
            return
        self._numbering = wide_enough(self._numbering, self._store.words)
        self._quadtree, self._lists = add_entries(
            self._quadtree, self._lists, clauses, self._settings, self._numbering, self._frame,
            records, ids,
        )  # fmt: skip


def quadtree_settings(
    leaf_capacity: int, most_levels: int, most_copies: float, placement: Placement | None
) -> Settings:
    """The parameters of a quadtree, once they are found to make sense."""
    for name, value, least in (
        ("leaf_capacity", leaf_capacity, 1),
        ("most_levels", most_levels, 0),
        ("most_copies", most_copies, 1),
    ):
        if not value >= least:
            raise ValueError(f"{name} {value} is too small; it must be at least {least}")
        if name != "most_copies" and not isinstance(value, int):
            raise TypeError(f"{name} {value!r} is not a whole number; give an int")
    if most_levels > MOST_LEVELS:
        raise ValueError(
            f"most_levels {most_levels} is too large; cells are cut in half at most {MOST_LEVELS} "
            "times, as often as float32 can tell their borders apart"
        )
    where = placement or CopyToLeaves()
    return Settings(leaf_capacity, most_levels, float(most_copies), where.is_smallest_cell)


def frame_around(bounds: NDArray[np.float32]) -> NDArray[np.float64]:
    """The smallest box around bounds, as far as they say where something is."""
    near = np.where(np.abs(bounds) <= FARTHEST_BOUND, bounds, np.nan).astype(np.float64)
    frame = np.zeros(4)
    for axis in (0, 1):
        ends = near[:, [axis, axis + 2]]
        if not np.isnan(ends).all():
            frame[axis], frame[axis + 2] = np.nanmin(ends), np.nanmax(ends)
    return frame


def build_quadtree(
    store: SubscriptionStore,
    lists: Lists,
    settings: Settings,
    frame: NDArray[np.float64],
    records: NDArray[np.int32],
    ids: NDArray[np.int64],
) -> tuple[Quadtree, Lists]:
    """A quadtree of all records, with their IDs, and the lists with those of the quadtree added."""
    quadtree, clauses = empty_quadtree(), store.clauses
    quadtree.used[ENTRIES] = len(records)
    in_order = np.lexsort((records[:, ENTRY], ids)).astype(np.int32)
    has_words = clauses.required[records[in_order, ENTRY]] > 0
    for root, arena in (
        (WITH_WORDS, in_order[has_words]),
        (WITHOUT_WORDS, in_order[~has_words]),
    ):
        first_new = quadtree.used[NODES]
        quadtree, lists = build(
            quadtree, lists, clauses, settings, records, ids, arena, root, frame
        )
        if root == WITH_WORDS:
            numbering = np.zeros(store.words, np.int32)
            quadtree, _ = fit_sets(quadtree, lists, clauses, numbering, root, first_new)
    return pack_tokens(quadtree), lists


def quadtree_arrays(quadtree: Quadtree) -> dict[str, NDArray[Any]]:
    """The arrays in use, for saving."""
    nodes, tokens = quadtree.used[NODES], quadtree.used[TOKENS]
    return {
        "nodes": quadtree.nodes[:nodes],
        "places": quadtree.places[:nodes],
        "lists": quadtree.lists[:nodes],
        "tokens": quadtree.tokens[:tokens],
        "used": quadtree.used,
    }


def lists_arrays(lists: Lists) -> dict[str, NDArray[Any]]:
    """The arrays in use, for saving."""
    records = lists.used[RECORDS]
    return {
        "records": lists.records[:records],
        "lists_used": lists.used,
        "ids": lists.ids[:records],
    }


def wide_enough(numbering: NDArray[np.int32], words: int) -> NDArray[np.int32]:
    """A `numbering` for so many words; see `_pivots`."""
    return numbering if len(numbering) >= words else np.zeros(words + words // 2, np.int32)
