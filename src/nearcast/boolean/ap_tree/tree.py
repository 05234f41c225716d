"""The AP-Tree: an index that divides by words or by place, whichever prunes more, node by node."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean._records import records_of
from nearcast.boolean.ap_tree._build import (
    BY_KEYWORD,
    BY_SPACE,
    build,
)
from nearcast.boolean.ap_tree._check import check_tree
from nearcast.boolean.ap_tree._layout import (
    CHILDREN,
    EDGES,
    ENTRIES,
    KEYS,
    NODES,
    RECORDS,
    Tree,
    empty_tree,
)
from nearcast.boolean.ap_tree._plan import Settings, Statistics
from nearcast.boolean.ap_tree._update import change_all, repack
from nearcast.boolean.ap_tree._walk import walk
from nearcast.boolean.ap_tree.policies import (
    Adaptive,
    HeuristicPartition,
    ImprovedGrid,
    KeywordPartition,
    Priority,
    SpatialPartition,
)
from nearcast.boolean.history import MessageHistory
from nearcast.boolean.record_index import RecordIndex, Runs
from nearcast.boolean.subscription_store import Entries
from nearcast.model import Space
from nearcast.text.order import Idf, Random, TermOrder, Tf

_ORDERS: dict[str, type[TermOrder]] = {"Tf": Tf, "Idf": Idf}

# So many changes, as a share of the entries there, are cheaper to build in than to make singly.
BULK_SHARE = 0.25


class APTree(RecordIndex):
    """Adaptive spatial-textual partition tree.

    Each inner node divides its entries either by their next keyword, in the index's keyword order
    (a *k-node* with cuts), or by place (an *s-node* with cells), whichever a cost model expects
    to leave fewer entries to look at; leaves hold up to `leaf_capacity` entries, more only where
    no partition separates them. A message goes down every cut one of its words hits and every
    cell its place touches, and verifies what the leaves hold.

    Parameters
    ----------
    space: what coordinates mean
    fanout: most cuts or cells of a node (f in the paper); with 2 or 3, space is never divided
    leaf_capacity: a node with more entries is divided (theta_q)
    order: the order of keywords; `Tf`, `Idf` or `Random`
    history: messages that stand for those to come; without them subscriptions do
    keyword_partition, spatial_partition, priority: see `policies`
    most_copies: how often the average clause may be stored because its region touches several
        cells; bounds memory, where the paper divides without end
    drift_threshold: KL divergence of a node's weights from those it was built for, above which it
        is built again (theta_KL); None never rebuilds
    drift_share: only nodes with this share of all entries are watched for drift

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = APTree()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.remove("deals")
    >>> len(index)
    0

    References
    ----------
    X. Wang, Y. Zhang, W. Zhang, X. Lin, W. Wang: AP-Tree: Efficiently Support Continuous
    Spatial-Keyword Queries Over Stream. ICDE 2015, sections III and IV.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        fanout: int = 200,
        leaf_capacity: int = 40,
        order: TermOrder | None = None,
        history: MessageBatch | None = None,
        keyword_partition: KeywordPartition | None = None,
        spatial_partition: SpatialPartition | None = None,
        priority: Priority | None = None,
        most_copies: float = 8.0,
        drift_threshold: float | None = 0.001,
        drift_share: float = 0.001,
    ) -> None:
        for name, value, least in (
            ("fanout", fanout, 2),
            ("leaf_capacity", leaf_capacity, 1),
            ("most_copies", most_copies, 1),
            ("drift_share", drift_share, 0),
            ("drift_threshold", drift_threshold or 0, 0),
        ):
            if not value >= least:
                raise ValueError(f"{name} {value} is too small; it must be at least {least}")
            if name in ("fanout", "leaf_capacity") and not isinstance(value, int):
                raise TypeError(f"{name} {value!r} is not a whole number; give an int")
        super().__init__(space)
        self._order: TermOrder = order or Tf()
        self._history = MessageHistory.of(history, space) if history is not None else None
        self._settings = Settings(
            fanout,
            leaf_capacity,
            float(most_copies),
            (keyword_partition or HeuristicPartition()).code,
            (spatial_partition or ImprovedGrid()).code,
            (priority or Adaptive()).code,
            float("inf") if drift_threshold is None else float(drift_threshold),
            float(drift_share),
        )
        self._tree = empty_tree()
        self._statistics = self._current_statistics()
        self._is_root_due = False

    def rebuild(self) -> None:
        """Order the keywords by what is live now and build the whole tree again.

        O(n log n) for each level.  Done by itself when a batch is large or the root drifts.
        """
        self._catch_up()
        self._store.order_words(self._order)
        self._statistics = self._current_statistics()
        entries = self._store.all_entries()
        tree = empty_tree()
        tree.used[ENTRIES] = len(entries)
        tree = build(
            tree, self._store.clauses, self._statistics, self._settings, records_of(entries),
            -1, 0, 0, BY_KEYWORD | BY_SPACE, self._world(), 1.0, 1.0,
        )  # fmt: skip
        self._tree = repack(tree)
        self._is_root_due = False

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing.  O(size)."""
        if not isinstance(self._order, Tf | Idf | Random):
            raise TypeError(
                f"order {self._order!r} cannot be saved; use Tf(), Idf() or Random(seed)"
            )
        self._catch_up()
        self._tree = repack(self._tree)
        super().save(path)

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        self._catch_up()
        expected = records_of(self._store.all_entries())
        check_tree(self._tree, self._store.clauses, expected, self._world())

    # ------------------------------------------------------------------ for RecordIndex

    def _place(self, entries: Entries) -> None:
        self._change(entries, adding=True)

    def _withdraw(self, entries: Entries) -> None:
        self._change(entries, adding=False)

    def _tidy(self) -> None:
        if self._is_root_due or self._store.has_many_unused_words():
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
        runs: Runs = walk(self._tree, have, have_start, rects, rect_start, first, last)
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        used = self._tree.used
        return int(used[NODES]), float(used[RECORDS]) / max(1, int(used[ENTRIES]))

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        tree, used = self._tree, self._tree.used
        arrays: dict[str, NDArray[Any]] = {
            "nodes": tree.nodes[: used[NODES]],
            "keys": tree.keys[: used[KEYS]],
            "edges": tree.edges[: used[EDGES]],
            "children": tree.children[: used[CHILDREN]],
            "weights": tree.weights[: used[CHILDREN]],
            "records": tree.records[: used[RECORDS]],
            "used": used,
            "chance_below": self._statistics.chance_below,
        }
        if self._history:
            arrays |= {f"history/{name}": a for name, a in self._history.arrays().items()}
        settings = {
            "order": [type(self._order).__name__, getattr(self._order, "seed", None)],
            "settings": list(self._settings),
        }
        return settings, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        name, seed = settings["order"]
        self._order = Random(seed) if name == "Random" else _ORDERS[name]()
        self._settings = Settings(*settings["settings"])
        self._tree = Tree(*(arrays[field] for field in Tree._fields))
        history = storage.part(arrays, "history/")
        self._history = MessageHistory.from_arrays(history) if history else None
        points = self._history.points if self._history else np.empty((0, 2))
        self._statistics = Statistics(arrays["chance_below"], points, self._history is not None)
        self._is_root_due = False

    # ------------------------------------------------------------------ private

    def _change(self, entries: Entries, *, adding: bool) -> None:
        """O(depth) nodes for each cell an entry touches, unless so many are better built."""
        present = int(self._tree.used[ENTRIES])
        if len(entries) > max(self._settings.leaf_capacity, BULK_SHARE * present):
            self._is_root_due = True
        if self._is_root_due:
            return  # everything is about to be built again
        self._tree, self._is_root_due = change_all(
            self._tree, self._store.clauses, self._statistics, self._settings,
            records_of(entries), self._world(), adding,
        )  # fmt: skip

    def _current_statistics(self) -> Statistics:
        if self._history is None:
            return Statistics(_sums_below(self._store.shares_by_rank()), np.empty((0, 2)), False)
        chance = self._history.chances_of(self._store.words_by_rank())
        return Statistics(_sums_below(chance), self._history.points, True)

    def _world(self) -> NDArray[np.float64]:
        if self.space is Space.EARTH:
            return np.array([-180.0, -90.0, 180.0, 90.0])
        return np.array([-np.inf, -np.inf, np.inf, np.inf])


def _sums_below(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(1), np.cumsum(chance)])
