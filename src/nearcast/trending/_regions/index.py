"""What indexes for lists of regions have in common, around their kernels."""

from __future__ import annotations

import os
from abc import abstractmethod
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean.id_table import IdTable
from nearcast.boolean.index import possible_id
from nearcast.list_differences import which_differ
from nearcast.model import Id, Message, Space, TrendingSubscription
from nearcast.space import RegionColumn
from nearcast.trending._columns import DocumentColumns, columns_of_batch, columns_of_one
from nearcast.trending._cycles import IS_ASKED
from nearcast.trending._regions.documents import LIVE, Archive, Documents, no_documents
from nearcast.trending._regions.homes import (
    Homes,
    fill,
    no_homes,
    open_level,
    renumbered,
    settle,
    unsettle,
)
from nearcast.trending._regions.places import (
    EVERYWHERE,
    HOMES_ACROSS,
    Levels,
    cell_size,
    level_codes,
    no_levels,
)
from nearcast.trending._regions.postings import Regions, Sums, Terms
from nearcast.trending._regions.remembered import (
    LISTS,
    STEPS,
    Remembered,
    nothing,
    nothing_more,
)
from nearcast.trending._regions.rows import HELD, LEVEL, ROOM, STEP, K, Rows, Spelling, no_rows
from nearcast.trending._regions.runs import Runs
from nearcast.trending._regions.table import Table
from nearcast.trending._vocabulary import Vocabulary
from nearcast.trending.decay import WEIGHT_BITS
from nearcast.trending.index import (
    MOST_SHOWN,
    AnyTrending,
    TrendingIndex,
    TrendingStats,
    check_length,
)
from nearcast.trending.terms_change import Terms as RankedTerms
from nearcast.trending.terms_change import TermsChange, terms_change
from nearcast.trending.terms_changes import NumberedLists, TermsChanges

FEW_TERMS = 4096
LAST_STEP = 2**31 - 2
CACHE_LINE = 64
BASE, STARTED = 0, 1


