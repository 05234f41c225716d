"""The index of the paper for lists of regions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.model import Space
from nearcast.model._checks import finite_number
from nearcast.trending._columns import DocumentColumns
from nearcast.trending._regions.check import check_rows
from nearcast.trending._regions.documents import LIVE
from nearcast.trending._regions.index import BASE, FlatRegions, wider
from nearcast.trending._regions.rows import HELD, K
from nearcast.trending._regions.runs import COUNT, START, Runs
from nearcast.trending._regions.table import Table
from nearcast.trending.decay import DEFAULT_HORIZON
from nearcast.trending.grouped_tables._groups import USED, Grouping, Groups, no_groups
from nearcast.trending.grouped_tables._inner_boxes import inner_boxes
from nearcast.trending.grouped_tables._process import join, leave, process
from nearcast.trending.term_rules import TermRules
from nearcast.trending.term_tables._scores import Scores, no_scores, renumbered_scores


class RST(FlatRegions):
    """TPG, the index of the paper on top-k term subscriptions (sections 4.4 to 4.6).

    Regions that are alike form a group: what is said in the box that all of them have in common is
    counted once, and a term that cannot be in any list of the group is left alone (Theorem 4). A
    new region goes to the group that stays most compact by it (Algorithm 9), if more than
    `compactness` of the box around the group is common to all then; theta in the paper. Groups are
    in cells of a quadtree. At 100,000 regions of 100 square kilometres `CellRows` is three to four
    times as fast, with an eighth of the memory.

    >>> from nearcast.model import Box, Message, Point, TrendingSubscription
    >>> index = RST(half_life=3600.0)
    >>> _ = index.subscribe(TrendingSubscription("city", Box(2.2, 48.8, 2.5, 48.9), k=2))
    >>> index.publish(Message(1, text="Rain, a bus, rain", at=Point(2.35, 48.86)))[0].terms
    (('rain', 2.0), ('bus', 1.0))
    """

    _by_term: ClassVar[bool] = False

    def __init__(
        self,
        *,
        half_life: float,
        horizon: int = DEFAULT_HORIZON,
        space: Space = Space.EARTH,
        lateness: float = 0.0,
        terms: TermRules | None = None,
        compactness: float = 0.5,
    ) -> None:
        self.compactness = finite_number(compactness, "compactness")
        if not 0 <= self.compactness <= 1:
            raise ValueError(
                f"compactness {self.compactness} is outside [0, 1]; 0.5 groups well, 1 nothing"
            )
        super().__init__(
            half_life=half_life, horizon=horizon, space=space, lateness=lateness, terms=terms
        )

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"compactness": self.compactness}

    def _begin(self) -> None:
        super()._begin()
        self._scores = no_scores()
        self._grouping = no_groups()
        self._group_of = np.zeros(0, np.int32)
        self._inside = np.zeros((0, 4))

    @staticmethod
    def _room(k: NDArray[np.int32]) -> NDArray[np.int32]:
        return k

    def _joined(self, slots: NDArray[np.int32]) -> None:
        self._group_of = wider(self._group_of, self._ids.slots)
        self._inside = wider(self._inside, self._ids.slots)
        self._inside[slots] = inner_boxes(self._regions.take(slots))
        self._grouping, self._scores = join(
            self._grouping, self._group_of, slots, self._inside, self.compactness, self._rows,
            self._kernel_regions, self._is_earth, self._levels, self._archive, self._scores,
            self._clock[BASE],
        )  # fmt: skip

    def _leaving(self, slot: int) -> None:
        self._scores = leave(
            self._grouping, self._group_of, np.int64(slot), self._inside, self._rows,
            self._kernel_regions, self._is_earth, self._levels, self._archive, self._scores,
            self._clock[BASE],
        )  # fmt: skip

    def _pass(self, columns: DocumentColumns, nows: NDArray[np.float64]) -> NDArray[np.int32]:
        changed = np.zeros(len(nows), np.int32)
        self._archive, self._scores, self._remembered = process(
            self._rows, np.int64(self._ids.slots), self._kernel_regions, self._is_earth,
            self._levels, self._grouping, self._archive, self._scores, self._terms, self._sums,
            self._remembered, self._spelling, columns, nows, self._clock,
            np.int64(self.decay.horizon), self._counts, changed,
            self._is_one_step,
        )  # fmt: skip
        return changed

    def _terms_renumbered(self, new_term: NDArray[np.int32]) -> None:
        self._scores = renumbered_scores(self._scores, new_term)

    def _parts(self) -> dict[str, Any]:
        return super()._parts() | {
            "scores": self._scores,
            "groups": self._grouping.groups,
            "group_runs": self._grouping.runs,
            "group_table": self._grouping.table,
        }

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return super()._arrays() | {"group_of": self._group_of, "inside": self._inside}

    def _take_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        super()._take_arrays(arrays)

        def taken(kind: Any, name: str) -> Any:
            part = storage.part(arrays, f"{name}/")
            return kind(*(part[field] for field in kind._fields))

        self._scores = taken(Scores, "scores")
        self._grouping = Grouping(
            taken(Groups, "groups"), taken(Runs, "group_runs"), taken(Table, "group_table")
        )
        self._group_of, self._inside = arrays["group_of"], arrays["inside"]

    def check(self) -> None:
        check_rows(self)
        groups, runs, rows = self._grouping.groups, self._grouping.runs, self._rows
        there = []
        for group in range(int(groups.ends[USED])):
            if groups.outer[group, 0] > groups.outer[group, 2]:
                continue
            head = runs.head[groups.members[group]]
            members = runs.pool[head[START] : head[START] + head[COUNT]]
            there += members.tolist()
            assert (self._group_of[members] == group).all()
            assert (groups.outer[group, :2] <= rows.bounds[members, :2]).all()
            assert (groups.outer[group, 2:] >= rows.bounds[members, 2:]).all()
            for slot in members.tolist():
                full = rows.head[slot, HELD] >= rows.head[slot, K]
                last = rows.score[self._list(slot)[1] - 1] if full else -1
                assert groups.floor[group] <= last
        assert sorted(there) == self._ids.live_slots().tolist()
        if not len(self) or not self._archive.documents.ends[LIVE]:
            assert self._scores.ends[0] == 0
