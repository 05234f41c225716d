"""`LiveShard`: the hot copy of a shard in a worker, which follows the stream batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.boolean.index import BooleanIndex
from nearcast.growing_array import GrowingArray
from nearcast.pipeline.changes import Changes, Withdrawals
from nearcast.pipeline.partitioning import Partitioning, first_common, hash_ids
from nearcast.pipeline.rows import Rows
from nearcast.pipeline.snapshot import MakeIndex, Snapshot
from nearcast.pipeline.versions import Versions


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matches: the id of a subscription, and the row of a message in its batch."""

    subscription_ids: pa.Array
    message: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.message)


class LiveShard:
    """A snapshot, mapped and shared, and beside it a small index of what came since.

    - `applied`: the number of the last batch whose changes are in
    - `unknown`: which withdrawals of that batch found nothing to withdraw
    """

    def __init__(
        self,
        number: int,
        snapshot: Snapshot,
        applied: int,
        partitioning: Partitioning,
        make_index: MakeIndex,
    ) -> None:
        self.number = number
        self.applied = applied
        self.unknown: Withdrawals | None = None
        self.snapshot = snapshot
        self._partitioning = partitioning
        self._versions = Versions(snapshot.ids)
        self._recent: BooleanIndex = make_index()  # its ids are entries
        self._recent_masks = None
        if snapshot.masks is not None:
            self._recent_masks = GrowingArray(np.empty((0, snapshot.masks.shape[1]), np.uint64))

    @property
    def changes(self) -> int:
        """How much a next snapshot would have to take in."""
        return self._versions.entries + self._versions.gone

    def begin_batch(self) -> None:
        """All changes so far lie in the past, whatever their positions were."""
        self._versions.begin_batch()

    def apply(self, batch: int, changes: Changes) -> None:
        """Take over the changes of a batch, once."""
        if batch <= self.applied:
            raise ValueError(f"batch {batch} is in already; the last one was {self.applied}")
        self.begin_batch()
        begin = self._versions.entries
        self.unknown = self._versions.apply(changes)
        new = changes.new
        if len(new):
            entries = pa.array(np.arange(begin, begin + len(new)))
            self._recent.insert_batch(replace(new.batch, ids=entries))
            if self._recent_masks is not None:
                routes = self._partitioning.of_subscriptions(new.batch, hash_ids(new.labels))
                self._recent_masks.extend(routes.masks(self._partitioning.shards))
        self.applied = batch

    def match(self, messages: Rows[MessageBatch]) -> list[Pairs]:
        """Who wants these messages, each as of its position in the stream?"""
        found = [self._match_snapshot(messages)]
        if self._versions.entries:
            found.append(self._match_recent(messages))
        return [pairs for pairs in found if len(pairs)]

    def _match_snapshot(self, messages: Rows[MessageBatch]) -> Pairs:
        slot, message = _pairs(self.snapshot.index, messages)
        if self._versions.gone:
            lives = self._versions.gone_at[slot] > messages.position[message]
            slot, message = slot[lives], message[lives]
        slot, message = self._own(slot, message, self.snapshot.masks, messages)
        return Pairs(self.snapshot.ids.ids_of(slot), message)

    def _match_recent(self, messages: Rows[MessageBatch]) -> Pairs:
        entry, message = _pairs(self._recent, messages)
        position = messages.position[message]
        lives = (self._versions.born[entry] < position) & (position < self._versions.died[entry])
        entry, message = entry[lives], message[lives]
        masks = None if self._recent_masks is None else self._recent_masks.used
        entry, message = self._own(entry, message, masks, messages)
        return Pairs(self._versions.labels().take(pa.array(entry)), message)

    def _own(
        self,
        found: NDArray[np.int64],
        message: NDArray[np.int64],
        masks: NDArray[np.uint64] | None,
        messages: Rows[MessageBatch],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of the pairs that several shards find, those for which this one is the lowest."""
        if masks is None:
            return found, message
        routes = self._partitioning.of_messages(messages.batch)
        if (np.diff(routes.start) <= 1).all():
            return found, message  # no other shard has seen these messages
        visited = routes.masks(self._partitioning.shards)
        own = first_common(masks[found], visited[message]) == self.number
        return found[own], message[own]


def _pairs(
    index: BooleanIndex, messages: Rows[MessageBatch]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = index.match_batch(messages.batch)
    message = np.repeat(np.arange(len(messages)), np.diff(found.start))
    return np.array(found.subscription_ids, np.int64), message
