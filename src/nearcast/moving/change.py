"""What subscribers whose results follow them are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.model import Id

ENTERS, LEAVES = 1, -1


@dataclass(frozen=True, slots=True)
class Change:
    """A message enters the result of a subscription (`sign` is 1) or leaves it (-1)."""

    subscription_id: Id
    sign: int
    message_id: Id


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Many changes as columns, in the order of the events that made them.

    - `subscription_ids`, `message_ids`: Arrow arrays, integers, or strings where any live id is one
    - `signs`: int8, 1 where the message enters, -1 where it leaves

    >>> changes = Changes(pa.array(["walker"]), np.array([1], np.int8), pa.array([7]))
    >>> len(changes), changes.to_list()
    (1, [Change(subscription_id='walker', sign=1, message_id=7)])
    >>> changes.to_arrow().column_names
    ['subscription_id', 'sign', 'message_id']
    """

    subscription_ids: pa.Array
    signs: NDArray[np.int8]
    message_ids: pa.Array

    def __len__(self) -> int:
        return len(self.signs)

    def to_list(self) -> list[Change]:
        """One object per change.  O(changes)."""
        columns = (self.subscription_ids.to_pylist(), self.signs.tolist())
        return [
            Change(subscription_id, sign, message_id)
            for subscription_id, sign, message_id in zip(
                *columns, self.message_ids.to_pylist(), strict=True
            )
        ]

    def to_arrow(self) -> pa.Table:
        """A table with one row per change: `subscription_id`, `sign`, `message_id`."""
        return pa.table(
            {
                "subscription_id": self.subscription_ids,
                "sign": pa.array(self.signs),
                "message_id": self.message_ids,
            }
        )

    @classmethod
    def of(cls, changes: list[Change]) -> Changes:
        """The columns of some changes; ids of both kinds become strings."""
        return cls(
            _ids([change.subscription_id for change in changes]),
            np.array([change.sign for change in changes], np.int8),
            _ids([change.message_id for change in changes]),
        )


def _ids(ids: list[Id]) -> pa.Array:
    if any(isinstance(id, str) for id in ids):
        return pa.array([str(id) for id in ids], pa.large_string())
    return pa.array(ids, pa.int64())


def difference(subscription_id: Id, before: set[Id], after: set[Id]) -> list[Change]:
    """What makes `after` of `before`.

    >>> [change.sign for change in difference("s", {1, 2}, {2, 3})]
    [-1, 1]
    """
    left = [Change(subscription_id, LEAVES, id) for id in before - after]
    return left + [Change(subscription_id, ENTERS, id) for id in after - before]
