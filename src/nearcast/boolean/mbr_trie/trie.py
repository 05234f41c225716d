"""The MBRTrie: a trie of ordered words whose nodes know the box around all that is below."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._records import records_of
from nearcast.boolean._run_pool import GARBAGE as POOL_GARBAGE
from nearcast.boolean._run_pool import RECORDS, RunPool, empty_pool, packed
from nearcast.boolean.mbr_trie._build import build, renumber
from nearcast.boolean.mbr_trie._check import check_trie
from nearcast.boolean.mbr_trie._layout import (
    CHANGES,
    ENTRIES,
    GARBAGE,
    NODES,
    RUN_COUNT,
    RUN_START,
    Trie,
    empty_trie,
)
from nearcast.boolean.mbr_trie._saved_order import check_saveable, order_from, order_setting
from nearcast.boolean.mbr_trie._update import add_all, drop_all, pack
from nearcast.boolean.mbr_trie._walk import walk
from nearcast.boolean.mbr_trie.policies import PROBINGS, CostBasedProbe, Probing
from nearcast.boolean.record_index import RecordIndex, Runs
from nearcast.boolean.subscription_store import Entries
from nearcast.model import Space
from nearcast.text.order import Idf, TermOrder

# So many changes, as a share of the entries there, are cheaper to build in than to make singly.
BULK_SHARE = 0.25
# After so many, as a share of the entries, boxes are loose and the order of words is outdated.
DRIFT_SHARE = 0.5
FEW = 16  # entries that may come one by one even when there are no others
LITTLE = 1024  # changes and garbage not worth a thought


class MBRTrie(RecordIndex):
    """Subscriptions along their ordered words, in a trie whose nodes have boxes.

    A message goes down from the root to every child whose word it has and whose box, the minimum
    bounding rectangle of all regions below, its place meets. Subscriptions whose words end at a
    node it reaches have all their words in the message: only their regions are left to verify.

    Matching looks at the nodes that the message's words lead to, whatever their number in the
    vocabulary; an insertion or removal follows one path, O(words log children), and the whole is
    built again, O(words log n), after changes to half of it. Entries that end at one node are
    looked through when one of them is removed.

    Parameters
    ----------
    space: what coordinates mean
    order: the order of words; rare ones first (`Idf`), as in the paper's experiments, by default
    probing: how the children that a message has words for are found; see `policies`

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = MBRTrie()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.match(Message(2, text="iPad sale!", at=Box(11, 5, 12, 6)))
    []

    References
    ----------
    M. Yu, G. Li, J. Feng: A Cost-based Method for Location-Aware Publish/Subscribe Services.
    CIKM 2015, section 3.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        order: TermOrder | None = None,
        probing: Probing | None = None,
    ) -> None:
        super().__init__(space)
        self._order: TermOrder = order or Idf()
        self._probing: Probing = probing or CostBasedProbe()
        self._trie = empty_trie()
        self._pool = empty_pool()
        self._is_due = False

    def rebuild(self) -> None:
        """Order the words by what is live now and build the whole trie again.

        O(words log n).  Done by itself when a batch is large or many single changes were made.
        """
        self._catch_up()
        self._store.order_words(self._order)
        records = records_of(self._store.all_entries())
        trie, self._pool = build(self._store.clauses, records, empty_pool())
        self._trie = pack(trie)
        self._is_due = False

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing.  O(size)."""
        check_saveable(self._order)
        self._catch_up()
        self._trie = pack(self._trie)
        super().save(path)

    def check(self) -> None:
        """Assert that every entry is at the end of its words, and nowhere else."""
        self._catch_up()
        expected = records_of(self._store.all_entries())
        check_trie(self._trie, self._pool.records, self._store.clauses, expected)

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        if not self._is_worth_changing(entries):
            return
        records, done = records_of(entries), 0
        ids = np.empty(len(records), np.int64)
        while done < len(records):
            self._trie, self._pool, done = add_all(
                self._trie, self._pool, self._store.clauses, records, ids, done
            )
            if done < len(records):
                renumber(self._trie)

    def _withdraw(self, entries: Entries) -> None:
        if self._is_worth_changing(entries):
            records = records_of(entries)
            ids = np.empty(len(records), np.int64)
            drop_all(self._trie, self._pool, self._store.clauses, records, ids)

    def _tidy(self) -> None:
        used = self._trie.used
        if used[CHANGES] > LITTLE + DRIFT_SHARE * used[ENTRIES]:
            self._is_due = True
        if self._is_due or self._store.has_many_unused_words():
            self.rebuild()
            return
        has_loose_runs = self._pool.used[POOL_GARBAGE] > LITTLE + self._pool.used[RECORDS] // 2
        if has_loose_runs or used[GARBAGE] > LITTLE + used[NODES] // 2:
            self._trie = pack(self._trie)
        if has_loose_runs:
            references = run_references(self._trie)
            self._pool = packed(self._pool, references)
            set_run_references(self._trie, references)

    @property
    def _records(self) -> NDArray[np.int32]:
        return self._pool.records

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
            self._trie, self._probing.code, have, have_start, rects, rect_start, first, last
        )
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        used = self._trie.used
        copies = float(self._pool.used[RECORDS]) / max(1, int(used[ENTRIES]))
        return int(used[NODES] - used[GARBAGE]), copies

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        trie, pool, nodes = self._trie, self._pool, self._trie.used[NODES]
        arrays: dict[str, NDArray[Any]] = {
            "keys": trie.keys[:nodes],
            "rows": trie.rows[:nodes],
            "spans": trie.spans[:nodes],
            "used": trie.used,
            "records": pool.records[: pool.used[RECORDS]],
            "pool_used": pool.used,
        }
        return {"order": order_setting(self._order), "probing": self._probing.code}, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._order = order_from(settings["order"])
        self._probing = PROBINGS[settings["probing"]]
        self._trie = Trie(*(arrays[field] for field in Trie._fields))
        self._pool = RunPool(arrays["records"], arrays["pool_used"])
        self._is_due = False

    # ------------------------------------------------------------------ private

    def _is_worth_changing(self, entries: Entries) -> bool:
        """Are so few entries changed in place, and not everything built again?"""
        if len(entries) > max(FEW, BULK_SHARE * float(self._trie.used[ENTRIES])):
            self._is_due = True
        return not self._is_due


def run_references(trie: Trie) -> NDArray[np.int64]:
    """The runs of all nodes of a trie without garbage; EMPTY where a node has none."""
    rows = trie.rows[: trie.used[NODES]].astype(np.int64)
    start, count = rows[:, RUN_START], rows[:, RUN_COUNT]
    return np.where(count > 0, (start << 28) | (count << 2) | 1, 0)


def set_run_references(trie: Trie, references: NDArray[np.int64]) -> None:
    """Put back what `run_references` gave, after the runs have moved."""
    trie.rows[: len(references), RUN_START] = references >> 28
