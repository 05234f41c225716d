"""`FlatTopK`: ids, words, the window, and what lists were before a message."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean.id_table import IdTable
from nearcast.boolean.index import possible_id
from nearcast.growing_array import GrowingArray
from nearcast.model import Id, Message, Point, Space, TopKSubscription
from nearcast.text.string_table import StringTable
from nearcast.topk._flat.columns import distinct_words, unit_vectors, wider
from nearcast.topk._flat.maintenance import (
    FEW_WORDS,
    LATEST,
    count_from,
    count_steps_from_0,
    with_terms,
    with_words,
    words_in_use,
)
from nearcast.topk._flat.message_ids import MessageIds
from nearcast.topk._flat.subscriptions import (
    ALPHA,
    FIRST,
    HELD,
    LAT,
    LON,
    SEEN,
    STAMP,
    START,
    STEP,
    WORDS,
    Distances,
    K,
    Subscriptions,
    no_subscriptions,
)
from nearcast.topk._flat.touched import (
    AFFECTED,
    ARRIVING,
    CANDIDATES,
    EXPIRING,
    LISTS,
    POSTINGS,
    SEARCHES,
    STEPS,
    Touched,
    none_touched,
)
from nearcast.topk._flat.window import (
    CELLS,
    LIVE,
    NEXT,
    OLDEST,
    TIME,
    Messages,
    Rings,
    no_messages,
    no_rings,
)
from nearcast.topk.index import TopKIndex, TopKStats
from nearcast.topk.list_change import ListChange, Ranked, list_change
from nearcast.topk.windows import CountWindow, TimeWindow, window_of, window_row
from nearcast.topk.word_statistics import WordStatistics

MOST_SHOWN = (
    10_000  # messages of a list: each subscription that is looked at may need three times that
)
MOST_MESSAGES = 2**62  # of a window without a limit
LAYOUT = 3  # of the arrays of a saved index
EARTH_GRID = (-180.0, -90.0, 360.0 / CELLS, 180.0 / CELLS)


class FlatTopK(TopKIndex):
    """A `TopKIndex` in flat arrays: ids, words, the window with its rings, whose list has changed.

    A derived class finds whom a message concerns and keeps a row of messages for each subscription.
    It says which arrays it has besides (`_parts`), and what happens when subscriptions and messages
    come and go.
    """

    _subscriptions: Subscriptions
    _messages: Messages
    _rings: Rings
    _touched: Touched

    def _begin(self) -> None:
        self._subscription_ids = IdTable()
        self._message_ids = MessageIds()
        self._vocabulary = StringTable()
        self._idf = GrowingArray(np.empty(0, np.float64))
        self._terms = 0
        self._times = GrowingArray(np.empty(0, np.int32))  # by term: how often it is asked for
        self._unused_terms = 0
        self._words_when_counted = 0
        self._largest = 0.0
        self._grid: tuple[float, float, float, float] | None = (
            EARTH_GRID if self.space is Space.EARTH else None
        )
        self._subscriptions = no_subscriptions()
        self._messages = no_messages()
        self._rings = no_rings()
        self._touched = none_touched()
        self._begin_parts()

    # ------------------------------------------------------------------ what a derived class does

    _parts: ClassVar[dict[str, Any]]
    """Its own arrays: the type of each attribute, a NamedTuple of arrays, by name without `_`."""

    _rows: Any
    """One of them: `seq` and `score` of the messages that are kept for subscriptions."""

    @property
    @abstractmethod
    def _held_by_words(self) -> NDArray[np.int32]:
        """By word: 0 where no subscription wants it."""

    @abstractmethod
    def _begin_parts(self) -> None:
        """Have no subscription."""

    @abstractmethod
    def _room_for_words(self, size: int) -> None:
        """Have a place for so many words."""

    @abstractmethod
    def _room_for_rows(self, size: int, k: int) -> None:
        """Have a place for so many subscriptions, none of which shows more than k."""

    @abstractmethod
    def _enter(self, slots: NDArray[np.int32]) -> None:
        """Subscriptions have come: their rows, and where messages find them."""

    @abstractmethod
    def _leave(self, slot: int) -> None:
        """A subscription goes."""

    @abstractmethod
    def _pass(
        self,
        replaced: int,
        at: NDArray[np.float64],
        times: NDArray[np.float64],
        start: NDArray[np.int64],
        word: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        """Messages come, others leave the window, and then it is `now`.

        First the message of the arrival `replaced` goes, if that is not -1. Message i comes at
        times[i] and has word[start[i]:start[i + 1]]. Returns how many lists each has changed.
        """

    @abstractmethod
    def _keep_words(self, kept: NDArray[np.int64]) -> None:
        """Of the words these are kept, and have new numbers in this order."""

    def _more_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of its state that are in no part."""
        return {}

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Have what `_more_arrays` gave, among others."""

    def _more_settings(self) -> dict[str, Any]:
        """Arguments of the constructor that others do not have, as JSON."""
        return {}

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: TopKSubscription) -> list[ListChange]:
        self._check_subscription(subscription)
        before = self.results(subscription.id) if subscription.id in self else ()
        self.subscribe_many([subscription])
        change = list_change(subscription.id, before, self.results(subscription.id))
        return [change] if change else []

    def subscribe_many(self, subscriptions: list[TopKSubscription]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        self.check_many(subscriptions)
        for kind in (int, str):  # a column of ids has one kind
            rows = [row for row in subscriptions if isinstance(row.id, kind)]
            if rows:
                self._subscribe_rows(rows, pa.array([row.id for row in rows]))

    def check_many(self, subscriptions: list[TopKSubscription]) -> None:
        """Refuse what `subscribe_many` cannot take."""
        ids = set()
        for subscription in subscriptions:
            self._check_subscription(subscription)
            if subscription.id in ids:
                raise ValueError(f"subscription {subscription.id!r} is there twice; give it once")
            if subscription.k > MOST_SHOWN:
                raise ValueError(
                    f"subscription {subscription.id!r}: k {subscription.k} is more than "
                    f"{MOST_SHOWN}, the most a list can have here"
                )
            ids.add(subscription.id)

    def _subscribe_rows(self, rows: list[TopKSubscription], ids: pa.Array) -> None:
        live = self._subscription_ids.find(ids)
        for slot in live[live >= 0].tolist():
            self._remove(slot)
        slots = self._subscription_ids.add(ids)
        said = [word for row in rows for word in row.keywords]
        numbers = self._numbers(said)
        counts = np.array([len(row.keywords) for row in rows])
        first, word, times, weight = unit_vectors(numbers, counts, self._idf.used)
        self._room_for_slots(slots, max(row.k for row in rows))
        self._room_for_terms(len(word))
        subscriptions, terms = self._subscriptions, slice(self._terms, self._terms + len(word))
        place = np.array([(row.at.lon, row.at.lat, row.alpha, 0.0) for row in rows])
        head = subscriptions.head
        subscriptions.place[slots] = place
        head[slots] = 0
        head[slots, K] = [row.k for row in rows]
        head[slots, FIRST] = self._terms + first[:-1]
        head[slots, WORDS] = np.diff(first)
        head[slots, SEEN] = head[slots, STAMP] = -1
        subscriptions.word[terms] = word
        subscriptions.weight[terms] = weight
        self._times.extend(times)
        self._terms += len(word)
        self._largest = max(self._largest, float(np.abs(place[:, : LAT + 1]).max()))
        self._enter(slots)

    def unsubscribe(self, subscription_id: Id) -> None:
        self._remove(self._slot(subscription_id))

    def _remove(self, slot: int) -> None:
        head = self._subscriptions.head[slot]
        self._leave(slot)
        self._unused_terms += int(head[WORDS])
        head[:] = 0
        self._subscription_ids.remove(np.array([slot]))
        if self._unused_terms > FEW_WORDS + self._terms // 2:
            live = self._subscription_ids.live_slots()
            self._subscriptions, old = with_terms(self._subscriptions, live)
            self._times = GrowingArray(self._times.used[old])
            self._terms, self._unused_terms = len(old), 0

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[ListChange]:
        now = self._checked_time(message)
        self._tidy()
        at = message.middle
        counts = Counter(message.keywords)
        numbers = self._numbers(list(counts))
        rarities = self._idf.used[numbers].tolist()
        rare_first = sorted(
            zip(rarities, numbers.tolist(), counts.values(), strict=True), key=_rank
        )
        self._choose_grid(at.lon, at.lat)
        self.now = now
        replaced = self._message_ids.take_out(message.id)
        ids_before = {} if replaced is None else {replaced: message.id}
        oldest = int(self._messages.ends[OLDEST])
        self._pass(
            -1 if replaced is None else replaced,
            np.array([[at.lon, at.lat]]),
            np.array([now]),
            np.array([0, len(numbers)]),
            np.array([number for _, number, _ in rare_first], np.int32),
            np.array([times for _, _, times in rare_first], np.int32),
        )
        ids_before |= self._message_ids.forget(oldest, int(self._messages.ends[OLDEST]))
        self._message_ids.add_one(message.id, self._messages)
        return self._changes(ids_before)

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        """Many messages in their order, with new ids: how many lists each has changed."""
        self.check_batch(messages)
        if self._message_ids.has_any(messages.ids):
            raise ValueError("an id of the batch is in the window; publish its message by itself")
        if len(messages) == 0:
            return np.empty(0, np.int32)
        times = np.maximum.accumulate(np.append(self.now, messages.time))
        self.now = float(times[-1])
        changed, _ = self._take_in(messages, times[1:])
        return changed

    def _take_in(
        self, messages: MessageBatch, times: NDArray[np.float64], withdrawn: Id | None = None
    ) -> tuple[NDArray[np.int32], dict[int, Id]]:
        """Messages with new ids come at these times, after the one of the id `withdrawn` has gone.

        Returns how many lists each has changed, and the ids of the arrivals that have left.
        """
        self._tidy()
        replaced = None if withdrawn is None else self._message_ids.take_out(withdrawn)
        numbers = self._numbers(messages.lexicon)
        start, word, counts = distinct_words(messages, numbers, self._idf.used)
        at = messages.middles()
        if len(at):
            self._choose_grid(at[0, 0], at[0, 1])
        oldest, first = int(self._messages.ends[OLDEST]), int(self._messages.ends[NEXT])
        changed = self._pass(-1 if replaced is None else replaced, at, times, start, word, counts)
        now_oldest = int(self._messages.ends[OLDEST])
        left = self._message_ids.forget(oldest, min(first, now_oldest))
        still = max(first, now_oldest)  # others have come and gone with the batch
        self._message_ids.add(messages.ids[still - first :], self._messages)
        if replaced is not None and withdrawn is not None:
            left[replaced] = withdrawn
        return changed, left

    def advance(self, now: float) -> list[ListChange]:
        self.now = self._checked_now(now)
        oldest = int(self._messages.ends[OLDEST])
        nothing = np.empty(0, np.int32)
        self._pass(-1, np.empty((0, 2)), np.empty(0), np.zeros(1, np.int64), nothing, nothing)
        return self._changes(self._message_ids.forget(oldest, int(self._messages.ends[OLDEST])))

    def _changes(self, ids: dict[int, Id]) -> list[ListChange]:
        """The lists that this step has changed; `ids` of arrivals that have left the window."""
        changes = (list_change(*lists) for lists in self._touched_lists(ids))
        return [change for change in changes if change]

    def _touched_lists(self, ids: dict[int, Id]) -> Iterator[tuple[Id, Ranked, Ranked]]:
        """Whose lists this step may have changed, what they were and what they are."""
        touched = self._touched
        for n in range(int(touched.ends[LISTS])):
            slot = int(touched.slot[n])
            begin, end = int(touched.start[n]), int(touched.start[n + 1])
            before = self._named(touched.seq[begin:end], touched.score[begin:end], ids)
            yield self._subscription_ids.id_of(slot), before, self._ranked(slot, ids)

    # ------------------------------------------------------------------ looking things up

    def window_messages(self) -> MessageBatch:
        """The messages of the window in their order, each at the middle of its place.

        Lists are the same once more where these are published anew. Ids are all integers, or all
        texts.  O(window)
        """
        messages = self._messages
        seqs = np.arange(int(messages.ends[OLDEST]), int(messages.ends[NEXT]), dtype=np.int32)
        seqs = seqs[messages.live[seqs & (len(messages.live) - 1)]]
        at = seqs & (len(messages.live) - 1)
        start = np.append(0, np.cumsum(messages.words[at], dtype=np.int64))
        first = np.repeat(messages.first[at] - start[:-1], messages.words[at])
        said = messages.word[(first + np.arange(start[-1])) % len(messages.word)]
        numbers, codes = np.unique(said, return_inverse=True)
        return MessageBatch(
            ids=self._message_ids.ids_of(seqs),
            lexicon=self._vocabulary.to_arrow(numbers),
            word_start=start,
            words=codes.astype(np.int32),
            at=np.tile(messages.place[at, : LAT + 1], 2),
            is_box=np.zeros(len(at), bool),
            time=messages.place[at, TIME],
            expires=np.full(len(at), np.nan),
            space=self.space,
        )

    def results(self, subscription_id: Id) -> Ranked:
        return self._ranked(self._slot(subscription_id), {})

    def _ranked(self, slot: int, ids: dict[int, Id]) -> Ranked:
        head, rows = self._subscriptions.head[slot], self._rows
        at = int(head[START]) * STEP
        end = at + min(int(head[K]), int(head[HELD]))
        return self._named(rows.seq[at:end], rows.score[at:end], ids)

    def _named(
        self, seqs: NDArray[np.int32], scores: NDArray[np.float64], ids: dict[int, Id]
    ) -> Ranked:
        """Ids and scores; `ids` of arrivals that are known, to which others are added."""
        arrivals = seqs.tolist()
        for seq in arrivals:
            if seq not in ids:
                ids[seq] = self._message_ids.id_of(seq)
        return tuple(zip([ids[seq] for seq in arrivals], scores.tolist(), strict=True))

    def subscription(self, subscription_id: Id) -> TopKSubscription:
        """A live subscription, its words in alphabetical order."""
        slot = self._slot(subscription_id)
        head, place = self._subscriptions.head[slot], self._subscriptions.place[slot]
        first = int(head[FIRST])
        terms = slice(first, first + int(head[WORDS]))
        words = [
            self._vocabulary.word(number)
            for number, times in zip(
                self._subscriptions.word[terms].tolist(),
                self._times.used[terms].tolist(),
                strict=True,
            )
            for _ in range(times)
        ]
        at = Point(float(place[LON]), float(place[LAT]), space=self.space)
        id = self._subscription_ids.id_of(slot)
        return TopKSubscription(id, sorted(words), at, int(head[K]), float(place[ALPHA]))

    def ids(self) -> list[Id]:
        return self._subscription_ids.list_of(self._subscription_ids.live_slots())

    def __len__(self) -> int:
        return len(self._subscription_ids)

    def __contains__(self, subscription_id: object) -> bool:
        try:
            return self._subscription_ids.has(possible_id(subscription_id))
        except KeyError:
            return False

    def stats(self) -> TopKStats:
        counts = self._touched.counts
        return TopKStats(
            len(self),
            int(self._messages.ends[LIVE]),
            sum(array.nbytes for array in self._arrays().values()),
            int(self._subscriptions.head[:, HELD].sum()),
            int(counts[CANDIDATES]),
            int(counts[AFFECTED]),
            int(counts[SEARCHES]),
            int(counts[POSTINGS]),
            float(counts[ARRIVING]) / 1e9,
            float(counts[EXPIRING]) / 1e9,
        )

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        storage.write_arrays(path, type(self).__name__, *self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        return cls.from_state(*storage.read_arrays(path, cls.__name__))

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Everything, as JSON and arrays."""
        meta = {
            "layout": LAYOUT,
            "window": window_row(self.window),
            "space": self.space.name,
            "max_dist": self.scoring.max_dist,
            "lateness": self.lateness,
            "now": None if self.now == float("-inf") else self.now,
            "terms": self._terms,
            "unused_terms": self._unused_terms,
            "largest": self._largest,
            "grid": self._grid,
            "documents": self.scoring.statistics.documents,
            "settings": self._more_settings(),
        }
        words = self.scoring.statistics.frequencies
        table = StringTable()
        table.add(list(words))
        arrays = self._arrays() | {f"statistics/{k}": v for k, v in table.arrays().items()}
        arrays["frequencies"] = np.array([*words.values()], np.int64)
        return meta, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The index whose `state()` this is; the arrays are taken over, not copied."""
        if meta.get("layout") != LAYOUT:
            raise storage.BadFile(
                f"a {cls.__name__} was saved with layout {meta.get('layout')} of its arrays, and "
                f"this version reads {LAYOUT}; subscribe and publish anew, or use the version that "
                "saved it"
            )
        words = StringTable.from_arrays(storage.part(arrays, "statistics/")).to_arrow().to_pylist()
        frequencies = dict(zip(words, arrays["frequencies"].tolist(), strict=True))
        index = cls(
            window_of(meta["window"]),
            space=Space[meta["space"]],
            max_dist=meta["max_dist"],
            statistics=WordStatistics(meta["documents"], frequencies),
            lateness=meta["lateness"],
            **meta["settings"],
        )
        index.now = float("-inf") if meta["now"] is None else meta["now"]
        index._terms, index._unused_terms = meta["terms"], meta["unused_terms"]
        index._largest = meta["largest"]
        index._grid = None if meta["grid"] is None else tuple(meta["grid"])
        index._subscription_ids = IdTable.from_arrays(storage.part(arrays, "subscription_ids/"))
        index._message_ids = MessageIds.from_arrays(storage.part(arrays, "message_ids/"))
        index._vocabulary = StringTable.from_arrays(storage.part(arrays, "vocabulary/"))
        index._idf = GrowingArray(arrays["idf"])
        index._times = GrowingArray(arrays["times"])
        for name, parts in (_COMMON | cls._parts).items():
            taken = storage.part(arrays, f"{name}/")
            setattr(index, f"_{name}", parts(*(taken[field] for field in parts._fields)))
        index._take_more_arrays(arrays)
        return index

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state."""
        arrays: dict[str, NDArray[Any]] = {
            "idf": self._idf.used,
            "times": self._times.used,
            **self._more_arrays(),
        }
        for name in _COMMON | self._parts:
            for field, array in getattr(self, f"_{name}")._asdict().items():
                arrays[f"{name}/{field}"] = array
        for name, table in (
            ("subscription_ids", self._subscription_ids),
            ("message_ids", self._message_ids),
            ("vocabulary", self._vocabulary),
        ):
            arrays |= {f"{name}/{field}": array for field, array in table.arrays().items()}
        return arrays

    # ------------------------------------------------------------------ private

    def _slot(self, subscription_id: Id) -> int:
        return self._subscription_ids.slot_of(possible_id(subscription_id))

    @property
    def _grid_or_any(self) -> tuple[float, float, float, float]:
        return self._grid or (0.0, 0.0, 1.0, 1.0)

    @property
    def _distances(self) -> Distances:
        return Distances.of(self.space, self.scoring.max_dist)

    @property
    def _most(self) -> int:
        return self.window.messages if isinstance(self.window, CountWindow) else MOST_MESSAGES

    @property
    def _seconds(self) -> float:
        return self.window.seconds if isinstance(self.window, TimeWindow) else float("inf")

    def _tidy(self) -> None:
        """Before messages come: forget words that nobody has any more, and count from 0 again."""
        words = len(self._vocabulary)
        if words > FEW_WORDS + 2 * self._words_when_counted:
            kept = words_in_use(self._held_by_words[:words] > 0, self._rings)
            self._words_when_counted = len(kept)
            if words > FEW_WORDS + 2 * len(kept):
                texts = self._vocabulary.to_arrow(kept)
                self._vocabulary = StringTable()
                self._vocabulary.add(texts)
                self._idf = GrowingArray(self._idf.used[kept])
                self._rings = with_words(self._subscriptions, self._messages, self._rings, kept)
                self._keep_words(kept)
        if int(self._messages.ends[NEXT]) > LATEST:
            size = len(self._messages.live)
            shift = int(self._messages.ends[OLDEST]) // size * size
            count_from(
                self._subscriptions, self._rows.seq, self._messages, self._rings,
                self._subscription_ids.live_slots(), shift,
            )  # fmt: skip
            self._message_ids.count_from(shift)
        if int(self._touched.ends[STEPS]) > LATEST:
            self._touched.ends[STEPS] = 0
            count_steps_from_0(self._subscriptions)

    def _choose_grid(self, x: float, y: float) -> None:
        """In a plane: around the first message, as far as nearness counts."""
        if self._grid is None:
            far = self.scoring.max_dist
            self._grid = (x - far, y - far, 2.0 * far / CELLS, 2.0 * far / CELLS)

    def _numbers(self, words: Any) -> NDArray[np.int32]:
        """The numbers of words; new ones get a place in everything that words have."""
        known = len(self._vocabulary)
        numbers = self._vocabulary.add(words)
        fresh = len(self._vocabulary) - known
        if fresh:
            new = self._vocabulary.to_arrow(np.arange(known, known + fresh)).to_pylist()
            self._idf.extend(np.array([self.scoring.statistics.idf(word) for word in new]))
            size = len(self._vocabulary)
            self._room_for_words(size)
            self._rings = self._rings._replace(rings=wider(self._rings.rings, size, 0))
        return numbers

    def _room_for_slots(self, slots: NDArray[np.int32], k: int) -> None:
        size = int(slots.max()) + 1
        subscriptions = self._subscriptions
        self._subscriptions = subscriptions._replace(
            place=wider(subscriptions.place, size, 0.0), head=wider(subscriptions.head, size, 0)
        )
        self._room_for_rows(size, k)

    def _room_for_terms(self, count: int) -> None:
        subscriptions = self._subscriptions
        size = self._terms + count
        self._subscriptions = subscriptions._replace(
            word=wider(subscriptions.word, size, 0),
            weight=wider(subscriptions.weight, size, 0.0),
            where=wider(subscriptions.where, size, 0),
        )


def _rank(word: tuple[float, int, int]) -> tuple[float, int]:
    """Rare words first, as `columns.counted` has them."""
    idf, number, _ = word
    return -idf, number


_COMMON: dict[str, Any] = {
    "subscriptions": Subscriptions,
    "messages": Messages,
    "rings": Rings,
    "touched": Touched,
}
