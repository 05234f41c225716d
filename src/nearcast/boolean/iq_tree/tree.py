"""The IQ-tree: a quadtree first, and in each of its cells lists by the rarest word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.boolean._quad import QuadIndex
from nearcast.boolean._quad._cells import CONTENT, ROOT_CODE
from nearcast.boolean._quad._check import cells_below
from nearcast.boolean._quad._lists import LIST_BITS
from nearcast.boolean._records import EMPTY, run_count, run_start
from nearcast.boolean._run_pool import RECORDS, packed
from nearcast.boolean.iq_tree._kernels import (
    NODES,
    SLOTS,
    Cells,
    drop_all,
    empty_cells,
    hang_all,
    put_all,
    take_list,
    walk,
)
from nearcast.boolean.record_index import Runs
from nearcast.model import Space

# A list at the root that grows past this is asked whether it should not be in smaller cells.
LONG_LIST = 64


class IQTree(QuadIndex):
    """Quadtree whose cells have ranked-key inverted lists.

    Each entry is attached to one or several cells, large and small, that together contain its
    region; in each it is in the list of its rarest word. A message goes through the cells around
    its place, from the root down, and verifies what the lists of its words hold there.

    Cells are chosen by a cost model that weighs verifications against copies: a small cell is hit
    by few messages, but it takes many to cover a region. Words and places of the messages to come
    are those of the `history`, or of the subscriptions where there is none.

    Parameters
    ----------
    space: what coordinates mean
    history: messages that stand for those to come; without them subscriptions do
    update_cost: what attaching an entry to one more cell must be worth, in verifications spared per
        message
    most_cells: an entry is attached to so many cells at most; bounds memory

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = IQTree()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.remove("deals")
    >>> len(index)
    0

    References
    ----------
    L. Chen, G. Cong, X. Cao: An Efficient Query Indexing Mechanism for Processing Geo-textual Data.
    SIGMOD 2013. As in X. Wang et al., ICDE 2015, sections II-C and V-A: the cost model counts
    verifications, not pages read.
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        history: MessageBatch | None = None,
        update_cost: float = 1e-4,
        most_cells: int = 16,
    ) -> None:
        super().__init__(space, history, update_cost, most_cells, LONG_LIST)
        self._cells = empty_cells()

    # ------------------------------------------------------------------ for QuadIndex

    def _sort_keys(self, lists: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return codes << LIST_BITS | lists

    def _hang(
        self,
        lists: NDArray[np.int64],
        codes: NDArray[np.int64],
        references: NDArray[np.int64],
        words: int,
    ) -> None:
        self._cells = hang_all(empty_cells(), lists, codes, references)

    def _divides(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(len(sizes), bool)

    def _put(
        self,
        records: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        self._cells, self._pool, long = put_all(
            self._cells, self._pool, records, lists, owner, codes, self._list_capacity
        )
        return long

    def _drop(
        self,
        entries: NDArray[np.int32],
        lists: NDArray[np.int32],
        owner: NDArray[np.int32],
        codes: NDArray[np.int64],
    ) -> None:
        drop_all(self._cells, self._pool, entries, lists, owner, codes)

    def _take(self, number: int) -> NDArray[np.int32]:
        records: NDArray[np.int32] = take_list(self._cells, self._pool, number)
        return records

    def _pack(self) -> None:
        self._pool = packed(self._pool, self._cells.references[: self._cells.used[SLOTS]])

    def _held(self) -> dict[tuple[int, int], NDArray[np.int32]]:
        held = {}
        cells, slots = self._cells, 0
        for row, code in cells_below(cells.nodes, 0, ROOT_CODE):
            table = int(cells.nodes[row, CONTENT])
            start, count, bits = (table >> 33) << 2, (table >> 5) & 0xFFFFFFF, table & 31
            lists = cells.keys[start : start + 2**bits].tolist() if table else []
            assert sum(number >= 0 for number in lists) == count
            assert 2 * count <= len(lists)
            slots += len(lists)
            for slot, number in enumerate(lists, start):
                reference = cells.references[slot]
                assert (number >= 0) == (reference != EMPTY)
                if number >= 0:
                    begin = run_start(reference)
                    held[number, code] = self._records[begin : begin + run_count(reference)]
        assert slots <= cells.used[SLOTS]
        return held

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
            self._cells, self._grid.frame, have, have_start, rects, rect_start, first, last
        )
        return runs

    def _nodes_and_copies(self) -> tuple[int, float]:
        copies = float(self._pool.used[RECORDS]) / max(1, self._entries)
        return int(self._cells.used[NODES]), copies

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        settings, arrays = super()._arrangement()
        cells, used = self._cells, self._cells.used
        arrays |= {
            "nodes": cells.nodes[: used[NODES]],
            "keys": cells.keys[: used[SLOTS]],
            "references": cells.references[: used[SLOTS]],
            "used": used,
        }
        return settings, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        super()._arrange_from(settings, arrays)
        self._cells = Cells(*(arrays[field] for field in Cells._fields))
