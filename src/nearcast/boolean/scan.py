"""The oracle: every subscription is looked at for every message, as the definitions read."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.boolean.index import (
    BooleanIndex,
    IndexStats,
    check_space,
    check_threads,
    possible_id,
)
from nearcast.model import Box, Circle, Message, Point, Polygon, Space, Subscription
from nearcast.model.shapes import Region
from nearcast.space import is_in, place_rects
from nearcast.space.region_column import BOX
from nearcast.text import Clause, Expression


class ScanIndex(BooleanIndex):
    """No structure and no matching kernels: the answers that all other indexes must give.

    NumPy leaves out the rows whose words or box do not fit, so that millions can be checked; what
    remains is tested one by one in plain Python, circles and polygons among them.

    >>> from nearcast.model import Point
    >>> index = ScanIndex()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    """

    def __init__(self, *, space: Space = Space.EARTH) -> None:
        self.space = space
        self._chunks: list[_Chunk] = []
        self._place: dict[int | str, tuple[_Chunk, int]] = {}
        self._candidates = 0
        self._matches = 0

    def insert_batch(self, batch: SubscriptionBatch) -> None:
        check_space("the subscriptions are", batch.space, self.space)
        ids = batch.ids.to_pylist()
        for subscription_id in ids:
            if subscription_id in self._place:
                self.remove(subscription_id)
        chunk = _Chunk(batch)
        self._chunks.append(chunk)
        self._place.update({id_: (chunk, row) for row, id_ in enumerate(ids)})

    def remove(self, subscription_id: int | str) -> None:
        chunk, row = self._place.pop(possible_id(subscription_id))
        chunk.live[row] = False
        if not chunk.live.any():
            self._chunks.remove(chunk)

    def match_batch(self, messages: MessageBatch, *, threads: int = 1) -> Matches:
        check_threads(threads)
        found: list[int | str] = []
        start = np.zeros(len(messages) + 1, np.int64)
        for i in range(len(messages)):
            found += self.match(messages.message(i))
            start[i + 1] = len(found)
        if any(isinstance(id_, str) for id_ in self._place):
            ids = pa.array([str(id_) for id_ in found], pa.large_string())
        else:
            ids = pa.array(found, pa.int64())
        return Matches(messages.ids, start, ids, len(messages) * len(self))

    def match(self, message: Message) -> list[int | str]:
        check_space(f"message {message.id!r} is", message.at.space, self.space)
        self._candidates += len(self)
        words = set(message.keywords)
        found = []
        for chunk in self._chunks:
            for row in np.flatnonzero(chunk.may_match(message)).tolist():
                subscription = chunk.batch.subscription(row)
                if subscription.expression.matches(words) and is_in(
                    message.at, subscription.region
                ):
                    found.append(subscription.id)
        self._matches += len(found)
        return found

    def subscription(self, subscription_id: int | str) -> Subscription:
        chunk, row = self._place[possible_id(subscription_id)]
        return chunk.batch.subscription(row)

    def ids(self) -> list[int | str]:
        return list(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, subscription_id: object) -> bool:
        try:
            return possible_id(subscription_id) in self._place
        except KeyError:
            return False

    def stats(self) -> IndexStats:
        held = sum(chunk.batch.regions.nbytes for chunk in self._chunks)
        return IndexStats(len(self), held, 0, 1.0, self._candidates, self._matches)

    def check(self) -> None:
        assert len(self._place) == sum(int(chunk.live.sum()) for chunk in self._chunks)
        for subscription_id, (chunk, row) in self._place.items():
            assert chunk.live[row]
            assert chunk.batch.ids[row].as_py() == subscription_id

    def save(self, path: str | os.PathLike[str]) -> None:
        rows = [row_of(self.subscription(id_)) for id_ in self.ids()]
        storage.write_arrays(path, "ScanIndex", {"space": self.space.name, "rows": rows}, {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, _ = storage.read_arrays(path, "ScanIndex")
        index = cls(space=Space[meta["space"]])
        for row in meta["rows"]:
            index.insert(subscription_of(row, index.space))
        return index


def row_of(subscription: Subscription) -> list[Any]:
    """The subscription as JSON: id, clauses, shape, numbers."""
    clauses = [
        [sorted(clause.required), sorted(clause.forbidden)]
        for clause in subscription.expression.clauses
    ]
    match subscription.region:
        case None:
            shape: list[Any] = []
        case Box(west, south, east, north):
            shape = [west, south, east, north]
        case Circle(centre, radius):
            shape = [centre.lon, centre.lat, radius]
        case Polygon(rings):
            shape = [rings]
    return [subscription.id, clauses, shape]


def subscription_of(row: list[Any], space: Space) -> Subscription:
    """The subscription that `row_of` wrote."""
    id_, clauses, shape = row
    region: Region | None = None
    match shape:
        case [west, south, east, north]:
            region = Box(west, south, east, north, space=space)
        case [lon, lat, radius]:
            region = Circle(Point(lon, lat, space=space), radius)
        case [rings]:
            region = Polygon(rings, space=space)
    words = [Clause(frozenset(required), frozenset(forbidden)) for required, forbidden in clauses]
    return Subscription(id_, Expression(tuple(words)), region)


class _Chunk:
    """One inserted batch, which of its rows are live, and quick ways to leave most rows out."""

    def __init__(self, batch: SubscriptionBatch) -> None:
        self.batch = batch
        self.live = np.ones(len(batch), bool)
        kind, shape, *_ = batch.regions.kernel_arrays()
        self._is_box = kind == BOX
        self._boxes = shape
        self._code = {word: code for code, word in enumerate(batch.lexicon.to_pylist())}

    def may_match(self, message: Message) -> NDArray[np.bool_]:
        """False for rows whose words are not satisfied, or whose box the message is not in."""
        return self.live & self._words_fit(message) & self._may_be_in(message)

    def _may_be_in(self, message: Message) -> NDArray[np.bool_]:
        west, south, east, north = self._boxes.T
        near = ~self._is_box
        for x0, y0, x1, y1 in place_rects(message.at):
            in_longitude = np.where(
                west <= east, (west <= x1) & (x0 <= east), (west <= x1) | (x0 <= east)
            )
            near |= in_longitude & (south <= y1) & (y0 <= north)
        return near

    def _words_fit(self, message: Message) -> NDArray[np.bool_]:
        batch = self.batch
        present = np.zeros(len(self._code), bool)
        present[[self._code[word] for word in set(message.keywords) if word in self._code]] = True
        missing = _sums(~present[batch.required], batch.required_start)
        unwanted = _sums(present[batch.forbidden], batch.forbidden_start)
        return _sums((missing == 0) & (unwanted == 0), batch.clause_start) > 0


def _sums(flags: NDArray[np.bool_], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many flags are set in each run start[i]:start[i + 1]."""
    before = np.concatenate([[0], np.cumsum(flags)])
    return before[start[1:]] - before[start[:-1]]
