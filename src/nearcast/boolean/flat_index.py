"""An index over a `SubscriptionStore`: all that does not depend on how entries are arranged."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.batches.expression_column import ExpressionColumn
from nearcast.boolean.bits import Bits
from nearcast.boolean.found import Found, starts_of
from nearcast.boolean.id_table import ForAll
from nearcast.boolean.index import (
    BooleanIndex,
    IndexStats,
    check_space,
    check_threads,
    possible_id,
)
from nearcast.boolean.subscription_store import FEW_CLAUSE_WORDS, Entries, SubscriptionStore
from nearcast.model import Message, Space, Subscription
from nearcast.space import place_rects
from nearcast.space.region_column import RegionColumn

# Single changes wait until a message asks, but never more of them than this.
MOST_WAITING = 4096


class FlatIndex(BooleanIndex):
    """Keeps subscriptions in a store; a subclass arranges their entries.

    Changes made one at a time wait in a small buffer and are applied together before anything that
    could tell the difference: arrays are quick to change by the hundred, not singly. Reading may
    therefore write: calls from several threads at once need a lock around them.
    """

    _store_type: ClassVar[type[SubscriptionStore]] = SubscriptionStore

    def __init__(self, space: Space) -> None:
        self.space = space
        self._store = self._store_type(space)
        self._waiting: dict[int | str, Subscription | None] = {}  # None: to be removed
        self._word_bits, self._slot_bits = Bits(), Bits()
        self._looked_at = 0
        self._matches = 0

    # ------------------------------------------------------------------ what a subclass does

    @abstractmethod
    def _place(self, entries: Entries) -> None:
        """Arrange entries that the store has just got."""

    @abstractmethod
    def _withdraw(self, entries: Entries) -> None:
        """Take entries out that the store is about to forget."""

    @abstractmethod
    def _tidy(self) -> None:
        """The store and the arrangement agree again: the moment for larger repairs."""

    @abstractmethod
    def _matcher(
        self,
        words: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
    ) -> Callable[[int, int], list[Found]]:
        """A function that matches the messages first:last; it may run in several threads.

        The arrays are those of `MessageBatch`, but `words` are ranks, -1 for unknown words.
        """

    @abstractmethod
    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What `_arrange_from` needs to have the same arrangement again: settings and arrays."""

    @abstractmethod
    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over a saved arrangement; the store is there already."""

    @abstractmethod
    def _nodes_and_copies(self) -> tuple[int, float]:
        """For `stats`."""

    # ------------------------------------------------------------------ coming and going

    def insert(self, subscription: Subscription) -> None:
        """Add one subscription, or replace the live one of the same id.  Amortised as a batch."""
        region = subscription.region
        if region is not None and region.space is not self.space:
            check_space(f"subscription {subscription.id!r} is", region.space, self.space)
        clauses = subscription.expression.clauses
        first = clauses[0]
        if (
            not self._store.is_roomy
            or len(clauses) > 1
            or len(first.required) + len(first.forbidden) > FEW_CLAUSE_WORDS
        ):
            sizes = [(len(each.required), len(each.forbidden)) for each in clauses]
            words = sum(map(sum, sizes))
            self._store.check_sizes(max(map(max, sizes)), words, words, len(clauses))
        self._wait(subscription.id, subscription)

    def insert_batch(self, batch: SubscriptionBatch) -> None:
        """Add subscriptions; those whose id is live replace the old ones.  All or none."""
        check_space("the subscriptions are", batch.space, self.space)
        self._store.check_sizes(
            max(
                int(np.diff(batch.required_start).max(initial=0)),
                int(np.diff(batch.forbidden_start).max(initial=0)),
            ),
            len(batch.required) + len(batch.forbidden),
            len(batch.lexicon),
            len(batch.required_start) - 1,
        )
        self._catch_up()
        self._replace(batch.ids, batch)
        self._tidy()

    def remove(self, subscription_id: int | str) -> None:
        """Take a live subscription out; KeyError for an unknown id.  Amortised as a batch."""
        known = possible_id(subscription_id)
        if known in self._waiting:
            live = self._waiting[known] is not None
        else:
            live = self._store.ids.has(known)
        if not live:
            raise KeyError(subscription_id)
        self._wait(known, None)

    def _wait(self, subscription_id: int | str, change: Subscription | None) -> None:
        self._waiting[subscription_id] = change
        if len(self._waiting) >= MOST_WAITING:
            self._catch_up()

    def _catch_up(self) -> None:
        """Apply the changes that wait."""
        if not self._waiting:
            return
        changes = []
        for kind, type_ in ((int, pa.int64()), (str, pa.large_string())):  # a batch has one kind
            ids = [id_ for id_ in self._waiting if isinstance(id_, kind)]
            if ids:
                both, known = [*map(self._waiting.__getitem__, ids)], pa.array(ids, type_)
                added = [change for change in both if change is not None]
                new = known if len(added) == len(ids) else pa.array([a.id for a in added], type_)
                changes.append((known, self._batch_of(added, new)))
        self._waiting = {}
        for ids_gone, batch in changes:
            self._replace(ids_gone, batch)
        self._tidy()

    def _batch_of(self, subscriptions: list[Subscription], ids: pa.Array) -> SubscriptionBatch:
        """Subscriptions that `insert` has checked, with these ids, all of one kind."""
        return SubscriptionBatch(
            ids,
            ExpressionColumn.of_expressions(one.expression for one in subscriptions),
            RegionColumn.of_regions((one.region for one in subscriptions), self.space),
        )

    def _replace(self, ids: pa.Array, batch: SubscriptionBatch) -> None:
        """Forget those of the ids that are live, and add the batch."""
        slots = self._store.ids.find(ids)
        slots = slots[slots >= 0]
        if len(slots):
            self._withdraw(self._store.entries_of(slots))
            self._store.remove(slots)
        if len(batch):
            self._place(self._store.add(batch))

    # ------------------------------------------------------------------ matching

    def match_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        """The subscriptions each message reaches; the work is divided among `threads`.

        Ids come back as integers, or as strings where any live id is one.
        """
        check_space("the messages are", messages.space, self.space)
        check_threads(threads)
        self._catch_up()
        match_rows = self._matcher(
            self._store.ranks_of(messages.lexicon)[messages.words],
            messages.word_start,
            messages.rects,
            messages.rect_start,
        )
        borders = np.linspace(0, len(messages), threads + 1).astype(np.int64).tolist()
        with _in_threads(threads) as for_all:
            parts = for_all(lambda rows: match_rows(*rows), pairwise(borders))
            found = [each for part in parts for each in part]
            start = starts_of(found, len(messages))
            ids = self._store.ids.ids_in_order(found, start, for_all)
        candidates = sum(int(part.candidates) for part in found)
        self._count(candidates, len(ids))
        return Matches(messages.ids, start, ids, candidates)

    def match(self, message: Message) -> list[int | str]:
        """The ids of the subscriptions that want this message.

        A batch of one, without the columns that matching does not look at.
        """
        check_space(f"message {message.id!r} is", message.at.space, self.space)
        self._catch_up()
        words = self._store.ranks_of(list(set(message.keywords)))
        rects = np.array(place_rects(message.at))
        match_rows = self._matcher(
            words, np.array([0, len(words)]), rects, np.array([0, len(rects)], np.int32)
        )
        [found] = match_rows(0, 1)
        self._count(found.candidates, len(found.slots))
        return self._store.ids.list_of(found.slots)

    def _count(self, candidates: int, matches: int) -> None:
        self._looked_at += int(candidates)
        self._matches += matches

    # ------------------------------------------------------------------ looking things up

    def subscription(self, subscription_id: int | str) -> Subscription:
        self._catch_up()
        return self._store.subscription(self._store.ids.slot_of(possible_id(subscription_id)))

    def subscriptions(self, ids: pa.Array) -> SubscriptionBatch:
        self._catch_up()
        slots = self._store.ids.find(ids)
        for row in np.flatnonzero(slots < 0)[:1].tolist():
            raise KeyError(ids[row].as_py())
        return SubscriptionBatch(
            ids, self._store.expressions_of(slots), self._store.regions.take(slots)
        )

    def ids(self) -> list[int | str]:
        self._catch_up()
        return self._store.ids.list_of(self._store.ids.live_slots())

    def __len__(self) -> int:
        self._catch_up()
        return len(self._store)

    def __contains__(self, subscription_id: object) -> bool:
        self._catch_up()
        try:
            return self._store.ids.has(possible_id(subscription_id))
        except KeyError:
            return False

    def stats(self) -> IndexStats:
        self._catch_up()
        nodes, copies = self._nodes_and_copies()
        _, arrays = self._arrangement()
        return IndexStats(
            subscriptions=len(self._store),
            bytes=self._store.nbytes + sum(array.nbytes for array in arrays.values()),
            nodes=nodes,
            copies=copies,
            candidates=self._looked_at,
            matches=self._matches,
        )

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, all or nothing.  O(size)."""
        self._catch_up()
        settings, arrays = self._arrangement()
        arrays = {f"own/{name}": array for name, array in arrays.items()}
        arrays |= {f"store/{name}": array for name, array in self._store.arrays().items()}
        meta = {"space": self.space.name, "settings": settings}
        storage.write_arrays(path, type(self).__name__, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index: checked and mapped, not built.  O(size) for the checksums alone."""
        meta, arrays = storage.read_arrays(path, cls.__name__)
        space = Space[meta["space"]]
        index = cls.__new__(cls)
        FlatIndex.__init__(index, space)
        index._store = cls._store_type.from_arrays(storage.part(arrays, "store/"), space)
        index._arrange_from(meta["settings"], storage.part(arrays, "own/"))
        return index


@contextmanager
def _in_threads(threads: int) -> Iterator[ForAll]:
    """Something like `map` that divides its work among so many threads."""
    if threads == 1:
        yield map
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield pool.map
