"""An index beside the oracle: the same events go to both, and what they tell is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.model import Id, Message, Region, Space, Subscription
from nearcast.moving import Change, Changes, MovingIndex, ScanMoving
from nearcast.space import RegionColumn

SPACES = (Space.EARTH, Space.PLANE)


class MakeMoving(Protocol):
    """What makes a new, empty index: usually its class."""

    def __call__(self, *, space: Space = ..., **settings: Any) -> MovingIndex: ...


Check: TypeAlias = Callable[[MakeMoving], None]


class Pair:
    """An index and the oracle, with the settings of both."""

    def __init__(self, make_index: MakeMoving, space: Space, **settings: Any) -> None:
        self.space = space
        self.oracle = ScanMoving(space=space, **settings)
        self.index = make_index(space=space, **settings)
        self.ids: set[Id] = set()

    def subscribe(self, subscription: Subscription) -> None:
        self.ids.add(subscription.id)
        self.compare(self.oracle.subscribe(subscription), self.index.subscribe(subscription))
        assert self.index.subscription(subscription.id) == subscription

    def unsubscribe(self, id: Id) -> None:
        self.ids.remove(id)
        self.compare(self.oracle.unsubscribe(id), self.index.unsubscribe(id))

    def move(self, id: Id, region: Region | None, time: float | None = None) -> None:
        self.compare(
            self.oracle.move(id, region, time=time), self.index.move(id, region, time=time)
        )
        assert self.index.subscription(id) == self.oracle.subscription(id)

    def publish(self, message: Message) -> None:
        self.compare(self.oracle.publish(message), self.index.publish(message))

    def advance(self, now: float) -> None:
        self.compare(self.oracle.advance(now), self.index.advance(now))

    def subscribe_batch(self, subscriptions: Iterable[Subscription]) -> None:
        rows = list(subscriptions)
        self.ids |= {row.id for row in rows}
        batch = SubscriptionBatch.from_subscriptions(rows, space=self.space)
        self.compare_columns(self.oracle.subscribe_batch(batch), self.index.subscribe_batch(batch))

    def move_batch(
        self, ids: list[Id], regions: Sequence[Region | None], times: list[float] | None = None
    ) -> None:
        """`ids` are of one kind; NaN is no time."""
        column = RegionColumn.of_regions(regions, self.space)
        at = None if times is None else np.array(times, np.float64)
        known = pa.array(ids)
        self.compare_columns(
            self.oracle.move_batch(known, column, times=at),
            self.index.move_batch(known, column, times=at),
        )

    def publish_batch(self, messages: Iterable[Message]) -> None:
        batch = MessageBatch.from_messages(messages, space=self.space)
        self.compare_columns(self.oracle.publish_batch(batch), self.index.publish_batch(batch))

    def save_and_load(self) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            self.index.save(path)
            self.index = type(self.index).load(path)
            self.oracle.save(path)
            self.oracle = ScanMoving.load(path)
        self.compare([], [])

    def compare(self, right: list[Change], found: list[Change]) -> None:
        """The same changes, each once, and the same results afterwards."""
        assert len(found) == len(set(found)), f"a change is told twice: {found}"
        assert set(found) == set(right), (
            f"too many {set(found) - set(right)}, too few {set(right) - set(found)}"
        )
        touched = {(change.subscription_id, change.message_id) for change in found}
        assert len(touched) == len(found), f"a change undoes another: {found}"
        self.compare_results()

    def compare_columns(self, right: Changes, found: Changes) -> None:
        """The same for a batch, where a message may come and go."""
        expected, told = _sorted_rows(right), _sorted_rows(found)
        assert told == expected, f"{told} should be {expected}"
        self.compare_results()

    def compare_results(self) -> None:
        assert len(self.index) == len(self.ids)
        assert set(self.index.ids()) == set(self.ids)
        assert self.index.now == self.oracle.now
        for id in self.ids:
            assert id in self.index
            found, right = self.index.results(id), self.oracle.results(id)
            assert found == right, f"{id!r}: too many {found - right}, too few {right - found}"
        self.index.check()
        assert self.index.stats().messages == self.oracle.stats().messages


def _sorted_rows(changes: Changes) -> list[tuple[str, int, str]]:
    return sorted(
        (str(change.subscription_id), change.sign, str(change.message_id))
        for change in changes.to_list()
    )
