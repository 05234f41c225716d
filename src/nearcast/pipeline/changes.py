"""`Changes`: what a batch of the stream does to the subscriptions of one shard."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import ExpressionColumn, SubscriptionBatch
from nearcast.model import Space
from nearcast.pipeline.packing import (
    Arrays,
    id_arrays,
    ids_of_arrays,
    subscription_arrays,
    subscriptions_of_arrays,
)
from nearcast.pipeline.rows import Rows, joined_subscriptions
from nearcast.space import RegionColumn
from nearcast.storage import (
    BadFile,
    Buffer,
    pack_arrays,
    part,
    read_arrays,
    unpack_arrays,
    write_arrays,
)

KIND = "changes"


@dataclass(frozen=True, slots=True)
class Withdrawals:
    """Subscriptions that end, or move to another shard.

    - `labels`: their ids
    - `position`: int64[n], when, in the order of the stream
    - `asked`: bool[n], did somebody unsubscribe? Else a newer version lives in another shard
    """

    labels: pa.Array
    position: NDArray[np.int64]
    asked: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: NDArray[np.int64]) -> Withdrawals:
        """The withdrawals with these numbers."""
        return Withdrawals(self.labels.take(pa.array(rows)), self.position[rows], self.asked[rows])


@dataclass(frozen=True, slots=True)
class Changes:
    """Subscriptions that begin or are replaced, and those that end; each with its position."""

    new: Rows[SubscriptionBatch]
    old: Withdrawals

    def __len__(self) -> int:
        return len(self.new) + len(self.old)

    @classmethod
    def joined(cls, parts: Sequence[Changes]) -> Changes:
        """The changes of all parts; at least one is needed."""
        return cls(
            joined_subscriptions([changes.new for changes in parts]),
            Withdrawals(
                pa.concat_arrays([changes.old.labels for changes in parts]),
                np.concatenate([changes.old.position for changes in parts]),
                np.concatenate([changes.old.asked for changes in parts]),
            ),
        )

    def pack(self) -> bytes:
        """As bytes.  O(size)."""
        return pack_arrays(KIND, self._meta(), self._arrays())

    @classmethod
    def unpack(cls, data: Buffer) -> Changes:
        """The changes that were packed.  O(size)."""
        meta, arrays = unpack_arrays(data, KIND)
        return cls._of_arrays(arrays, Space[meta["space"]])

    def write(self, path: str | os.PathLike[str], *, follows: int) -> None:
        """Make them durable in a file, all or nothing.

        `follows` is the number of the batch that changed this shard before, -1 for none.
        """
        write_arrays(path, KIND, {**self._meta(), "follows": follows}, self._arrays())

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, follows: int) -> Changes:
        """The changes in a file; `BadFile` when it is damaged or does not follow that batch."""
        meta, arrays = read_arrays(path, KIND)
        if meta["follows"] != follows:
            raise BadFile(
                f"{os.fspath(path)} follows batch {meta['follows']}, but the last one here is "
                f"{follows}: a file of the checkpoint is missing; restore all of it"
            )
        return cls._of_arrays(arrays, Space[meta["space"]])

    def _meta(self) -> dict[str, str]:
        return {"space": self.new.batch.space.name}

    def _arrays(self) -> Arrays:
        arrays = {f"new/{name}": array for name, array in subscription_arrays(self.new).items()}
        arrays |= id_arrays("old/labels", self.old.labels)
        arrays |= {"old/position": self.old.position, "old/asked": self.old.asked}
        return arrays

    @classmethod
    def _of_arrays(cls, arrays: Arrays, space: Space) -> Changes:
        old = Withdrawals(
            ids_of_arrays("old/labels", arrays), arrays["old/position"], arrays["old/asked"]
        )
        return cls(subscriptions_of_arrays(part(arrays, "new/"), space), old)


def no_subscriptions(like: pa.Array, space: Space) -> Rows[SubscriptionBatch]:
    """No rows, with ids of the type of `like`."""
    batch = SubscriptionBatch(
        pa.array([], pa.int64()), ExpressionColumn.of_expressions([]), RegionColumn.empty(space)
    )
    return Rows(like[:0], batch, np.empty(0, np.int64))
