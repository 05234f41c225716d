"""LFilter: asks the trie, the quadtree, or both, whichever will be quickest for the message."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._records import ENTRY, records_of
from nearcast.boolean._run_pool import GARBAGE as POOL_GARBAGE
from nearcast.boolean._run_pool import RECORDS, RunPool
from nearcast.boolean.lfilter._cost import Costs, Estimates, estimates_of, no_estimates
from nearcast.boolean.lfilter._walk import walk
from nearcast.boolean.mbr_trie import _build as trie_build
from nearcast.boolean.mbr_trie import _layout as trie_layout
from nearcast.boolean.mbr_trie._check import check_trie
from nearcast.boolean.mbr_trie._layout import CHANGES, ENTRIES, Trie, empty_trie
from nearcast.boolean.mbr_trie._saved_order import check_saveable, order_from, order_setting
from nearcast.boolean.mbr_trie._update import add_all, drop_all, pack
from nearcast.boolean.mbr_trie.policies import PROBINGS, CostBasedProbe, Probing
from nearcast.boolean.mbr_trie.trie import run_references, set_run_references
from nearcast.boolean.pt_quadtree import _layout as quadtree_layout
from nearcast.boolean.pt_quadtree._check import check_quadtree
from nearcast.boolean.pt_quadtree._layout import (
    LOOSE_TOKENS,
    TOKENS,
    Quadtree,
    Settings,
    empty_quadtree,
    pack_tokens,
)
from nearcast.boolean.pt_quadtree._lists import Lists, empty_lists, pack_lists, renumber_lists
from nearcast.boolean.pt_quadtree._update import add_entries
from nearcast.boolean.pt_quadtree._update import drop_all as drop_from_quadtree
from nearcast.boolean.pt_quadtree.policies import Placement
from nearcast.boolean.pt_quadtree.quadtree import (
    build_quadtree,
    frame_around,
    lists_arrays,
    quadtree_arrays,
    quadtree_settings,
    wide_enough,
)
from nearcast.boolean.record_index import RecordIndex, Runs
from nearcast.boolean.subscription_store import Entries
from nearcast.model import Space
from nearcast.text.order import Idf, TermOrder

# So many changes, as a share of the entries there, are cheaper to build in than to make singly.
BULK_SHARE = 0.25
# After so many, as a share of the entries, boxes and sets are loose and words out of order.
DRIFT_SHARE = 0.5
FEW = 16  # entries that may come one by one even when there are no others
LITTLE = 1024  # changes and garbage not worth a thought


class LFilter(RecordIndex):
    """An MBRTrie and a PT-Quadtree of the same subscriptions, used as a cost model advises.

    Where the quadtree's filter is expected to cost more than the trie's, as for a message with few
    words and a large region, the trie answers alone. Otherwise the quadtree gives the lists that
    the message's place reaches. They are in the order of the word sets, as are the trie's nodes:
    going down the trie, the entries below a node are a short stretch of each list (list pruning).
    At every node the message reaches, the model chooses anew: verify what is left of the lists,
    prune them further, or take the trie's own entries.

    Keeps every entry twice, in the trie and in one or more lists, and costs accordingly: memory,
    insertions and removals are the sum of the two.

    Parameters
    ----------
    space: what coordinates mean
    order, probing: of the trie, see `MBRTrie`
    leaf_capacity, most_levels, most_copies, placement: of the quadtree, see `PTQuadtree`

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = LFilter()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.match(Message(2, text="iPad sale!", at=Box(11, 5, 12, 6)))
    []

    References
    ----------
    M. Yu, G. Li, J. Feng: A Cost-based Method for Location-Aware Publish/Subscribe Services.
    CIKM 2015, section 5.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        order: TermOrder | None = None,
        probing: Probing | None = None,
        leaf_capacity: int = 64,
        most_levels: int = 16,
        most_copies: float = 8.0,
        placement: Placement | None = None,
    ) -> None:
        super().__init__(space)
        self._order: TermOrder = order or Idf()
        self._probing: Probing = probing or CostBasedProbe()
        self._settings = quadtree_settings(leaf_capacity, most_levels, most_copies, placement)
        self._trie = empty_trie()
        self._quadtree = empty_quadtree()
        self._lists = empty_lists()  # of the quadtree; the trie's runs are among its records
        self._frame = np.array([-180.0, -90.0, 180.0, 90.0])
        self._costs = Costs()
        self._estimates = no_estimates()
        self._numbering = np.zeros(0, np.int32)
        self._is_due = False

    def rebuild(self) -> None:
        """Order the words by what is live now and build both structures again.

        O(words log n + copies of all words).  Done by itself when a batch is large or many single
        changes were made.
        """
        self._catch_up()
        self._store.order_words(self._order)
        entries = self._store.all_entries()
        records = records_of(entries)
        self._frame = frame_around(entries.bounds)
        lists = empty_lists()
        trie, pool = trie_build.build(
            self._store.clauses, records, RunPool(lists.records, lists.used)
        )
        self._trie = pack(trie)
        ids = ids_of(self._trie, pool.records, records)
        self._quadtree, self._lists = build_quadtree(
            self._store, Lists(pool.records, pool.used, lists.ids), self._settings, self._frame,
            records, ids,
        )  # fmt: skip
        self._estimates = estimates_of(
            self._trie, self._quadtree, self._store.shares_by_rank(), self._frame,
            self._settings.is_smallest_cell,
        )  # fmt: skip
        self._is_due = False

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing.  O(size)."""
        check_saveable(self._order)
        self._catch_up()
        self._trie = pack(self._trie)
        super().save(path)

    def check(self) -> None:
        """Assert that every entry is where a message would look for it in both structures."""
        self._catch_up()
        expected, clauses = records_of(self._store.all_entries()), self._store.clauses
        ids = check_trie(self._trie, self._lists.records, clauses, expected)
        check_quadtree(self._quadtree, self._lists, clauses, self._settings, expected, ids)

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        if not self._is_worth_changing(entries):
            return
        records, done = records_of(entries), 0
        ids = np.empty(len(records), np.int64)
        pool = self._pool
        while done < len(records):
            self._trie, pool, done = add_all(
                self._trie, pool, self._store.clauses, records, ids, done
            )
            if done < len(records):
                old, new = trie_build.renumber(self._trie)
                self._lists = Lists(pool.records, pool.used, self._lists.ids)
                renumber_lists(self._quadtree, self._lists, old, new)
                ids[:done] = new[np.searchsorted(old, ids[:done])]
        self._lists = Lists(pool.records, pool.used, self._lists.ids)
        self._numbering = wide_enough(self._numbering, self._store.words)
        self._quadtree, self._lists = add_entries(
            self._quadtree, self._lists, self._store.clauses, self._settings, self._numbering,
            self._frame, records, ids,
        )  # fmt: skip

    def _withdraw(self, entries: Entries) -> None:
        if self._is_worth_changing(entries):
            records = records_of(entries)
            ids = np.empty(len(records), np.int64)
            clauses = self._store.clauses
            drop_all(self._trie, self._pool, clauses, records, ids)
            drop_from_quadtree(self._quadtree, self._lists, clauses, self._settings, records, ids)

    def _tidy(self) -> None:
        trie, quadtree, lists = self._trie, self._quadtree, self._lists
        if trie.used[CHANGES] > LITTLE + DRIFT_SHARE * trie.used[ENTRIES]:
            self._is_due = True
        if self._is_due or self._store.has_many_unused_words():
            self.rebuild()
            return
        has_loose_runs = lists.used[POOL_GARBAGE] > LITTLE + lists.used[RECORDS] // 2
        nodes, loose = trie.used[trie_layout.NODES], trie.used[trie_layout.GARBAGE]
        if has_loose_runs or loose > LITTLE + nodes // 2:
            self._trie = trie = pack(trie)
        if quadtree.used[LOOSE_TOKENS] > LITTLE + quadtree.used[TOKENS] // 2:
            self._quadtree = quadtree = pack_tokens(quadtree)
        if has_loose_runs:
            cells = int(quadtree.used[quadtree_layout.NODES])
            references = np.concatenate([quadtree.lists[:cells], run_references(trie)])
            self._lists = pack_lists(lists, references)
            quadtree.lists[:cells] = references[:cells]
            set_run_references(trie, references[cells:])

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
        runs: Runs = walk(
            self._trie, self._quadtree, self._lists.ids, self._costs, self._estimates,
            self._probing.code, have, have_start, rects, rect_start, first, last,
        )  # fmt: skip
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        trie = self._trie.used
        nodes = int(trie[trie_layout.NODES] - trie[trie_layout.GARBAGE])
        nodes += int(self._quadtree.used[quadtree_layout.NODES])
        return nodes, float(self._lists.used[RECORDS]) / max(1, int(trie[ENTRIES]))

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        trie = self._trie
        nodes = trie.used[trie_layout.NODES]
        arrays: dict[str, NDArray[Any]] = {
            "trie/keys": trie.keys[:nodes],
            "trie/rows": trie.rows[:nodes],
            "trie/spans": trie.spans[:nodes],
            "trie/used": trie.used,
            "frame": self._frame,
            "leaves": self._estimates.leaves,
        }
        arrays |= quadtree_arrays(self._quadtree) | lists_arrays(self._lists)
        settings = {
            "order": order_setting(self._order),
            "probing": self._probing.code,
            "settings": list(self._settings),
            "estimates": dict(zip(Estimates._fields[:4], self._estimates[:4], strict=True)),
        }
        return settings, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._order = order_from(settings["order"])
        self._probing = PROBINGS[settings["probing"]]
        self._settings = Settings(*settings["settings"])
        self._trie = Trie(*(arrays[f"trie/{field}"] for field in Trie._fields))
        self._quadtree = Quadtree(*(arrays[field] for field in Quadtree._fields))
        self._lists = Lists(arrays["records"], arrays["lists_used"], arrays["ids"])
        self._frame = arrays["frame"]
        self._costs = Costs()
        self._estimates = Estimates(
            **settings["estimates"], frame=self._frame, leaves=arrays["leaves"]
        )
        self._numbering = np.zeros(0, np.int32)
        self._is_due = False

    # ------------------------------------------------------------------ private

    @property
    def _pool(self) -> RunPool:
        """The records, as the trie sees them."""
        return RunPool(self._lists.records, self._lists.used)

    def _is_worth_changing(self, entries: Entries) -> bool:
        """Are so few entries changed in place, and not everything built again?"""
        if len(entries) > max(FEW, BULK_SHARE * float(self._trie.used[ENTRIES])):
            self._is_due = True
        return not self._is_due


def ids_of(trie: Trie, runs: NDArray[np.int32], records: NDArray[np.int32]) -> NDArray[np.int64]:
    """The ID of each record's entry, read off the runs of a trie without garbage.  O(n)."""
    rows = trie.rows[: trie.used[trie_layout.NODES]]
    count = rows[:, trie_layout.RUN_COUNT].astype(np.int64)
    start = np.repeat(rows[:, trie_layout.RUN_START] - (np.cumsum(count) - count), count)
    entries = runs[start + np.arange(len(start)), ENTRY]
    id_of_entry = np.zeros(int(entries.max(initial=-1)) + 1, np.int64)
    id_of_entry[entries] = np.repeat(trie.spans[: len(rows), 0], count)
    return id_of_entry[records[:, ENTRY]]
