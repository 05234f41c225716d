"""`Partitioning`: the contract of all ways to divide subscriptions and messages among shards."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.pipeline.partitioning.hashing import Hashes
from nearcast.pipeline.partitioning.routes import Routes


class Partitioning(ABC):
    """Says which shards a subscription lives in and which shards a message has to visit.

    For every subscription and every message that matches it, the two have a shard in common. They
    may have several: the pair is reported by the lowest one (`first_common`), so that nothing is
    reported twice. Routes depend on the row alone, never on the batch it comes in.

    A partitioning never changes, can be pickled, and is saved to one file.
    """

    name: ClassVar[str]
    shards: int

    @abstractmethod
    def of_subscriptions(self, batch: SubscriptionBatch, id_hash: Hashes) -> Routes:
        """Where each subscription is kept; `id_hash` is `hash_ids` of the ids people gave."""

    @abstractmethod
    def of_messages(self, batch: MessageBatch) -> Routes:
        """Where each message has to go; every message goes somewhere."""

    def of_removals(self, id_hash: Hashes) -> Routes:
        """Where live subscriptions with these ids may be kept.  All shards, unless the id tells."""
        return Routes.to_all(len(id_hash), self.shards)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the partitioning to one file, all or nothing."""
        meta = {"shards": self.shards}
        storage.write_arrays(path, type(self).__name__, meta, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The partitioning that `save` wrote; `load_partitioning` finds the class by itself."""
        meta, arrays = storage.read_arrays(path, cls.__name__)
        return cls._of_arrays(int(meta["shards"]), arrays)

    def fingerprint(self) -> str:
        """The same for two partitionings exactly when they route alike."""
        digest = xxhash.xxh3_128(f"{type(self).__name__} {self.shards}".encode())
        for name, array in sorted(self._arrays().items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """All that routes depend on, besides the number of shards."""

    @classmethod
    @abstractmethod
    def _of_arrays(cls, shards: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The partitioning whose `_arrays` these are."""


def check_shards(shards: int) -> None:
    """Refuse a number of shards that is none.

    >>> check_shards(0)
    Traceback (most recent call last):
    ValueError: 0 shards hold nothing; give at least 1
    """
    if shards < 1:
        raise ValueError(f"{shards} shards hold nothing; give at least 1")
