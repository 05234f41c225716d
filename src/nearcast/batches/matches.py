"""`Matches`: which subscriptions want which message of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._ragged import check_start


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The answer to a batch of messages, as columns.

    - `message_ids`: one id per message of the batch, in its order, matched or not
    - `start`: int64[messages + 1]; message i is wanted by
      `subscription_ids[start[i]:start[i + 1]]`
    - `subscription_ids`: one id per match
    - `candidates`: how many stored clauses were looked at to find the matches, copies included

    `len` is the number of matches.

    >>> matches = Matches(
    ...     message_ids=pa.array([10, 11, 12]),
    ...     start=np.array([0, 2, 2, 3]),
    ...     subscription_ids=pa.array(["tea", "cake", "tea"]),
    ...     candidates=5,
    ... )
    >>> len(matches), matches.candidates
    (3, 5)
    >>> matches.for_message(0), matches.for_message(1)
    (['tea', 'cake'], [])
    >>> matches.to_arrow().to_pydict()
    {'message_id': [10, 10, 12], 'subscription_id': ['tea', 'cake', 'tea']}
    """

    message_ids: pa.Array
    start: npt.NDArray[np.int64]
    subscription_ids: pa.Array
    candidates: int

    def __post_init__(self) -> None:
        check_start("start", self.start, len(self.message_ids), len(self.subscription_ids))

    def __len__(self) -> int:
        return len(self.subscription_ids)

    def for_message(self, row: int) -> list[int | str]:
        """The ids of the subscriptions that want message `row` of the batch.  O(their number)."""
        if not 0 <= row < len(self.message_ids):
            raise IndexError(f"message {row} of a batch of {len(self.message_ids)}")
        first, last = self.start[row], self.start[row + 1]
        return self.subscription_ids.slice(first, last - first).to_pylist()

    def to_arrow(self) -> pa.Table:
        """A table with one row per match: `message_id`, `subscription_id`.  O(matches)."""
        message = np.repeat(np.arange(len(self.message_ids)), np.diff(self.start))
        return pa.table(
            {
                "message_id": self.message_ids.take(pa.array(message)),
                "subscription_id": self.subscription_ids,
            }
        )
