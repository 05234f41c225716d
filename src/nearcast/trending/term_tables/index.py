"""The two simple methods of the paper: every region has a table of all its terms."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.model import Space
from nearcast.model._checks import positive_count
from nearcast.trending._columns import DocumentColumns
from nearcast.trending._regions.check import check_rows
from nearcast.trending._regions.documents import LIVE
from nearcast.trending._regions.index import BASE, FlatRegions
from nearcast.trending.decay import DEFAULT_HORIZON
from nearcast.trending.term_rules import TermRules
from nearcast.trending.term_tables._process import DIRECT, INDEXED, count_regions, process
from nearcast.trending.term_tables._scores import Scores, no_scores, renumbered_scores


class TermTables(FlatRegions):
    """What every term has in every region, in one table; a method says how lists follow.

    The cells of its grids are `cells_larger` times as large as those of other indexes, which are
    just as large as regions; it is rounded up to a power of two.
    """

    _by_term: ClassVar[bool] = False
    _method: ClassVar[int]

    def __init__(
        self,
        *,
        half_life: float,
        horizon: int = DEFAULT_HORIZON,
        space: Space = Space.EARTH,
        lateness: float = 0.0,
        terms: TermRules | None = None,
        cells_larger: int = 1,
    ) -> None:
        self.cells_larger = positive_count(cells_larger, "cells_larger")
        self._levels_up = (self.cells_larger - 1).bit_length()
        super().__init__(
            half_life=half_life, horizon=horizon, space=space, lateness=lateness, terms=terms
        )

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"cells_larger": self.cells_larger}

    def _begin(self) -> None:
        super()._begin()
        self._scores = no_scores()

    @staticmethod
    def _room(k: NDArray[np.int32]) -> NDArray[np.int32]:
        return k

    def _joined(self, slots: NDArray[np.int32]) -> None:
        self._count(1, slots)

    def _leaving(self, slot: int) -> None:
        self._count(-1, np.array([slot], np.int32))

    def _count(self, sign: int, slots: NDArray[np.int32]) -> None:
        if self._archive.documents.ends[LIVE]:
            self._scores = count_regions(
                np.int64(sign), self._rows, slots, self._kernel_regions, self._is_earth,
                self._levels, self._archive, self._scores, self._sums, self._clock[BASE],
            )  # fmt: skip

    def _pass(self, columns: DocumentColumns, nows: NDArray[np.float64]) -> NDArray[np.int32]:
        changed = np.zeros(len(nows), np.int32)
        self._archive, self._scores, self._remembered = process(
            np.int64(self._method), self._rows, np.int64(self._ids.slots), self._kernel_regions,
            self._is_earth, self._levels, self._homes, self._archive, self._scores, self._terms,
            self._sums, self._remembered, self._spelling, columns, nows, self._clock,
            np.int64(self.decay.horizon), self._counts, changed,
            self._is_one_step,
        )  # fmt: skip
        return changed

    def _terms_renumbered(self, new_term: NDArray[np.int32]) -> None:
        self._scores = renumbered_scores(self._scores, new_term)

    def _parts(self) -> dict[str, Any]:
        return super()._parts() | {"scores": self._scores}

    def _take_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        super()._take_arrays(arrays)
        taken = storage.part(arrays, "scores/")
        self._scores = Scores(*(taken[field] for field in Scores._fields))

    def check(self) -> None:
        check_rows(self)
        if not len(self) or not self._archive.documents.ends[LIVE]:
            assert self._scores.ends[0] == 0


class DS(TermTables):
    """Direct processing (section 4.1 of the paper on top-k term subscriptions).

    For each term of a document, and each region that has it, the scores of the whole list are
    looked up in the table and sorted.

    >>> from nearcast.model import Box, Message, Point, TrendingSubscription
    >>> index = DS(half_life=3600.0)
    >>> _ = index.subscribe(TrendingSubscription("city", Box(2.2, 48.8, 2.5, 48.9), k=2))
    >>> index.publish(Message(1, text="Rain, a bus, rain", at=Point(2.35, 48.86)))[0].terms
    (('rain', 2.0), ('bus', 1.0))
    """

    _method = DIRECT


class TP(TermTables):
    """The TP index (section 4.3 of the paper on top-k term subscriptions).

    The order of a list does not change while time passes (Lemma 4), so that a document only adds to
    what a term had (Lemma 5), in the table and in the list.

    >>> from nearcast.model import Box, Message, Point, TrendingSubscription
    >>> index = TP(half_life=3600.0)
    >>> _ = index.subscribe(TrendingSubscription("city", Box(2.2, 48.8, 2.5, 48.9), k=2))
    >>> index.publish(Message(1, text="Rain, a bus, rain", at=Point(2.35, 48.86)))[0].terms
    (('rain', 2.0), ('bus', 1.0))
    """

    _method = INDEXED