class FlatRegions(TrendingIndex):
    """Ids, regions, rows, documents and terms in flat arrays; an index adds how they are used."""

    kinds: ClassVar[tuple[type, ...]] = (TrendingSubscription,)

    _by_term: ClassVar[bool]
    """Are there runs of documents by cell and term, or by cell only?"""

    _is_one_step: bool = False
    """Are lists remembered from before all documents of a batch, or from before each?"""

    _levels_up: int = 0
    """How many levels above the one that fits regions are?"""

    def _begin(self) -> None:
        self._ids = IdTable()
        self._regions = RegionColumn.empty(self.space)
        self._rows = no_rows()
        self._row_places = 0
        self._unused_places = 0
        self._levels = no_levels()
        self._homes = no_homes()
        self._archive = no_documents()
        self._vocabulary = Vocabulary(self.terms)
        self._terms = Terms(np.zeros(0, np.int32), np.zeros(0, np.int64))
        self._sums = Sums(np.zeros(0, np.int64), np.zeros(0, np.int32))
        self._terms_when_counted = 0
        self._remembered = nothing()
        self._clock = np.zeros(2, np.int64)
        self._counts = np.zeros(7, np.int64)

    # ------------------------------------------------------------------ what an index adds

    @staticmethod
    @abstractmethod
    def _room(k: NDArray[np.int32]) -> NDArray[np.int32]:
        """How many terms the rows of lists so long have room for."""

    @abstractmethod
    def _pass(self, columns: DocumentColumns, nows: NDArray[np.float64]) -> NDArray[np.int32]:
        """Documents come, or with none of them time passes: how many lists each has changed.

        That is not counted, and lists are remembered from before the first, while `_is_one_step`.
        """

    def _joined(self, slots: NDArray[np.int32]) -> None:
        """These have a home and a row that is right."""

    def _leaving(self, slot: int) -> None:
        """This one will leave its home."""

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: AnyTrending) -> list[TermsChange]:
        self._check_subscription(subscription)
        known = self._ids.has(subscription.id)
        before = self._names(self._ids.slot_of(subscription.id)) if known else ()
        self.subscribe_many([subscription])
        change = terms_change(subscription.id, before, self.top(subscription.id))
        return [change] if change else []

    def subscribe_many(self, subscriptions: list[Any]) -> None:
        self.check_many(subscriptions)
        for kind in (int, str):
            part = [each for each in subscriptions if isinstance(each.id, kind)]
            ids = pa.array(
                [each.id for each in part], pa.int64() if kind is int else pa.large_string()
            )
            regions = RegionColumn.of_regions([each.region for each in part], self.space)
            self.subscribe_columns(ids, regions, np.array([each.k for each in part], np.int32))

    def subscribe_columns(
        self, ids: pa.Array, regions: RegionColumn, k: NDArray[np.int32] | int = 10
    ) -> None:
        """Add subscriptions of different ids, or replace live ones, without an object each."""
        if len(ids) == 0:
            return
        self._check_space("the regions", regions.space)
        k = np.broadcast_to(np.asarray(k), len(ids))
        for row in np.flatnonzero((k < 1) | (k > MOST_SHOWN)).tolist():
            check_length(f"subscription {ids[row].as_py()!r}", k[row])
        k = k.astype(np.int32)
        rows, covers = regions.covers()
        codes = level_codes(rows, covers, self._levels_up)
        bounds = covers[np.searchsorted(rows, np.arange(len(ids)))]
        bounds[codes == EVERYWHERE] = (-np.inf, -np.inf, np.inf, np.inf)
        known = self._ids.find(ids)
        for slot in known[known >= 0].tolist():
            self._leave(slot)
        # In the order of homes, so that who is looked at together lies together.
        homes = np.array([cell_size(int(code)) for code in np.unique(codes)]) / HOMES_ACROSS
        size = homes[np.searchsorted(np.unique(codes), codes)][:, None]
        home = np.floor(np.where(np.isfinite(bounds[:, :2]), bounds[:, :2], 0.0) / size)
        order = np.lexsort((home[:, 1], home[:, 0], codes))
        fresh = order[known[order] < 0]
        slots = known.copy()
        slots[fresh] = self._ids.add(ids.take(pa.array(fresh)))
        self._room_for_slots(self._ids.slots)
        self._regions.put(slots, regions)
        self._rows.bounds[slots] = bounds
        self._give_rows(slots, k)
        self._enter_levels(slots, codes, bounds)
        settled = slots[order]
        self._homes = settle(self._homes, self._rows, self._levels, settled)
        self._fill(settled)
        self._joined(settled)

    def unsubscribe(self, subscription_id: Id) -> None:
        slot = self._slot(subscription_id)
        self._leave(slot)
        self._ids.remove_one(slot)

    def _leave(self, slot: int) -> None:
        self._leaving(slot)
        unsettle(self._homes, self._rows, self._levels, np.int64(slot))
        head = self._rows.head[slot]
        self._levels.held[head[LEVEL]] -= 1
        head[K] = head[HELD] = 0

    def _give_rows(self, slots: NDArray[np.int32], k: NDArray[np.int32]) -> None:
        """A place for the row of each: its old one where that is large enough."""
        rows = self._rows
        room = self._room(k)
        small = rows.head[slots, ROOM] < room
        self._unused_places += int(rows.head[slots[small], ROOM].sum())
        ends = self._row_places + np.cumsum(room[small], dtype=np.int64)
        rows.start[slots[small]] = ends - room[small]
        rows.head[slots[small], ROOM] = room[small]
        rows.head[slots, K] = k
        rows.head[slots, HELD] = 0
        rows.outside[slots] = 0
        if small.any():
            self._row_places = int(ends[-1])
            self._rows = rows._replace(
                term=wider(rows.term, self._row_places), score=wider(rows.score, self._row_places)
            )
        if self._unused_places > 1024 + self._row_places // 2:
            self._pack_rows()

    def _pack_rows(self) -> None:
        """Close the gaps between rows that have moved."""
        rows = self._rows
        room = rows.head[:, ROOM].astype(np.int64)
        ends = np.cumsum(room)
        old = np.repeat(rows.start - (ends - room), room) + np.arange(ends[-1])
        rows.start[:] = ends - room
        self._rows = rows._replace(term=rows.term[old], score=rows.score[old])
        self._row_places, self._unused_places = int(ends[-1]), 0

    def _enter_levels(
        self, slots: NDArray[np.int32], codes: NDArray[np.int64], bounds: NDArray[np.float32]
    ) -> None:
        levels = self._levels
        for code in np.unique(codes).tolist():
            mine = codes == code
            known = np.flatnonzero(levels.code[: levels.ends[0]] == code)
            if len(known):
                level = int(known[0])
            else:
                level = int(levels.ends[0])
                levels.ends[0] += 1
                levels.code[level] = code
                levels.size[level] = cell_size(code)
                self._archive = open_level(
                    self._archive, levels, np.int64(level), self._clock[BASE], self._by_term
                )
            extent = bounds[mine, 2:].astype(np.float64) - bounds[mine, :2]
            levels.reach[level] = np.maximum(levels.reach[level], extent.max(axis=0))
            levels.held[level] += int(mine.sum())
            self._rows.head[slots[mine], LEVEL] = level

    def _fill(self, slots: NDArray[np.int32]) -> None:
        if self._archive.documents.ends[LIVE]:
            fill(
                self._rows, slots, self._levels, self._archive, self._kernel_regions,
                self._is_earth, self._clock[BASE], self._sums, self._spelling,
            )  # fmt: skip

    # ------------------------------------------------------------------ documents

    def publish(self, message: Message) -> list[TermsChange]:
        now = self._checked_time(message)
        self._tidy()
        columns = columns_of_one(message, self._vocabulary, self.decay)
        self._room_for_terms()
        self._pass(columns, np.array([self.decay.moment(now)]))
        self.now = now
        return self._changes()

    def publish_as_columns(self, messages: MessageBatch) -> TermsChanges:
        self._is_one_step = True
        try:
            if not len(self.publish_batch(messages)):
                return TermsChanges.of([])
        finally:
            self._is_one_step = False
        remembered, rows = self._remembered, self._rows
        count = int(remembered.ends[LISTS])
        self._remembered = nothing_more(remembered)
        slots, start = remembered.slot[:count], remembered.start[: count + 1]
        before = NumberedLists(remembered.term, start[:-1], np.diff(start))
        length = np.minimum(rows.head[slots, K], rows.head[slots, HELD]).astype(np.int64)
        after = NumberedLists(rows.term, rows.start[slots], length)
        differs = which_differ(
            before.number, before.first, before.length, after.number, after.first, after.length
        )
        before, after = before.take(differs), after.take(differs)
        return TermsChanges.between(
            self._ids.ids_of(slots[differs]), before, after,
            after.copied(rows.score).astype(np.float64) * self._unit(self.now),
            self._vocabulary.terms,
        )  # fmt: skip

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        nows = self.check_batch(messages)
        if len(messages) == 0:
            return np.empty(0, np.int32)
        self._tidy()
        columns = columns_of_batch(messages, self._vocabulary, self.decay)
        self._room_for_terms()
        changed = self._pass(columns, nows / self.decay.half_life)
        self.now = float(nows[-1])
        return changed

    def advance(self, now: float) -> list[TermsChange]:
        now = self._checked_now(now)
        self._pass(_NO_DOCUMENTS, np.array([self.decay.moment(now)]))
        self.now = now
        return self._changes()

    def _changes(self) -> list[TermsChange]:
        """The lists that the last step has changed."""
        remembered = self._remembered
        changes = []
        for n in range(int(remembered.ends[LISTS])):
            slot = int(remembered.slot[n])
            begin, end = int(remembered.start[n]), int(remembered.start[n + 1])
            before = tuple(self._vocabulary.term(t) for t in remembered.term[begin:end].tolist())
            change = terms_change(self._ids.id_of(slot), before, self._ranked(slot, self.now))
            if change:
                changes.append(change)
        return changes

    def _tidy(self) -> None:
        """Forget terms that no document has any more, and count steps from 0 again."""
        count = len(self._vocabulary)
        if count > FEW_TERMS + 2 * self._terms_when_counted:
            kept = np.flatnonzero(self._terms.mass[:count])
            self._terms_when_counted = len(kept)
            if count > FEW_TERMS + 2 * len(kept):
                self._keep_terms(kept, count)
        if self._remembered.ends[STEPS] > LAST_STEP:
            self._remembered.ends[STEPS] = 0
            self._rows.head[:, STEP] = 0

    def _keep_terms(self, kept: NDArray[np.int64], count: int) -> None:
        new_term = np.zeros(count, np.int32)
        new_term[kept] = np.arange(len(kept), dtype=np.int32)
        self._vocabulary.keep(kept)
        mass = self._terms.mass[kept]
        self._terms = Terms(np.zeros(0, np.int32), np.zeros(0, np.int64))
        self._sums = Sums(np.zeros(0, np.int64), np.zeros(0, np.int32))
        self._room_for_terms()
        self._terms.mass[: len(kept)] = mass
        rows = self._rows
        for begin in range(0, self._row_places, 1 << 20):
            part = slice(begin, begin + (1 << 20))
            rows.term[part] = new_term[np.minimum(rows.term[part], count - 1)]
        documents = self._archive.documents
        live = documents.queue[: documents.ends[LIVE]]
        order = live[np.argsort(documents.moment[live], kind="stable")]
        self._archive = renumbered(
            self._archive, no_documents(), order, self._levels, new_term, self._clock[BASE],
            self._by_term,
        )  # fmt: skip
        self._terms_renumbered(new_term)

    def _terms_renumbered(self, new_term: NDArray[np.int32]) -> None:
        """Terms that are still said have these numbers from now on."""

    # ------------------------------------------------------------------ looking things up

    def top(self, subscription_id: Id, now: float | None = None) -> RankedTerms:
        return self._ranked(self._slot(subscription_id), self._asked_time(now))

    def _ranked(self, slot: int, now: float) -> RankedTerms:
        begin, end = self._list(slot)
        if begin == end:
            return ()
        scores = self._rows.score[begin:end] * self._unit(now)
        return tuple(zip(self._names(slot), scores.tolist(), strict=True))

    def _unit(self, now: float) -> float:
        """What a unit of the sums is worth then."""
        return float(2.0 ** (int(self._clock[BASE]) - WEIGHT_BITS - self.decay.moment(now)))

    def _names(self, slot: int) -> tuple[str, ...]:
        begin, end = self._list(slot)
        return tuple(self._vocabulary.term(t) for t in self._rows.term[begin:end].tolist())

    def _list(self, slot: int) -> tuple[int, int]:
        begin, head = int(self._rows.start[slot]), self._rows.head[slot]
        return begin, begin + int(min(head[K], head[HELD]))

    def subscription(self, subscription_id: Id) -> TrendingSubscription:
        slot = self._slot(subscription_id)
        region = self._regions.region(slot)
        assert region is not None
        return TrendingSubscription(self._ids.id_of(slot), region, int(self._rows.head[slot, K]))

    def ids(self) -> list[Id]:
        return self._ids.list_of(self._ids.live_slots())

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, subscription_id: object) -> bool:
        try:
            return self._ids.has(possible_id(subscription_id))
        except KeyError:
            return False

    def stats(self) -> TrendingStats:
        return TrendingStats(
            len(self),
            int(self._archive.documents.ends[LIVE]),
            int(np.count_nonzero(self._terms.mass)),
            sum(array.nbytes for array in self._arrays().values()),
            *self._counts[: len(self._counts) + IS_ASKED].tolist(),
            *self._counts[IS_ASKED + 1 :].tolist(),
        )

    def count_cycles(self) -> None:
        self._counts[IS_ASKED] = 1

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        meta = {
            "settings": self.settings(),
            "now": None if self.now == -inf else self.now,
            "row_places": self._row_places,
            "unused_places": self._unused_places,
        }
        storage.write_arrays(path, type(self).__name__, meta, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, arrays = storage.read_arrays(path, cls.__name__)
        index = cls.from_settings(meta["settings"])
        index.now = -inf if meta["now"] is None else meta["now"]
        index._row_places, index._unused_places = meta["row_places"], meta["unused_places"]
        index._ids = IdTable.from_arrays(storage.part(arrays, "ids/"))
        index._regions = RegionColumn.from_arrays(storage.part(arrays, "regions/"), index.space)
        index._vocabulary = Vocabulary.from_arrays(index.terms, storage.part(arrays, "vocabulary/"))
        index._take_arrays(arrays)
        return index

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state."""
        parts = self._parts()
        arrays: dict[str, NDArray[Any]] = {"clock": self._clock, "counts": self._counts}
        for name, part in (
            ("ids", self._ids), ("regions", self._regions), ("vocabulary", self._vocabulary)
        ):  # fmt: skip
            arrays |= {f"{name}/{field}": array for field, array in part.arrays().items()}
        for name, columns in parts.items():
            arrays |= {f"{name}/{field}": array for field, array in columns._asdict().items()}
        return arrays

    def _parts(self) -> dict[str, Any]:
        """Tuples of arrays."""
        return {
            "rows": self._rows,
            "levels": self._levels,
            "home_runs": self._homes.runs,
            "home_table": self._homes.table,
            "documents": self._archive.documents,
            "runs": self._archive.runs,
            "table": self._archive.table,
            "terms": self._terms,
            "sums": self._sums,
            "remembered": self._remembered,
        }

    def _take_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        def taken(kind: Any, name: str) -> Any:
            part = storage.part(arrays, f"{name}/")
            return kind(*(part[field] for field in kind._fields))

        self._clock, self._counts = arrays["clock"], arrays["counts"]
        self._rows = taken(Rows, "rows")
        self._levels = taken(Levels, "levels")
        self._homes = Homes(taken(Runs, "home_runs"), taken(Table, "home_table"))
        self._archive = Archive(
            taken(Documents, "documents"), taken(Runs, "runs"), taken(Table, "table")
        )
        self._terms, self._sums = taken(Terms, "terms"), taken(Sums, "sums")
        self._remembered = taken(Remembered, "remembered")

    # ------------------------------------------------------------------ private

    def _slot(self, subscription_id: Id) -> int:
        return self._ids.slot_of(possible_id(subscription_id))

    @property
    def _is_earth(self) -> bool:
        return self.space is Space.EARTH

    @property
    def _kernel_regions(self) -> Regions:
        return Regions(*self._regions.kernel_arrays())

    @property
    def _spelling(self) -> Spelling:
        return Spelling(*self._vocabulary.spelling())

    def _room_for_slots(self, size: int) -> None:
        rows = self._rows
        self._rows = rows._replace(
            start=wider(rows.start, size),
            head=wider(rows.head, size),
            outside=wider(rows.outside, size),
            bounds=wider(rows.bounds, size),
        )
        short = size - len(self._regions)
        if short > 0:
            self._regions.append(RegionColumn.everywhere(short, self.space))

    def _room_for_terms(self) -> None:
        size = len(self._vocabulary)
        self._terms = Terms(wider(self._terms.mark, size), wider(self._terms.mass, size))
        self._sums = Sums(wider(self._sums.units, size), wider(self._sums.term, size))


def wider(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or one with so many things at the least, and zeros for new ones."""
    if size <= len(array):
        return array
    room = max(size, len(array) + len(array) // 8)
    larger = _zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros that begin with a cache line, so that a row of terms is in as few as it can be."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % CACHE_LINE
    return memory[begin : begin + size].view(dtype).reshape(shape)


_NO_DOCUMENTS = DocumentColumns(
    np.zeros(0),
    np.zeros(0, np.int64),
    np.zeros((0, 2)),
    np.zeros(1, np.int64),
    np.zeros((0, 4)),
    np.zeros(1, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
)
