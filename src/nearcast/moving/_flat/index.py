"""`FlatMoving`: a boolean index of subscriptions, a store of live messages, an index of them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from math import inf
from time import perf_counter
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean.index import check_space, possible_id
from nearcast.growing_array import GrowingArray
from nearcast.model import Id, Message, Space, Subscription
from nearcast.model._checks import finite_number
from nearcast.model.shapes import Region
from nearcast.moving._flat.message_store import Gathered, MessageStore, joined
from nearcast.moving._flat.messages import Messages, told
from nearcast.moving._flat.movable import Movable
from nearcast.moving._flat.sides import Found, Movers, Sides
from nearcast.moving._flat.words import NumberedWords
from nearcast.moving.change import Change, Changes, difference
from nearcast.moving.index import MovingIndex, MovingStats
from nearcast.moving.late_positions import LatePositions
from nearcast.space import RegionColumn
from nearcast.space.region_column import EVERYWHERE

Told = TypeVar("Told", list[Change], Changes)


class MessageLists(Protocol):
    """An index of live messages: who gains and loses which when regions change."""

    def insert(self, messages: Messages, slots: NDArray[np.int64]) -> None: ...

    def remove(self, messages: Messages, slots: NDArray[np.int64]) -> None: ...

    def is_worn(self, live: int) -> bool: ...

    def make_anew(self, messages: Messages, live: NDArray[np.int64]) -> None: ...

    def differences(self, messages: Messages, movers: Movers, old: Sides, new: Sides) -> Found: ...

    def have_words(self, words: int) -> None: ...

    def keep_words(self, kept: NDArray[np.int64]) -> None: ...

    def check(self, messages: Messages, live: NDArray[np.int64]) -> None: ...

    def arrays(self) -> dict[str, NDArray[Any]]: ...

    @property
    def nbytes(self) -> int: ...


class FlatMoving(MovingIndex):
    """A `MovingIndex` in flat arrays.  No result is kept: what is needed is found when it is.

    - A message that arrives, or expires, finds its subscriptions by the boolean index.
    - A subscription that comes, moves or goes finds its messages by the index of messages, where
      the old region and the new one differ.

    A derived class says which two indexes these are.
    """

    _subscriptions: Movable
    _lists: MessageLists

    # ------------------------------------------------------------------ what a derived class does

    @abstractmethod
    def _new_subscriptions(self) -> Movable:
        """An empty index of subscriptions."""

    @abstractmethod
    def _new_lists(self) -> MessageLists:
        """An empty index of messages."""

    @abstractmethod
    def _lists_of(self, arrays: Mapping[str, NDArray[Any]]) -> MessageLists:
        """The index of messages whose `arrays()` these are."""

    # ------------------------------------------------------------------ subscriptions

    def _begin(self) -> None:
        self._subscriptions = self._new_subscriptions()
        self._messages = MessageStore()
        self._words = NumberedWords()
        self._lists = self._new_lists()
        self._position_time = GrowingArray(np.empty(0))  # by slot, -inf for none
        self._candidates = 0
        self._moves = 0
        self._relocations = 0
        self._inserting = self._relocating = 0.0

    def subscribe(self, subscription: Subscription) -> list[Change]:
        self._check_subscription(subscription)
        before = self.results(subscription.id) if subscription.id in self else set()
        self._insert(SubscriptionBatch.from_subscriptions([subscription], space=self.space))
        return difference(subscription.id, before, self.results(subscription.id))

    def subscribe_batch(self, batch: SubscriptionBatch) -> Changes:
        """Many subscriptions, each as `subscribe` would take it, all or none."""
        check_space("the subscriptions are", batch.space, self.space)
        if (self._subscriptions.find(batch.ids) >= 0).any():
            return super().subscribe_batch(batch)
        slots = self._insert(batch)
        regions = self._regions
        found = self._differences(
            slots, Sides.nowhere(regions, len(slots)), Sides.at(regions, slots.astype(np.int64))
        )
        return self._columns(slots, found)

    def _insert(self, batch: SubscriptionBatch) -> NDArray[np.int32]:
        self._subscriptions.insert_batch(batch)
        store = self._subscriptions.store
        self._words.follow(store, batch.lexicon)
        self._lists.have_words(len(self._words))
        slots = self._subscriptions.find(batch.ids)
        fresh = store.ids.slots - len(self._position_time.used)
        if fresh > 0:
            self._position_time.extend(np.full(fresh, -inf))
        self._position_time.used[slots] = -inf
        return slots

    def unsubscribe(self, subscription_id: Id) -> list[Change]:
        slot = self._slot(subscription_id)
        id = self._subscriptions.store.ids.id_of(slot)
        before = self.results(id)
        self._subscriptions.remove_now(slot)
        self._words.follow(self._subscriptions.store)
        return difference(id, before, set())

    def move(
        self, subscription_id: Id, region: Region | None, *, time: float | None = None
    ) -> list[Change]:
        slot = self._slot(subscription_id)
        id = self._subscriptions.store.ids.id_of(slot)
        if region is None and self._is_any(np.array([slot]))[0]:
            self._check_region(self.subscription(id), region)
        elif region is not None:
            self._check_is_region(id, region)
        slots = np.array([slot], np.int32)
        if time is not None:
            time = finite_number(time, f"subscription {id!r}: time")
            if self._is_late(id, time, float(self._position_time.used[slot])):
                return []
            self._position_time.used[slot] = time
        found = self._moved(slots, RegionColumn.of_regions([region], self.space))
        ids = self._messages.ids.list_of(found.slots)
        return [
            Change(id, sign, message_id)
            for sign, message_id in zip(found.signs.tolist(), ids, strict=True)
        ]

    def move_batch(
        self, ids: pa.Array, regions: RegionColumn, *, times: NDArray[np.float64] | None = None
    ) -> Changes:
        """Many moves in their order, of different subscriptions, all or none.

        `regions` has one row for each id; so has `times`, NaN where a position has none.
        """
        self._check_moves(ids, regions, times)
        slots = self._subscriptions.find(ids) if len(ids) else np.empty(0, np.int32)
        if (slots < 0).any():
            raise KeyError(ids[int(np.argmax(slots < 0))].as_py())
        everywhere = np.flatnonzero(regions.kernel_arrays()[0] == EVERYWHERE)
        refused = everywhere[self._is_any(slots[everywhere])]
        if len(refused):
            self._check_region(self.subscription(ids[int(refused[0])].as_py()), None)
        if times is not None:
            in_time = self._in_time(slots, times)
            slots, regions = slots[in_time], regions.take(in_time)
        return self._columns(slots, self._moved(slots, regions))

    def _in_time(self, slots: NDArray[np.int32], times: NDArray[np.float64]) -> NDArray[np.int64]:
        """Which positions count; they are noted as the last ones."""
        if np.isinf(times).any():
            raise ValueError("a time is not finite; give seconds, or NaN for none")
        last = self._position_time.used[slots]
        late = times < last
        if self.late_positions is LatePositions.TAKEN:
            late[:] = False
        elif late.any():
            row = int(np.argmax(late))
            id = self._subscriptions.store.ids.id_of(int(slots[row]))
            self._is_late(id, float(times[row]), float(last[row]))
        timed = ~late & ~np.isnan(times)
        self._position_time.used[slots[timed]] = times[timed]
        return np.flatnonzero(~late)

    def _moved(self, slots: NDArray[np.int32], regions: RegionColumn) -> Found:
        """Subscriptions have other regions now: what changes."""
        rows = np.arange(len(slots))
        old = Sides.at(self._subscriptions.store.regions, slots.astype(np.int64))
        found = self._differences(slots, old, Sides.at(regions, rows))
        self._relocate(slots, regions)
        self._moves += len(slots)
        return found

    def _relocate(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        begin = perf_counter()
        self._subscriptions.relocate(slots, regions)
        self._words.follow(self._subscriptions.store)
        self._relocations += len(slots)
        self._relocating += perf_counter() - begin

    def _differences(self, slots: NDArray[np.int32], old: Sides, new: Sides) -> Found:
        store = self._subscriptions.store
        movers = Movers(
            slots, store.clauses, store.chains, self._words.number_of, self.space is Space.EARTH
        )
        found = self._lists.differences(self._messages.messages, movers, old, new)
        self._candidates += found.candidates
        return found

    def _columns(self, slots: NDArray[np.int32], found: Found) -> Changes:
        return Changes(
            self._subscriptions.store.ids.ids_of(slots[found.rows]),
            found.signs,
            self._messages.ids.ids_of(found.slots),
        )

    def _is_any(self, slots: NDArray[Any]) -> NDArray[np.bool_]:
        """Which subscriptions take any words, and need a region therefore?"""
        store = self._subscriptions.store
        is_any: NDArray[np.bool_] = store.clauses.required[store.chains.first[slots]] == 0
        return is_any

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[Change]:
        self._check_message(message)
        batch = MessageBatch.from_messages([message], space=self.space)
        return self._pass(batch, self.now, self._list)

    def publish_batch(self, messages: MessageBatch) -> Changes:
        """Many messages in their order, each as `publish` would take it."""
        check_space("the messages are", messages.space, self.space)
        return self._pass(messages, self.now, self._message_columns)

    def advance(self, now: float) -> list[Change]:
        return self._pass(None, self._checked_now(now), self._list)

    def advance_batch(self, now: float) -> Changes:
        """`advance`, as columns."""
        return self._pass(None, self._checked_now(now), self._message_columns)

    def _pass(self, batch: MessageBatch | None, last_now: float, tell: Callable[..., Told]) -> Told:
        """Messages arrive, others expire, and then it is `last_now` at the earliest.

        `tell` makes what is returned of subscriptions, signs and messages, given by their slots,
        while those that have expired still have theirs.
        """
        store = self._messages
        slots, old_seq, times = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        replaced = slots
        old = store.gathered(replaced)
        if batch is not None and len(batch):
            numbers = self._words.numbers(batch.lexicon)
            self._lists.have_words(len(self._words))
            known = store.ids.find(batch.ids).astype(np.int64)
            replaced = known[known >= 0]
            old = store.gathered(replaced)
            self._lists.remove(store.messages, replaced)
            times = batch.time
            slots, old_seq = store.put(batch, numbers, self._ends(batch))
        events, live, now = store.pass_time(slots, times, old_seq, self.now, last_now)
        others = events[events[:, 1] < 0, 2]
        told = self._told(slots, old_seq, old, others, events)
        answer = tell(*told)
        self.now = now
        begin = perf_counter()
        self._lists.remove(store.messages, others)
        store.forget(np.concatenate([others, slots[~live]]))
        if self._lists.is_worn(len(store)):
            self._lists.make_anew(store.messages, store.live())
        else:
            self._lists.insert(store.messages, slots[live])
        self._inserting += perf_counter() - begin
        self._forget_words()
        return answer

    def _told(
        self,
        slots: NDArray[np.int64],
        old_seq: NDArray[np.int64],
        old: Gathered,
        others: NDArray[np.int64],
        events: NDArray[np.int64],
    ) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int64]]:
        """Who hears of events: slots of subscriptions, signs, slots of messages."""
        if len(events) == 0:
            return np.empty(0, np.int32), np.empty(0, np.int8), np.empty(0, np.int64)
        words, word_start, rects, rect_start = joined(
            [self._messages.gathered(slots), old, self._messages.gathered(others)]
        )
        found, end = self._matches(words, word_start, rects, rect_start, len(slots))
        count, is_old = len(slots), old_seq >= 0
        versions = np.arange(2 * count + len(others))
        versions[count : 2 * count][is_old] = count + np.arange(int(is_old.sum()))
        versions[2 * count :] -= count - int(is_old.sum())
        subscriptions, signs, numbers = told(events, versions, count, found, end)
        return subscriptions, signs, events[numbers, 2]

    def _matches(
        self,
        words: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
        arriving: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Whom messages concern, the first `arriving` of which are new: see `Movable.matches`."""
        return self._subscriptions.matches(
            self._words.rank_of[words], word_start, rects, rect_start
        )

    def _ends(self, batch: MessageBatch) -> NDArray[np.float64]:
        """When messages expire; inf for never."""
        lifetime = inf if self.lifetime is None else self.lifetime
        return np.where(np.isnan(batch.expires), batch.time + lifetime, batch.expires)

    def _list(
        self, subscriptions: NDArray[np.int32], signs: NDArray[np.int8], slots: NDArray[np.int64]
    ) -> list[Change]:
        ids = self._subscriptions.store.ids.list_of(subscriptions)
        columns = (ids, signs.tolist(), self._messages.ids.list_of(slots))
        return [Change(*row) for row in zip(*columns, strict=True)]

    def _message_columns(
        self, subscriptions: NDArray[np.int32], signs: NDArray[np.int8], slots: NDArray[np.int64]
    ) -> Changes:
        ids = self._subscriptions.store.ids.ids_of(subscriptions)
        return Changes(ids, signs, self._messages.ids.ids_of(slots))

    def _forget_words(self) -> None:
        if not self._words.may_have_unused():
            return
        words = len(self._words)
        kept = self._words.keep(self._messages.words_in_use(words))
        if kept is not None:
            new_number = np.full(words, -1, np.int32)
            new_number[kept] = np.arange(len(kept), dtype=np.int32)
            self._messages.renumber(new_number)
            self._lists.keep_words(kept)
            if self._lists.is_worn(len(self._messages)):
                self._lists.make_anew(self._messages.messages, self._messages.live())

    # ------------------------------------------------------------------ looking things up

    def results(self, subscription_id: Id) -> set[Id]:
        slots = np.array([self._slot(subscription_id)], np.int32)
        regions = self._regions
        found = self._differences(
            slots, Sides.nowhere(regions, 1), Sides.at(regions, slots.astype(np.int64))
        )
        return set(self._messages.ids.list_of(found.slots))

    def subscription(self, subscription_id: Id) -> Subscription:
        return self._subscriptions.subscription(subscription_id)

    def ids(self) -> list[Id]:
        return self._subscriptions.ids()

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._subscriptions

    @property
    def next_expiry(self) -> float:
        return self._messages.next_expiry

    def stats(self) -> MovingStats:
        return MovingStats(
            subscriptions=len(self),
            messages=len(self._messages),
            subscription_bytes=self._subscriptions.stats().bytes + self._position_time.used.nbytes,
            message_bytes=self._messages.nbytes + self._lists.nbytes + self._words.nbytes,
            candidates=self._candidates,
            moves=self._moves,
            relocations=self._relocations,
            inserting=self._inserting,
            relocating=self._relocating,
        )

    def check(self) -> None:
        self._subscriptions.check()
        self._messages.check(self.now)
        self._lists.check(self._messages.messages, self._messages.live())
        self._words.check(self._subscriptions.store)

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        meta = {
            "space": self.space.name,
            "lifetime": self.lifetime,
            "late_positions": self.late_positions.name,
            "now": None if self.now == -inf else self.now,
            "counts": [self._candidates, self._moves, self._relocations],
            "settings": self._more_settings(),
        }
        arrays: dict[str, NDArray[Any]] = {
            "position_time": self._position_time.used,
            **self._more_arrays(),
        }
        for name, arrayed in (
            ("messages", self._messages), ("lists", self._lists), ("words", self._words)
        ):  # fmt: skip
            arrays |= {f"{name}/{field}": array for field, array in arrayed.arrays().items()}
        with storage.writing_parts(path, type(self).__name__) as part_path:
            self._subscriptions.save(part_path("subscriptions"))
            storage.write_arrays(part_path("own"), type(self).__name__, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        if storage.read_kind(path) != cls.__name__:
            storage.read_arrays(path, cls.__name__)  # says what it is instead
        meta, arrays = storage.read_arrays(storage.PartPath(path, "own"), cls.__name__)
        index = cls(
            space=Space[meta["space"]],
            lifetime=meta["lifetime"],
            late_positions=LatePositions[meta["late_positions"]],
            **meta["settings"],
        )
        index.now = -inf if meta["now"] is None else meta["now"]
        index._candidates, index._moves, index._relocations = meta["counts"]
        subscriptions = storage.PartPath(path, "subscriptions")
        index._subscriptions = type(index._subscriptions).load(subscriptions)
        index._position_time = GrowingArray(arrays["position_time"])
        index._messages = MessageStore.from_arrays(storage.part(arrays, "messages/"))
        index._words = NumberedWords.from_arrays(storage.part(arrays, "words/"))
        index._lists = index._lists_of(storage.part(arrays, "lists/"))
        index._take_more_arrays(arrays)
        return index

    def _more_settings(self) -> dict[str, Any]:
        """Arguments of the constructor that others do not have, as JSON."""
        return {}

    def _more_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of its state that others do not have."""
        return {}

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Have what `_more_arrays` gave, among others."""

    # ------------------------------------------------------------------ private

    @property
    def _regions(self) -> RegionColumn:
        """Where subscriptions are, by slot."""
        return self._subscriptions.store.regions

    def _slot(self, subscription_id: Id) -> int:
        return self._subscriptions.store.ids.slot_of(possible_id(subscription_id))
