"""What subscribers of a top-k list are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.model import Id

Ranked = tuple[tuple[Id, float], ...]
"""Message ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class ListChange:
    """The list of a subscription is another than before.

    - `results`: the new list
    - `entered`, `left`: the ids that are new in it, and those that are no longer, best first
    """

    subscription_id: Id
    results: Ranked
    entered: tuple[Id, ...]
    left: tuple[Id, ...]


def list_change(subscription_id: Id, before: Ranked, after: Ranked) -> ListChange | None:
    """The difference of two lists, or None where there is none.

    >>> list_change("s", ((1, 0.9), (2, 0.5)), ((3, 0.95), (1, 0.9)))
    ListChange(subscription_id='s', results=((3, 0.95), (1, 0.9)), entered=(3,), left=(2,))
    """
    if before == after:
        return None
    old, new = {id for id, _ in before}, {id for id, _ in after}
    return ListChange(
        subscription_id,
        after,
        tuple(id for id, _ in after if id not in old),
        tuple(id for id, _ in before if id not in new),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ListChanges:
    """Many changed lists as columns, without an object each.

    - `subscription_ids`: Arrow, whose lists they are
    - `start`: int64[n+1], list i is message_ids[start[i]:start[i+1]], best first
    - `message_ids`, `scores`, `is_new`: of the lists; bool[m], was it not in the list before?
    - `left_start`, `left`: int64[n+1] and Arrow, the ids that are no longer in the lists

    >>> change = list_change("s", ((1, 0.9), (2, 0.5)), ((3, 0.95), (1, 0.9)))
    >>> changes = ListChanges.of([change])
    >>> changes.message_ids.to_pylist(), changes.is_new.tolist(), changes.left.to_pylist()
    ([3, 1], [True, False], [2])
    """

    subscription_ids: pa.Array
    start: NDArray[np.int64]
    message_ids: pa.Array
    scores: NDArray[np.float64]
    is_new: NDArray[np.bool_]
    left_start: NDArray[np.int64]
    left: pa.Array

    def __len__(self) -> int:
        return len(self.subscription_ids)

    @classmethod
    def of(cls, changes: list[ListChange]) -> ListChanges:
        """The columns of some changes, each of another subscription."""
        lists = [change.results for change in changes]
        entered = [set(change.entered) for change in changes]
        return cls(
            ids_as_arrow(change.subscription_id for change in changes),
            starts([len(each) for each in lists]),
            ids_as_arrow(id for each in lists for id, _ in each),
            np.array([score for each in lists for _, score in each], np.float64),
            np.array(
                [id in new for each, new in zip(lists, entered, strict=True) for id, _ in each],
                bool,
            ),
            starts([len(change.left) for change in changes]),
            ids_as_arrow(id for change in changes for id in change.left),
        )

    @classmethod
    def joined(cls, parts: Sequence[ListChanges]) -> ListChanges:
        """The changes of several, of different subscriptions, one after the other."""
        return cls(
            joined_ids([part.subscription_ids for part in parts]),
            starts(np.concatenate([np.diff(part.start) for part in parts])),
            joined_ids([part.message_ids for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.is_new for part in parts]),
            starts(np.concatenate([np.diff(part.left_start) for part in parts])),
            joined_ids([part.left for part in parts]),
        )


def joined_changes(changes: Iterable[ListChange]) -> list[ListChange]:
    """Of several changes of a list one, against what it was before the first."""
    before: dict[Id, dict[Id, None]] = {}
    last: dict[Id, ListChange] = {}
    for change in changes:
        id = change.subscription_id
        if id not in before:
            stayed = [each for each, _ in change.results if each not in change.entered]
            before[id] = dict.fromkeys((*stayed, *change.left))
        last[id] = change
    joined = []
    for id, change in last.items():
        now = dict(change.results)
        entered = tuple(each for each in now if each not in before[id])
        left = tuple(each for each in before[id] if each not in now)
        joined.append(ListChange(id, change.results, entered, left))
    return joined


def starts(lengths: list[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some runs begins, and the end of all."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def joined_ids(parts: Sequence[pa.Array]) -> pa.Array:
    """Columns of ids, one after the other; as text, if some are."""
    filled = [part for part in parts if len(part)] or [*parts[:1]]  # an empty one may have no type
    if len({part.type for part in filled}) > 1:
        filled = [part.cast(pa.large_string()) for part in filled]
    return pa.concat_arrays(filled)


def ids_as_arrow(ids: Iterable[Id]) -> pa.Array:
    """Integers, or strings where any of them is one."""
    listed = list(ids)
    if any(isinstance(id, str) for id in listed):
        return pa.array([str(id) for id in listed], pa.large_string())
    return pa.array(listed, pa.int64())
