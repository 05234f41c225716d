"""The AP-Tree: an index that divides by words or by place, whichever prunes more, node by node."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.boolean.ap_tree._build import BY_KEYWORD, BY_SPACE, Settings, Statistics, build
from nearcast.boolean.ap_tree._check import check_tree
from nearcast.boolean.ap_tree._layout import (
    CHILDREN,
    EDGES,
    ENTRIES,
    ENTRY,
    KEYS,
    NO_WORD,
    NODES,
    RECORDS,
    SHAPED,
    SHARED,
    SLOT,
    WORD_A,
    Tree,
    empty_tree,
)
from nearcast.boolean.ap_tree._match import match_messages
from nearcast.boolean.ap_tree._update import change_all, repack
from nearcast.boolean.ap_tree.history import MessageHistory
from nearcast.boolean.ap_tree.policies import (
    Adaptive,
    HeuristicPartition,
    ImprovedGrid,
    KeywordPartition,
    Priority,
    SpatialPartition,
)
from nearcast.boolean.index import BooleanIndex, IndexStats
from nearcast.boolean.subscription_store import MOST_WORDS, Entries, SubscriptionStore
from nearcast.model import Space, Subscription
from nearcast.text.order import Idf, Random, Tf

_ORDERS = {order.__name__: order for order in (Tf, Idf, Random)}

# A batch this large a share of the index is cheaper to build in than to insert one by one.
BULK_SHARE = 0.25


class APTree(BooleanIndex):
    """Adaptive spatial-textual partition tree.

    Each inner node divides its entries either by their next keyword, in the index's keyword order
    (a *k-node* with cuts), or by place (an *s-node* with cells), whichever a cost model expects
    to leave fewer entries to look at; leaves hold up to `leaf_capacity` entries, more only where
    no partition separates them. A message goes down every cut one of its words hits and every
    cell its place touches, and verifies what the leaves hold.

    Parameters
    ----------
    space: what coordinates mean
    fanout: most cuts or cells of a node (f in the paper)
    leaf_capacity: a node with more entries is divided (theta_q)
    order: the order of keywords; `Tf`, `Idf` or `Random`
    history: messages that stand for those to come; without them subscriptions do
    keyword_partition, spatial_partition, priority: see `policies`
    most_copies: how often the average clause may be stored because its region touches several
        cells; bounds memory, where the paper divides without end
    drift_threshold: KL divergence of a node's weights from those it was built for, above which it
        is built again (theta_KL); None never rebuilds
    drift_share: only nodes with this share of all entries are watched for drift

    >>> from nearcast.model import Box, Message, Point
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
        order: Tf | Idf | Random | None = None,
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
        self.space = space
        self._order = order or Tf()
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
        self._store = SubscriptionStore(space)
        self._tree = empty_tree()
        self._statistics = self._current_statistics()
        self._candidates = 0
        self._matches = 0

    # ------------------------------------------------------------------ coming and going

    def insert_batch(self, batch: SubscriptionBatch) -> None:
        """Add subscriptions; a large batch has the tree built anew around it.

        O(depth) nodes an entry, and O(n log n) a level when built.
        """
        self._refuse(batch)
        for slot in self._store.ids.find(batch.ids).tolist():
            if slot >= 0:
                self._remove_slot(slot)
        bulk = len(batch) > BULK_SHARE * len(self) and len(batch) > self._settings.leaf_capacity
        entries = self._store.add(batch)
        if bulk:
            self.rebuild()
        else:
            self._change(entries, adding=True)

    def remove(self, subscription_id: int | str) -> None:
        """Take a live subscription out.  O(depth) nodes for each cell it is in."""
        self._remove_slot(self._store.slot_of(subscription_id))

    def rebuild(self) -> None:
        """Order the keywords by what is live now and build the whole tree again."""
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

    # ------------------------------------------------------------------ matching

    def match_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """The subscriptions each message reaches; the work is divided among `threads`."""
        if messages.space is not self.space:
            raise ValueError(f"the messages are in {messages.space}, the index in {self.space}")
        if threads < 1:
            raise ValueError(f"threads {threads} is too few; give at least 1")
        words = self._store.ranks_of(messages)
        arguments = (
            self._tree, self._store.clauses, self._store.regions.kernel_arrays(),
            self.space is Space.EARTH, words, messages.word_start, messages.rects,
            messages.rect_start,
        )  # fmt: skip
        borders = np.linspace(0, len(messages), threads + 1).astype(np.int64)
        if threads == 1:
            parts = [match_messages(*arguments, 0, len(messages))]
        else:
            with ThreadPoolExecutor(threads) as pool:
                parts = list(
                    pool.map(
                        lambda part: match_messages(*arguments, *part),
                        zip(borders[:-1], borders[1:], strict=True),
                    )
                )
        slots = np.concatenate([found for found, _, _ in parts])
        shift = np.cumsum([0, *(len(found) for found, _, _ in parts[:-1])])
        ends = np.concatenate([end + by for (_, end, _), by in zip(parts, shift, strict=True)])
        candidates = sum(int(count) for _, _, count in parts)
        self._candidates += candidates
        self._matches += len(slots)
        start = np.concatenate([np.zeros(1, np.int64), ends])
        return Matches(messages.ids, start, self._store.ids.ids_of(slots), candidates)

    # ------------------------------------------------------------------ looking things up

    def subscription(self, subscription_id: int | str) -> Subscription:
        return self._store.subscription(self._store.slot_of(subscription_id))

    def ids(self) -> list[int | str]:
        return [self._store.ids.id_of(slot) for slot in self._store.ids.live_slots().tolist()]

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, subscription_id: object) -> bool:
        if isinstance(subscription_id, bool) or not isinstance(subscription_id, int | str):
            return False
        return bool(self._store.ids.find(pa.array([subscription_id]))[0] >= 0)

    def stats(self) -> IndexStats:
        used = self._tree.used
        history = self._history.nbytes if self._history else 0
        return IndexStats(
            subscriptions=len(self),
            bytes=self._store.nbytes
            + sum(a.nbytes for a in self._tree_arrays().values())
            + history,
            nodes=int(used[NODES]),
            copies=float(used[RECORDS]) / max(1, int(used[ENTRIES])),
            candidates=self._candidates,
            matches=self._matches,
        )

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        entries = self._store.all_entries()
        check_tree(
            self._tree, self._store.clauses, self._settings, records_of(entries), self._world()
        )

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing.  O(size)."""
        self._tree = repack(self._tree)
        arrays = {f"store/{name}": array for name, array in self._store.arrays().items()}
        arrays |= {f"tree/{name}": array for name, array in self._tree_arrays().items()}
        if self._history:
            arrays |= {f"history/{name}": a for name, a in self._history.arrays().items()}
        meta = {
            "space": self.space.name,
            "order": [type(self._order).__name__, asdict(self._order)],
            "settings": list(self._settings),
            "has_history": self._history is not None,
        }
        storage.write_arrays(path, type(self).__name__, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index: checked and mapped, not built; O(size) for the checksums alone."""
        meta, arrays = storage.read_arrays(path, cls.__name__)
        index = cls.__new__(cls)
        index.space = Space[meta["space"]]
        order, parameters = meta["order"]
        index._order = _ORDERS[order](**parameters)
        index._settings = Settings(*meta["settings"])
        index._store = SubscriptionStore.from_arrays(_part(arrays, "store/"), index.space)
        index._tree = Tree(**_part(arrays, "tree/"))
        index._history = None
        if meta["has_history"]:
            index._history = MessageHistory.from_arrays(_part(arrays, "history/"))
        index._statistics = index._current_statistics()
        index._candidates = 0
        index._matches = 0
        return index

    # ------------------------------------------------------------------ private

    def _refuse(self, batch: SubscriptionBatch) -> None:
        """Everything that could go wrong, before anything is changed."""
        if batch.space is not self.space:
            raise ValueError(
                f"the subscriptions are in {batch.space}, the index in {self.space}; "
                "use one space for both"
            )
        for start in (batch.required_start, batch.forbidden_start):
            longest = int(np.diff(start).max(initial=0))
            if longest > MOST_WORDS:
                raise ValueError(
                    f"a clause of {longest} words is too long; the most is {MOST_WORDS}"
                )
        if self._store.words + len(batch.lexicon) >= NO_WORD:
            raise ValueError(f"an index can tell {NO_WORD} words apart, and this batch exceeds it")

    def _remove_slot(self, slot: int) -> None:
        self._change(self._store.entries_of(slot), adding=False)
        self._store.remove(slot)

    def _change(self, entries: Entries, *, adding: bool) -> None:
        self._tree, rank_again = change_all(
            self._tree, self._store.clauses, self._statistics, self._settings,
            records_of(entries), self._world(), adding,
        )  # fmt: skip
        if rank_again:
            self.rebuild()

    def _current_statistics(self) -> Statistics:
        if self._history is None:
            return Statistics(self._store.shares_by_rank(), np.empty((0, 2)), False)
        return self._history.statistics(self._store)

    def _world(self) -> NDArray[np.float64]:
        if self.space is Space.EARTH:
            return np.array([-180.0, -90.0, 180.0, 90.0])
        return np.array([-np.inf, -np.inf, np.inf, np.inf])

    def _tree_arrays(self) -> dict[str, NDArray[Any]]:
        tree, used = self._tree, self._tree.used
        return {
            "nodes": tree.nodes[: used[NODES]],
            "keys": tree.keys[: used[KEYS]],
            "edges": tree.edges[: used[EDGES]],
            "children": tree.children[: used[CHILDREN]],
            "weights": tree.weights[: used[CHILDREN]],
            "records": tree.records[: used[RECORDS]],
            "used": used,
        }


def records_of(entries: Entries) -> NDArray[np.int32]:
    """Entries as the records of `_layout`; what is left to check is filled in by the leaves."""
    records = np.zeros((len(entries), 8), np.int32)
    records[:, ENTRY] = entries.entry
    records[:, SLOT] = entries.slot
    records[:, WORD_A] = SHAPED * entries.is_shaped + SHARED * entries.is_shared
    records.view(np.float32)[:, 4:8] = entries.bounds
    return records


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
