"""`Parts`: what shards have of many lists, as columns: there may be very many in a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.list_differences import come_and_gone, which_differ
from nearcast.model import Id
from nearcast.topk._part_kernels import best_rows
from nearcast.topk.list_change import ListChanges, joined_ids, starts

Part = tuple[tuple[Id, float, int], ...]
"""(message, score, its number in the stream), best first: a list, or what one shard has of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Part i has the rows start[i]:start[i + 1], best first.

    - `ids`: Arrow, of messages
    - `numbers`: int64, of the same messages in the stream, where each has its own

    >>> parts = Parts(np.array([0, 0, 1]), pa.array(["m"]), np.array([0.5]), np.array([7]))
    >>> len(parts), parts.part(0), parts.take(np.array([1])).part(0)
    (2, (), (('m', 0.5, 7),))
    """

    start: NDArray[np.int64]
    ids: pa.Array
    scores: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows each has."""
        return np.diff(self.start)

    @classmethod
    def none(cls, count: int) -> Parts:
        """So many, all empty."""
        nothing = np.empty(0, np.int64)
        return cls(np.zeros(count + 1, np.int64), pa.array(nothing), np.empty(0), nothing)

    @classmethod
    def joined(cls, several: Sequence[Parts]) -> Parts:
        """Those of several, one after the other."""
        return cls(
            starts(np.concatenate([each.lengths for each in several])),
            joined_ids([each.ids for each in several]),
            np.concatenate([each.scores for each in several]),
            np.concatenate([each.numbers for each in several]),
        )

    def part(self, number: int) -> Part:
        """One of them."""
        begin, end = int(self.start[number]), int(self.start[number + 1])
        rows = slice(begin, end)
        ids = self.ids.slice(begin, end - begin).to_pylist()
        return tuple(zip(ids, self.scores[rows].tolist(), self.numbers[rows].tolist(), strict=True))

    def take(self, chosen: NDArray[np.int64]) -> Parts:
        """Some of them, in this order.  O(their rows)."""
        lengths = self.lengths[chosen]
        return self.rows_of(runs(self.start[:-1][chosen], lengths), lengths)

    def rows_of(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Parts:
        """Parts of these lengths, made of some of the rows."""
        return Parts(
            starts(lengths), self.ids.take(pa.array(rows)), self.scores[rows], self.numbers[rows]
        )

    def best(self, owners: NDArray[np.int64], most: NDArray[np.int64]) -> Parts:
        """The most[i] best messages of all parts of owner i, merged.  O(rows * parts of an owner).

        >>> one = Parts(np.array([0, 2]), pa.array([1, 2]), np.array([0.5, 0.2]), np.array([1, 2]))
        >>> two = Parts(np.array([0, 2]), pa.array([3, 2]), np.array([0.5, 0.2]), np.array([3, 2]))
        >>> Parts.joined([one, two]).best(np.array([0, 0]), np.array([3])).part(0)
        ((3, 0.5, 3), (1, 0.5, 1), (2, 0.2, 2))
        """
        order = np.argsort(owners, kind="stable")
        first = np.searchsorted(owners[order], np.arange(len(most) + 1))
        rows, lengths = best_rows(first, order, self.start, self.scores, self.numbers, most)
        return self.rows_of(rows, lengths)

    def lowest(self, length: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score that a message has to exceed to come into a list so long; -1: any is enough."""
        is_full = self.lengths >= length
        lowest = np.full(len(self), -1.0)
        lowest[is_full] = self.scores[self.start[:-1][is_full] + length[is_full] - 1]
        return lowest

    def as_arrow(self, id: pa.DataType) -> pa.ListArray:
        """Lists of structs, with ids of this type."""
        kind = part_type(id)
        rows = pa.StructArray.from_arrays(
            [self.ids.cast(id), pa.array(self.scores), pa.array(self.numbers)],
            fields=list(kind.value_type),
        )
        return pa.ListArray.from_arrays(pa.array(self.start.astype(np.int32)), rows, type=kind)

    @classmethod
    def of_arrow(cls, lists: pa.Array | pa.ChunkedArray) -> Parts:
        """What `as_arrow` gave, perhaps in chunks."""
        whole = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        if isinstance(whole, pa.ChunkedArray):  # there was no chunk
            whole = pa.array([], lists.type)
        rows = whole.flatten()
        return cls(
            starts(whole.value_lengths().to_numpy().astype(np.int64)),
            rows.field("id"),
            rows.field("score").to_numpy(),
            rows.field("number").to_numpy(),
        )

    def to_bytes(self, id: pa.DataType) -> bytes:
        """All of it, with ids of this type."""
        table = pa.table({"part": self.as_arrow(id)})
        with pa.BufferOutputStream() as out:
            with pa.ipc.new_stream(out, table.schema) as stream:
                stream.write_table(table)
            data: bytes = out.getvalue().to_pybytes()
        return data

    @classmethod
    def of_bytes(cls, data: bytes) -> Parts:
        """What `to_bytes` gave."""
        return cls.of_arrow(pa.ipc.open_stream(data).read_all()["part"])


def part_type(id: pa.DataType) -> pa.DataType:
    """Of a part in Arrow."""
    return pa.list_(pa.struct([("id", id), ("score", pa.float64()), ("number", pa.int64())]))


@dataclass(frozen=True, slots=True, eq=False)
class PartChanges:
    """What a shard had of some lists before a step, and what it has now.

    - `subscription_ids`: Arrow, whose lists they are
    """

    subscription_ids: pa.Array
    before: Parts
    after: Parts

    def __len__(self) -> int:
        return len(self.subscription_ids)

    def take(self, chosen: NDArray[np.int64]) -> PartChanges:
        """Some of them."""
        ids = self.subscription_ids.take(pa.array(chosen))
        return PartChanges(ids, self.before.take(chosen), self.after.take(chosen))

    def as_lists(self) -> tuple[NDArray[np.int64], ListChanges]:
        """Where each part is the whole list: the rows of those that differ, and what is told."""
        before, after = self.before, self.after
        is_other = which_differ(
            before.numbers, before.start, before.lengths, after.numbers, after.start, after.lengths
        )
        chosen = np.flatnonzero(is_other)
        before, after = before.take(chosen), after.take(chosen)
        is_new, has_left = come_and_gone(before.numbers, before.start, after.numbers, after.start)
        return chosen, ListChanges(
            self.subscription_ids.take(pa.array(chosen)),
            after.start,
            after.ids,
            after.scores,
            is_new,
            np.append(0, np.cumsum(has_left))[before.start],
            before.ids.filter(pa.array(has_left)),
        )


def runs(first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers first[i], first[i] + 1, … of all runs, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(first - (ends - lengths), lengths)
