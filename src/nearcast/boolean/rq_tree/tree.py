"""The RQ-tree: lists by the rarest word first, and a quadtree in each long one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.boolean._quad import QuadIndex
from nearcast.boolean._quad._cells import CODE_BITS, CONTENT, ROOT_CODE
from nearcast.boolean._quad._check import children_below
from nearcast.boolean._records import EMPTY, run_count, run_start
from nearcast.boolean._run_pool import RECORDS, packed
from nearcast.boolean.record_index import Runs
from nearcast.boolean.rq_tree._kernels import (
    LISTS,
    NODES,
    Lists,
    drop_all,
    empty_lists,
    hang_all,
    put_all,
    take_list,
    walk,
    with_lists,
)
from nearcast.model import Space


class RQTree(QuadIndex):
    """Ranked-key inverted lists, long ones divided by a quadtree.

    Each entry is in the list of its rarest word. A list of more than `list_capacity` entries has a
    quadtree of its own, in which an entry is attached to one or several cells, large and small,
    that together contain its region. A message goes through the lists of its words, in each down
    the cells around its place, and verifies what these hold.

    Cells are chosen by the same cost model as those of the `IQTree`: what is spared in
    verifications is weighed against copies.

    Parameters
    ----------
    space: what coordinates mean
    history: messages that stand for those to come; without them subscriptions do
    update_cost: what attaching an entry to one more cell must be worth, in verifications spared per
        message
    most_cells: an entry is attached to so many cells at most; bounds memory
    list_capacity: a longer list is divided

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = RQTree()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.remove("deals")
    >>> len(index)
    0

    References
    ----------
    X. Wang, Y. Zhang, W. Zhang, X. Lin, W. Wang: AP-Tree: Efficiently Support Continuous
    Spatial-Keyword Queries Over Stream. ICDE 2015, section V-A.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        history: MessageBatch | None = None,
        update_cost: float = 1e-4,
        most_cells: int = 16,
        list_capacity: int = 32,
    ) -> None:
        super().__init__(space, history, update_cost, most_cells, list_capacity)
        self._lists = empty_lists(1)

    # ------------------------------------------------------------------ for QuadIndex

    def _sort_keys(self, lists: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return lists << CODE_BITS | codes

    def _hang(
        self,
        lists: NDArray[np.int64],
        codes: NDArray[np.int64],
        references: NDArray[np.int64],
        words: int,
    ) -> None:
        self._lists = hang_all(empty_lists(words + 1), lists, codes, references)

    def _divides(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        is_long: NDArray[np.bool_] = sizes > self._list_capacity
        return is_long

    def _put(
        self,
        records: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        self._lists, self._pool, long = put_all(
            with_lists(self._lists, self._store.words + 1),
            self._pool, records, lists, owner, codes, self._list_capacity,
        )  # fmt: skip
        return long

    def _drop(
        self,
        entries: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> None:
        drop_all(self._lists, self._pool, entries, lists, owner, codes)

    def _take(self, number: int) -> NDArray[np.int32]:
        records: NDArray[np.int32] = take_list(self._lists, self._pool, number)
        return records

    def _pack(self) -> None:
        roots = self._lists.roots[: self._lists.used[LISTS], CONTENT]
        nodes = self._lists.nodes[: self._lists.used[NODES], CONTENT]
        references = np.concatenate([roots, nodes])
        self._pool = packed(self._pool, references)
        roots[:], nodes[:] = references[: len(roots)], references[len(roots) :]

    def _held(self) -> dict[tuple[int, int], NDArray[np.int32]]:
        lists = self._lists
        assert lists.used[LISTS] == len(self._chance.used)
        nodes = lists.nodes[: lists.used[NODES]]
        references = {}
        for number, (reference, block) in enumerate(lists.roots[: lists.used[LISTS]].tolist()):
            references[number, ROOT_CODE] = reference
            for row, code in children_below(nodes, block, ROOT_CODE):
                references[number, code] = int(nodes[row, CONTENT])
            assert block == 0 or self._divided.used[number]
        return {
            key: self._records[run_start(reference) : run_start(reference) + run_count(reference)]
            for key, reference in references.items()
            if reference != EMPTY
        }

    # ------------------------------------------------------------------ for RecordIndex

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
            self._lists, self._grid.frame, have, have_start, rects, rect_start, first, last
        )
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        copies = float(self._pool.used[RECORDS]) / max(1, self._entries)
        return int(self._lists.used[NODES]), copies

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        settings, arrays = super()._arrangement()
        used = self._lists.used
        arrays |= {
            "roots": self._lists.roots[: used[LISTS]],
            "nodes": self._lists.nodes[: used[NODES]],
            "used": used,
        }
        return settings, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        super()._arrange_from(settings, arrays)
        self._lists = Lists(*(arrays[field] for field in Lists._fields))
