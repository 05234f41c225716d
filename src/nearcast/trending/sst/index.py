"""The indexes of "Top-k term subscriptions" (VLDB Journal) for nearness, section 3 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.model import Space
from nearcast.model._checks import finite_number, positive_count
from nearcast.space.road_network import Labels, RoadNetwork
from nearcast.trending._columns import DocumentColumns
from nearcast.trending._nearby.index import FlatNearby
from nearcast.trending.decay import DEFAULT_HORIZON
from nearcast.trending.sst._groups import Groups, no_groups
from nearcast.trending.sst._lists import LAT, LEAF, LISTED, LON, K, Lists, no_lists
from nearcast.trending.sst._process import (
    BASELINE,
    GROUPED,
    IN_CELLS,
    TAILORED,
    Pieces,
    publish_all,
    subscribe_all,
    unsubscribe_one,
)
from nearcast.trending.sst._quadtree import CHILD, COUNT, LABEL, Quadtree, no_quadtree
from nearcast.trending.sst._roads import Roads, roads_of
from nearcast.trending.term_rules import TermRules
from nearcast.trending.terms_changes import NumberedLists

GROUP_WIDTH = 10.0  # in `a`; in the paper 100 km where `a` is 5 to 20


class SST(FlatNearby):
    """HSFTS of the paper: cells of subscriptions, groups of documents (sections 3.2 to 3.4).

    A document is looked at term by term. The documents of a term are in groups of one neighbourhood
    (Algorithm 2), whose weights bound what the term has in a cell; cells in whose lists it cannot
    come are passed over (Theorem 3). What is left computes the term's score from its documents, and
    only that term moves in a list (Lemma 3).

    Other than printed: weights are relative to a landmark that moves, so that Eq. 12 does not
    overflow; distances of boxes are straight lines in space, so that bounds hold on the Earth; old
    documents are forgotten one by one and the groups made again (Eq. 14 forgets whole groups).

    - `group_width`: no group of documents is longer across; Tdist in the paper, 10 `a` unless given
    - `cell_capacity`: a cell with more subscriptions is cut in four; M in the paper
    - `roads`: distances are those along these roads. Straight ones, which are never longer, still
      bound scores (Theorem 2)

    >>> from nearcast.model import Message, NearbyTrendingSubscription, Point
    >>> index = SST(half_life=3600.0)
    >>> here = Point(2.35, 48.86)
    >>> index.subscribe(NearbyTrendingSubscription("me", here, k=2))
    []
    >>> _ = index.publish(Message(1, text="Rain and more rain", at=here, time=0.0))
    >>> index.publish(Message(2, text="Bus bus bus", at=here, time=60.0))[0].entered
    ('bus',)
    """

    _parts: ClassVar[dict[str, Any]] = {
        "lists": Lists,
        "groups": Groups,
        "tree": Quadtree,
        "roads": Roads,
    }
    _piece: ClassVar[int] = IN_CELLS
    follows_roads = True

    def __init__(
        self,
        *,
        half_life: float,
        a: float | None = None,
        max_error: float = 0.01,
        horizon: int = DEFAULT_HORIZON,
        space: Space = Space.EARTH,
        lateness: float = 0.0,
        terms: TermRules | None = None,
        group_width: float | None = None,
        cell_capacity: int = 32,
        roads: RoadNetwork | None = None,
    ) -> None:
        self._group_width = group_width
        if group_width is not None and finite_number(group_width, "group_width") < 0:
            raise ValueError(f"group_width {group_width} is negative; give a distance")
        self.cell_capacity = positive_count(cell_capacity, "cell_capacity")
        super().__init__(
            half_life=half_life,
            a=a,
            max_error=max_error,
            horizon=horizon,
            space=space,
            lateness=lateness,
            terms=terms,
            roads=roads,
        )

    def settings(self) -> dict[str, Any]:
        chosen = {"group_width": self._group_width, "cell_capacity": self.cell_capacity}
        return super().settings() | chosen

    @property
    def group_width(self) -> float:
        """How long groups of documents may be across."""
        return GROUP_WIDTH * self.a if self._group_width is None else float(self._group_width)

    def _begin_parts(self) -> None:
        self._roads = roads_of(self.roads)
        self._lists = no_lists()
        self._groups = no_groups()
        self._tree = no_quadtree()

    def _enter(
        self, slots: NDArray[np.int32], k: NDArray[np.int32], at: NDArray[np.float64]
    ) -> None:
        self._room_for_lists(int(slots.max()) + 1, int(k.max()))
        self._room_for_groups()
        self._state = subscribe_all(
            self._state,
            slots,
            k,
            at,
            self._snapped(at),
            self._pieces,
            self._vocabulary.spelling(),
            self._rules,
        )

    def _leave(self, slot: int) -> None:
        unsubscribe_one(self._lists, self._tree, slot, self._pieces)

    def _pass(
        self, columns: DocumentColumns, now: NDArray[np.float64], until: float
    ) -> NDArray[np.int32]:
        self._room_for_groups()
        self._state, changed = publish_all(
            self._state,
            columns.moment,
            now,
            columns.middle,
            self._snapped(columns.middle),
            columns.term_start,
            columns.term,
            columns.times,
            until,
            self._is_one_step,
            self._pieces,
            self._vocabulary.spelling(),
            self._rules,
        )
        return changed

    def _read(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        listed = int(self._lists.head[slot, LISTED])
        return self._lists.term[slot, :listed], self._lists.score[slot, :listed]

    def _read_all(self, touched: NDArray[np.int32]) -> tuple[NumberedLists, NDArray[np.float64]]:
        lists = self._lists
        first = touched.astype(np.int64) * lists.term.shape[1]
        length = lists.head[touched, LISTED].astype(np.int64)
        return NumberedLists(lists.term.reshape(-1), first, length), lists.score.reshape(-1)

    def _wanted(self, slot: int) -> tuple[float, float, int]:
        lon, lat = self._lists.place[slot, [LON, LAT]].tolist()
        return lon, lat, int(self._lists.head[slot, K])

    def _mark_listed(self, is_listed: NDArray[np.bool_]) -> None:
        is_listed[self._lists.term[self._in_lists()]] = True

    def _renumber(self, new: NDArray[np.int32]) -> None:
        in_lists = self._in_lists()
        self._lists.term[in_lists] = new[self._lists.term[in_lists]]
        groups = no_groups()  # made again when their terms are said
        self._groups = groups._replace(first=np.full((0, 2), -1, np.int32))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        network = {} if self.roads is None else self.roads.arrays()
        return super()._arrays() | {f"network/{name}": array for name, array in network.items()}

    def _take_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._take_arrays(arrays)
        network = storage.part(arrays, "network/")
        if network:
            labels = Labels(self._roads.first, self._roads.hub, self._roads.far)
            self.roads = RoadNetwork.from_arrays(network, self.space, labels)

    def _check_parts(self) -> None:
        lists, live = self._lists, self._ids.live_slots()
        for slot in live.tolist():
            terms, scores = self._read(slot)
            assert len(set(terms.tolist())) == len(terms) <= lists.head[slot, K]
            assert (np.diff(scores) <= 1e-10 * scores[:-1]).all()
            if self._piece == IN_CELLS:
                node = int(lists.head[slot, LEAF])
                last = scores[-1] if len(terms) == lists.head[slot, K] else 0.0
                assert self._tree.link[node, CHILD] < 0 < self._tree.link[node, COUNT]
                assert self._tree.box[node, LABEL] <= last
        if self._piece == IN_CELLS:
            assert self._tree.link[0, COUNT] == len(live)

    def _in_lists(self) -> NDArray[np.bool_]:
        """Which entries of the array of terms are in a list?"""
        width = self._lists.term.shape[1]
        listed = np.where(self._lists.head[:, K] > 0, self._lists.head[:, LISTED], 0)
        return np.arange(width) < listed[:, None]

    def _room_for_lists(self, size: int, k: int) -> None:
        lists = self._lists
        rows, width = lists.term.shape
        if size > rows or k > width:
            rows = max(rows, size + size // 8 if size > rows else size)
            width = max(width, k)
            self._lists = Lists(
                _grown(lists.place, (rows, 5)),
                _grown(lists.head, (rows, 6)),
                _grown(lists.term, (rows, width)),
                _grown(lists.score, (rows, width)),
            )
            if self.roads is not None:
                subscriber = _grown(self._roads.subscriber, (rows, 2))
                self._roads = self._roads._replace(subscriber=subscriber)

    def _room_for_groups(self) -> None:
        held, needed = len(self._groups.first), len(self._documents.lists)
        if needed > held:
            more = np.tile(np.array([-1, 0], np.int32), (needed - held, 1))
            self._groups = self._groups._replace(first=np.concatenate([self._groups.first, more]))

    def _snapped(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where places are on the roads."""
        return np.zeros((1, 2)) if self.roads is None else self.roads.nearest(at)

    @property
    def _pieces(self) -> Pieces:
        return Pieces(self._piece, self.group_width, self.cell_capacity)

    @property
    def _state(self) -> Any:
        return (
            self._documents, self._lists, self._groups, self._tree, self._roads, self._touched
        )  # fmt: skip

    @_state.setter
    def _state(self, state: Any) -> None:
        (
            self._documents, self._lists, self._groups, self._tree, self._roads, self._touched
        ) = state  # fmt: skip


class FTS(SST):
    """As `SST`, every subscription by itself: groups of documents bound scores (section 3.3)."""

    _piece = GROUPED


class TS(SST):
    """As `SST`, every score is computed, but lists stay sorted (section 3.2, Algorithm 1)."""

    _piece = TAILORED


class NearbyBaseline(SST):
    """Every score is computed and every list sorted, for each document (section 3.1)."""

    _piece = BASELINE


def _grown(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    larger = np.zeros(shape, array.dtype)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger
