"""Many changed lists of terms, as columns: arrays all the way, because there may be very many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.list_differences import come_and_gone, copied_runs
from nearcast.trending.terms_change import TermsChange

_Ints = NDArray[np.int64]
_Number = TypeVar("_Number", np.int32, np.float64, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class TermsChanges:
    """Lists that have other terms than before, or another order, without an object each.

    - `subscription_ids`: Arrow, whose lists they are
    - `start`: int64[n+1], list i is terms[start[i]:start[i+1]], the most talked about first
    - `terms`, `scores`: of the lists; `is_new`, `is_moved`: was the term not in the list before,
      or at another place?
    - `left_start`, `left`: int64[n+1] and Arrow, the terms that are no longer in the lists

    >>> from nearcast.trending.terms_change import terms_change
    >>> change = terms_change("s", ("rain", "bus"), (("bus", 2.0), ("jazz", 1.0)))
    >>> changes = TermsChanges.of([change])
    >>> changes.terms.to_pylist(), changes.is_new.tolist(), changes.is_moved.tolist()
    (['bus', 'jazz'], [False, True], [True, False])
    >>> changes.left.to_pylist()
    ['rain']
    """

    subscription_ids: pa.Array
    start: _Ints
    terms: pa.Array
    scores: NDArray[np.float64]
    is_new: NDArray[np.bool_]
    is_moved: NDArray[np.bool_]
    left_start: _Ints
    left: pa.Array

    def __len__(self) -> int:
        return len(self.subscription_ids)

    @classmethod
    def of(cls, changes: Sequence[TermsChange]) -> TermsChanges:
        """The columns of some changes, each of another subscription."""
        terms = [(change, term) for change in changes for term, _ in change.terms]
        ids = [change.subscription_id for change in changes]
        if any(isinstance(id, str) for id in ids):
            ids = [str(id) for id in ids]
        return cls(
            pa.array(ids, pa.large_string() if ids and isinstance(ids[0], str) else pa.int64()),
            _starts(np.array([len(change.terms) for change in changes], np.int64)),
            pa.array([term for _, term in terms], pa.large_string()),
            np.array([score for change in changes for _, score in change.terms], np.float64),
            np.array([term in change.entered for change, term in terms], bool),
            np.array([term in change.moved for change, term in terms], bool),
            _starts(np.array([len(change.left) for change in changes], np.int64)),
            pa.array([term for change in changes for term in change.left], pa.large_string()),
        )

    @classmethod
    def between(
        cls,
        subscription_ids: pa.Array,
        before: NumberedLists,
        after: NumberedLists,
        scores: NDArray[np.float64],
        spelled: Callable[[NDArray[np.int32]], pa.Array],
    ) -> TermsChanges:
        """What lists were and are, all of them others than they were, as numbers of terms.

        `scores` are those of `after`, one after the other; `spelled` gives terms for numbers.
        O(terms).
        """
        was, now = before.copied(before.number), after.copied(after.number)
        was_start, start = _starts(before.length), _starts(after.length)
        is_new, has_left = come_and_gone(was, was_start, now, start)
        place = np.arange(len(now)) - np.repeat(start[:-1], after.length)
        had_so_many = place < np.repeat(before.length, after.length)
        same_place = np.where(had_so_many, np.repeat(was_start[:-1], after.length) + place, 0)
        stays = np.append(was, 0)[same_place] == now
        return cls(
            subscription_ids,
            start,
            spelled(now),
            scores,
            is_new,
            ~is_new & ~(had_so_many & stays),
            np.append(0, np.cumsum(has_left))[was_start],
            spelled(was[has_left]),
        )

    @classmethod
    def joined(cls, parts: Sequence[TermsChanges]) -> TermsChanges:
        """The changes of several, of different subscriptions, one after the other."""
        ids = [part.subscription_ids for part in parts if len(part)]
        if len({each.type for each in ids}) > 1:
            ids = [each.cast(pa.large_string()) for each in ids]
        return cls(
            pa.concat_arrays(ids or [parts[0].subscription_ids]),
            _starts(np.concatenate([np.diff(part.start) for part in parts])),
            pa.concat_arrays([part.terms for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.is_new for part in parts]),
            np.concatenate([part.is_moved for part in parts]),
            _starts(np.concatenate([np.diff(part.left_start) for part in parts])),
            pa.concat_arrays([part.left for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class NumberedLists:
    """List i is number[first[i] : first[i] + length[i]]."""

    number: NDArray[np.int32]
    first: _Ints
    length: _Ints

    def take(self, rows: NDArray[np.bool_] | _Ints) -> NumberedLists:
        """Those that are chosen."""
        return NumberedLists(self.number, self.first[rows], self.length[rows])

    def copied(self, values: NDArray[_Number]) -> NDArray[_Number]:
        """The `values` that stand where these numbers do, of all lists, one after the other."""
        copies: NDArray[_Number] = copied_runs(values, self.first, self.length)
        return copies


def _starts(lengths: _Ints) -> _Ints:
    """Where each of some runs begins, and the end of all."""
    return np.append(0, np.cumsum(lengths)).astype(np.int64)
