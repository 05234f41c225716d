"""`FlatNearby`: ids, terms, documents, and what lists were before a step."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from math import inf, pi
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean.id_table import IdTable
from nearcast.boolean.index import possible_id
from nearcast.list_differences import which_differ
from nearcast.model import Id, Message, NearbyTrendingSubscription, Point, Space
from nearcast.space import EARTH_RADIUS
from nearcast.trending._columns import DocumentColumns, columns_of_batch, columns_of_one
from nearcast.trending._cycles import IS_ASKED, UPDATING, WHOLE
from nearcast.trending._nearby.documents import (
    HELD,
    LANDMARK,
    LIVE,
    LOST,
    MASS,
    Documents,
    forget_terms,
    no_documents,
)
from nearcast.trending._nearby.places import Rules
from nearcast.trending._nearby.touched import (
    CANDIDATES,
    CHANGED,
    COMPUTED,
    LISTS,
    REFILLED,
    Touched,
    none_touched,
    nothing_more,
)
from nearcast.trending._vocabulary import Vocabulary
from nearcast.trending.index import AnyTrending, TrendingStats
from nearcast.trending.nearby import NearbyIndex
from nearcast.trending.terms_change import Terms, TermsChange, terms_change
from nearcast.trending.terms_changes import NumberedLists, TermsChanges

RANKS_KEPT = 1_000  # a term is forgotten only where so many others have more of everything
FEW_TERMS = 4_096
CHUNK = 4_096  # documents of a batch between two looks at what can be forgotten


class FlatNearby(NearbyIndex):
    """A `NearbyIndex` in flat arrays: ids, terms, documents by term, whose list has changed.

    A derived class has the arrays of its lists (`_parts`) and says what happens to them when
    subscriptions and documents come and go.

    With a `max_error` above 0, memory is bounded. Of each term the oldest documents are forgotten
    while all of them together are at most a tenth of that error, wherever one is (Eq. 14 of the
    paper). A term is forgotten when it is in no list and has at most a tenth of that error of what
    1,000 others (or the longest list) have at every place: should it come back, and into a list,
    it would hardly miss what it had. With a `max_error` of 0 nothing is forgotten before the
    definition does.
    """

    _touched: Touched
    _documents: Documents

    def _begin(self) -> None:
        self._ids = IdTable()
        self._vocabulary = Vocabulary(self.terms)
        self._documents = no_documents()
        self._touched = none_touched()
        self._terms_when_counted = 0
        self._extent = np.array([inf, inf, -inf, -inf])
        if self.roads is not None:
            self._extend(self.roads.nodes)
        self._longest_list = 0
        self._forgotten = 0.0, 0.0
        self._begin_parts()

    # ------------------------------------------------------------------ what a derived class does

    _parts: ClassVar[dict[str, Any]]
    """Its own arrays: the type of each attribute, a NamedTuple of arrays, by name without `_`."""

    @abstractmethod
    def _begin_parts(self) -> None:
        """Have no subscription."""

    @abstractmethod
    def _enter(
        self, slots: NDArray[np.int32], k: NDArray[np.int32], at: NDArray[np.float64]
    ) -> None:
        """Subscriptions have come, and have their lists."""

    @abstractmethod
    def _leave(self, slot: int) -> None:
        """A subscription goes."""

    @abstractmethod
    def _pass(
        self, columns: DocumentColumns, now: NDArray[np.float64], until: float
    ) -> NDArray[np.int32]:
        """Documents come at the moments `now`; without any it is `until`.

        Returns how many lists each has changed. That is not counted, and lists are remembered from
        before the first, while `_is_one_step`.
        """

    _is_one_step: bool = False
    """Are lists remembered from before all documents of a batch, or from before each?"""

    @abstractmethod
    def _read_all(self, touched: NDArray[np.int32]) -> tuple[NumberedLists, NDArray[np.float64]]:
        """The lists of `Touched` that have this there as their `slot`, and all their scores."""

    @abstractmethod
    def _read(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The terms of a list and their scores in weights."""

    def _owners(self, touched: int) -> list[int]:
        """The slots that have a list of `Touched`, which has this there as its `slot`."""
        return [touched]

    @abstractmethod
    def _wanted(self, slot: int) -> tuple[float, float, int]:
        """lon, lat and k of a subscription."""

    @abstractmethod
    def _mark_listed(self, is_listed: NDArray[np.bool_]) -> None:
        """Which terms are in arrays of the class?"""

    @abstractmethod
    def _renumber(self, new: NDArray[np.int32]) -> None:
        """Terms have new numbers."""

    @abstractmethod
    def _check_parts(self) -> None:
        """Assert what the arrays of the class promise."""

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: AnyTrending) -> list[TermsChange]:
        self._check_subscription(subscription)
        before = _terms(self.top(subscription.id)) if subscription.id in self else ()
        self._add([subscription])
        change = terms_change(subscription.id, before, self.top(subscription.id))
        others = self._changes(besides=self._slot(subscription.id))
        return [change, *others] if change else others

    def subscribe_many(self, subscriptions: list[Any]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        self.check_many(subscriptions)
        for kind in (int, str):  # a column of ids has one kind
            rows = [row for row in subscriptions if isinstance(row.id, kind)]
            if rows:
                self._add(rows)
        self._touched = nothing_more(self._touched)

    def _add(self, rows: list[Any]) -> None:
        ids = pa.array([row.id for row in rows])
        live = self._ids.find(ids)
        for slot in live[live >= 0].tolist():
            self._remove(slot)
        slots = self._ids.add(ids)
        k = np.array([row.k for row in rows], np.int32)
        at = np.array([(row.at.lon, row.at.lat) for row in rows])
        self._longest_list = max(self._longest_list, int(k.max()))
        self._extend(at)
        self._enter(slots, k, at)

    def unsubscribe(self, subscription_id: Id) -> None:
        self._remove(self._slot(subscription_id))

    def _remove(self, slot: int) -> None:
        self._leave(slot)
        self._ids.remove_one(slot)

    # ------------------------------------------------------------------ documents

    def publish(self, message: Message) -> list[TermsChange]:
        now = self._checked_time(message)
        self._tidy()
        columns = columns_of_one(message, self._vocabulary, self.decay)
        self._take(columns, np.array([now]))
        return self._changes()

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        """Many documents in their order, all or none: how many lists each has changed."""
        times = self.check_batch(messages)
        changed = [np.empty(0, np.int32)]
        for begin in range(0, len(messages), CHUNK):
            self._tidy()
            rows = np.arange(begin, min(begin + CHUNK, len(messages)))
            columns = columns_of_batch(messages.take(rows), self._vocabulary, self.decay)
            changed.append(self._take(columns, times[rows]))
        return np.concatenate(changed)

    def publish_as_columns(self, messages: MessageBatch) -> TermsChanges:
        times = self.check_batch(messages)
        if len(messages) == 0:
            return TermsChanges.of([])
        self._tidy()
        self._is_one_step = True
        try:
            self._take(columns_of_batch(messages, self._vocabulary, self.decay), times)
        finally:
            self._is_one_step = False
        touched = self._touched
        count = int(touched.counts[LISTS])
        self._touched = nothing_more(touched)
        lists, start = touched.slot[:count], touched.start[: count + 1]
        before = NumberedLists(touched.term, start[:-1], np.diff(start))
        after, scores = self._read_all(lists)
        differs = which_differ(
            before.number, before.first, before.length, after.number, after.first, after.length
        )
        # Several subscriptions may have one list.
        rows = np.flatnonzero(differs)
        owners = [self._owners(number) for number in lists[rows].tolist()]
        rows = np.repeat(rows, [len(each) for each in owners])
        before, after = before.take(rows), after.take(rows)
        scale = 2.0 ** (float(self._documents.clock[LANDMARK]) - self.decay.moment(self.now))
        slots = np.array([slot for each in owners for slot in each], np.int64)
        return TermsChanges.between(
            self._ids.ids_of(slots), before, after, after.copied(scores) * scale,
            self._vocabulary.terms,
        )  # fmt: skip

    def _take(self, columns: DocumentColumns, times: NDArray[np.float64]) -> NDArray[np.int32]:
        self.now = float(times[-1])
        self._room_for_terms(len(self._vocabulary))
        self._extend(columns.middle)
        return self._pass(columns, times / self.decay.half_life, 0.0)

    def advance(self, now: float) -> list[TermsChange]:
        self.now = self._checked_now(now)
        self._pass(_NO_DOCUMENTS, np.empty(0), self.decay.moment(self.now))
        return self._changes()

    def _changes(self, besides: int = -1) -> list[TermsChange]:
        """The lists that this step has changed."""
        touched = self._touched
        changes: list[TermsChange] = []
        for n in range(int(touched.counts[LISTS])):
            slots = self._owners(int(touched.slot[n]))
            numbers = touched.term[touched.start[n] : touched.start[n + 1]].tolist()
            before = tuple(self._vocabulary.term(number) for number in numbers)
            after = self._terms_of(slots[0], self.now)
            told = (
                terms_change(self._ids.id_of(slot), before, after)
                for slot in slots
                if slot != besides
            )
            changes.extend(change for change in told if change)
        return changes

    # ------------------------------------------------------------------ looking things up

    def top(self, subscription_id: Id, now: float | None = None) -> Terms:
        return self._terms_of(self._slot(subscription_id), self._asked_time(now))

    def _terms_of(self, slot: int, now: float) -> Terms:
        terms, scores = self._read(slot)
        if len(terms) == 0:
            return ()
        scale = 2.0 ** (float(self._documents.clock[LANDMARK]) - self.decay.moment(now))
        words = [self._vocabulary.term(number) for number in terms.tolist()]
        return tuple(zip(words, (scores * scale).tolist(), strict=True))

    def subscription(self, subscription_id: Id) -> NearbyTrendingSubscription:
        slot = self._slot(subscription_id)
        lon, lat, k = self._wanted(slot)
        return NearbyTrendingSubscription(
            self._ids.id_of(slot), Point(lon, lat, space=self.space), k
        )

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
        arrays = self._arrays()
        count = self._touched.counts
        return TrendingStats(
            subscriptions=len(self),
            documents=int(self._documents.ends[LIVE]),
            terms=int((self._documents.lists[:, HELD] > 0).sum()),
            bytes=sum(array.nbytes for array in arrays.values()),
            candidates=int(count[CANDIDATES]),
            updated=int(count[CHANGED]),
            computed=int(count[COMPUTED]),
            refilled=int(count[REFILLED]),
            cycles=int(count[WHOLE]),
            updating_cycles=int(count[UPDATING]),
        )

    def count_cycles(self) -> None:
        self._touched.counts[IS_ASKED] = 1

    def check(self) -> None:
        documents = self._documents
        uses = np.zeros(len(documents.uses), np.int64)
        for term, (start, held, room) in enumerate(documents.lists.tolist()):
            assert held <= room
            np.add.at(uses, documents.doc[start : start + held], 1)
            weight = documents.place[documents.doc[start : start + held], 5]
            mass = float((documents.times[start : start + held] * weight).sum())
            assert abs(mass - documents.sums[term, MASS]) <= 1e-9 * mass + 1e-300
        live = documents.uses[: int(documents.ends[2])]
        assert (uses[: len(live)][live > 0] == live[live > 0]).all()
        assert (live > 0).sum() == documents.ends[LIVE]
        self._check_parts()

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        meta = {
            "settings": self.settings(),
            "now": None if self.now == -inf else self.now,
            "terms_when_counted": self._terms_when_counted,
            "longest_list": self._longest_list,
            "forgotten": self._forgotten,
        }
        storage.write_arrays(path, type(self).__name__, meta, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, arrays = storage.read_arrays(path, cls.__name__)
        index = cls.from_settings(meta["settings"])
        index.now = -inf if meta["now"] is None else meta["now"]
        index._terms_when_counted = meta["terms_when_counted"]
        index._longest_list = meta["longest_list"]
        weight, landmark = meta.get("forgotten", (0.0, 0.0))
        index._forgotten = weight, landmark
        index._take_arrays(arrays)
        return index

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {"extent": self._extent}
        for name in _COMMON | self._parts:
            for field, array in getattr(self, f"_{name}")._asdict().items():
                arrays[f"{name}/{field}"] = array
        for name, table in (("ids", self._ids), ("vocabulary", self._vocabulary)):
            arrays |= {f"{name}/{field}": array for field, array in table.arrays().items()}
        return arrays

    def _take_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._extent = arrays["extent"]
        self._ids = IdTable.from_arrays(storage.part(arrays, "ids/"))
        self._vocabulary = Vocabulary.from_arrays(self.terms, storage.part(arrays, "vocabulary/"))
        for name, kind in (_COMMON | self._parts).items():
            setattr(self, f"_{name}", kind(**storage.part(arrays, f"{name}/")))

    # ------------------------------------------------------------------ private

    def _slot(self, subscription_id: Id) -> int:
        return self._ids.slot_of(possible_id(subscription_id))

    @property
    def _rules(self) -> Rules:
        """`max_error` is shared out: half to lists that wait, a third to fields, a tenth to
        documents that are forgotten; the rest covers what these errors do to each other."""
        error = self.max_error
        is_exact = error < LEAST_ERROR
        return Rules(
            on_earth=self.space is Space.EARTH,
            a=self.a,
            field_error=0.0 if is_exact else error / 3.0,
            patience=-1e-11 if is_exact else error / 2.0,
            forget=0.0 if is_exact else error / 10.0 * self._least_share,
        )

    @property
    def _least_share(self) -> float:
        """What a document counts for somebody who is as far as one can be, against who is there."""
        farthest = pi * EARTH_RADIUS
        if self.space is Space.PLANE:
            width, height = self._extent[2:] - self._extent[:2]
            farthest = float(np.hypot(width, height)) if width >= 0.0 else 0.0
        if self.roads is not None:  # both are off their junctions
            farthest = 2.0 * farthest + self.roads.longest
        return self.a / (self.a + farthest)

    def _extend(self, at: NDArray[np.float64]) -> None:
        """In a plane: everything lies in this box."""
        if len(at):
            self._extent[:2] = np.minimum(self._extent[:2], at.min(axis=0))
            self._extent[2:] = np.maximum(self._extent[2:], at.max(axis=0))

    def _room_for_terms(self, size: int) -> None:
        held = len(self._documents.lists)
        if size > held:
            more = size + size // 8 - held
            documents = self._documents
            self._documents = documents._replace(
                lists=np.concatenate([documents.lists, np.zeros((more, 3), np.int64)]),
                sums=np.concatenate([documents.sums, np.tile(self._sums_of_new, (more, 1))]),
                mark=np.concatenate([documents.mark, np.zeros(more, np.int32)]),
            )

    @property
    def _sums_of_new(self) -> NDArray[np.float64]:
        """Those of a term that is new here: it may have been forgotten with so much."""
        sums = np.zeros(3)
        weight, landmark = self._forgotten
        if weight > 0.0:
            sums[LOST] = weight * 2.0 ** (landmark - float(self._documents.clock[LANDMARK]))
        return sums

    def _tidy(self) -> None:
        """Before documents come: forget terms that matter to no list."""
        terms = len(self._vocabulary)
        if terms <= FEW_TERMS + 2 * self._terms_when_counted:
            return
        mass, ranks = self._documents.sums[:terms, MASS], max(RANKS_KEPT, self._longest_list)
        least = 0.0
        if self._rules.forget > 0.0 and terms > ranks:
            least = float(np.partition(mass, -ranks)[-ranks]) * self._rules.forget
        is_kept = np.zeros(terms, np.bool_)
        self._mark_listed(is_kept)
        had = self._documents.sums[:terms, MASS] + self._documents.sums[:terms, LOST]
        forget_terms(self._documents, is_kept, least)
        kept = np.flatnonzero(is_kept)
        most = max(float(self._sums_of_new[LOST]), float(had[~is_kept].max(initial=0.0)))
        self._forgotten = most, float(self._documents.clock[LANDMARK])
        self._terms_when_counted = len(kept)
        new = np.full(terms, -1, np.int32)
        new[kept] = np.arange(len(kept))
        self._vocabulary.keep(kept)
        self._documents = self._documents._replace(
            lists=self._documents.lists[kept],
            sums=self._documents.sums[kept],
            mark=np.zeros(len(kept), np.int32),
        )
        self._renumber(new)


def _terms(ranked: Terms) -> tuple[str, ...]:
    return tuple(term for term, _ in ranked)


LEAST_ERROR = 1e-3
"""A smaller error than this is none: the fields would hardly ever be good enough."""

_COMMON: dict[str, Any] = {"documents": Documents, "touched": Touched}

_NO_DOCUMENTS = DocumentColumns(
    np.empty(0),
    np.empty(0, np.int64),
    np.empty((0, 2)),
    np.zeros(1, np.int64),
    np.empty((0, 4)),
    np.zeros(1, np.int64),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
)
