"""The index: rows that documents update in place, and cells that tell who need not be asked."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast.trending._columns import DocumentColumns
from nearcast.trending._regions.check import check_rows
from nearcast.trending._regions.index import FlatRegions
from nearcast.trending.cell_rows._process import process


class CellRows(FlatRegions):
    """Lists of regions, a row of terms each, next to those of regions nearby.

    No table of all terms of each region is kept, as the indexes of the paper have it: a row has the
    terms of the list and a few more, with their scores, and the documents are kept once, by cell
    and term. A document passes over the rows whose regions have it, which lie side by side, and
    adds to the terms that are there. Of the others, most are known to have too little by what is
    said in the cells around; only the rest is counted.

    >>> from nearcast.model import Box, Message, Point, TrendingSubscription
    >>> index = CellRows(half_life=3600.0)
    >>> index.subscribe(TrendingSubscription("city", Box(2.2, 48.8, 2.5, 48.9), k=2))
    []
    >>> here = Point(2.35, 48.86)
    >>> index.publish(Message(1, text="Rain, rain and a bus", at=here, time=0.0))[0].entered
    ('rain', 'bus')
    >>> index.top("city", now=3600.0)
    (('rain', 1.0), ('bus', 0.5))
    """

    _by_term: ClassVar[bool] = True

    @staticmethod
    def _room(k: NDArray[np.int32]) -> NDArray[np.int32]:
        """Some more than the list has; rows are whole cache lines of terms or nearly so."""
        return (k + 13) // 8 * 8

    def _pass(self, columns: DocumentColumns, nows: NDArray[np.float64]) -> NDArray[np.int32]:
        changed = np.zeros(len(nows), np.int32)
        self._archive, self._remembered = process(
            self._rows, np.int64(self._ids.slots), self._kernel_regions, self._is_earth,
            self._levels, self._homes, self._archive, self._terms, self._sums, self._remembered,
            self._spelling, columns, nows, self._clock, np.int64(self.decay.horizon), self._counts,
            changed, self._is_one_step,
        )  # fmt: skip
        return changed

    def check(self) -> None:
        check_rows(self)
