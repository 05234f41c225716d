"""`Hash`: subscriptions are dealt out by their ids, messages go everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning.hashing import Hashes
from nearcast.pipeline.partitioning.partitioning import Partitioning, check_shards
from nearcast.pipeline.partitioning.routes import Routes


@dataclass(frozen=True, slots=True)
class Hash(Partitioning):
    """A subscription is kept once, at `id_hash % shards`; a message goes to all shards.

    Perfectly balanced whatever the data, and the id alone tells where a subscription is. The price
    is a copy of each message for each shard (DSkype, section 7.3.1).

    >>> import pyarrow as pa
    >>> from nearcast.pipeline.partitioning import hash_ids
    >>> Hash(3).of_removals(hash_ids(pa.array([7, 8, 9]))).shards
    array([0, 1, 1], dtype=int32)
    """

    name: ClassVar[str] = "hash"
    shards: int

    def __post_init__(self) -> None:
        check_shards(self.shards)

    def of_subscriptions(self, batch: SubscriptionBatch, id_hash: Hashes) -> Routes:
        return self.of_removals(id_hash)

    def of_messages(self, batch: MessageBatch) -> Routes:
        return Routes.to_all(len(batch), self.shards)

    def of_removals(self, id_hash: Hashes) -> Routes:
        return Routes.to_one((id_hash % np.uint64(self.shards)).astype(np.int32))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    @classmethod
    def _of_arrays(cls, shards: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return cls(shards)
