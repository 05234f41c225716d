"""The contract of the room: what every index whose results follow moving subscribers can do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean.index import check_space
from nearcast.model import Box, Circle, Id, Message, Polygon, Space, Subscription
from nearcast.model._checks import finite_number
from nearcast.model.shapes import Region
from nearcast.moving.change import Change, Changes
from nearcast.moving.late_positions import LatePositions
from nearcast.space import RegionColumn


@dataclass(frozen=True, slots=True)
class MovingStats:
    """What an index holds and what it has done.

    - `subscriptions`, `messages`: how many are live
    - `subscription_bytes`, `message_bytes`: memory of the arrays that hold them, spare room
      included; 0 where there are none
    - `candidates`: messages looked at for a move, since the index was made
    - `moves`, `relocations`: positions taken, and those among them for which the index had to put
      the subscription elsewhere
    - `inserting`, `relocating`: seconds that went into putting messages in (and out again, as they
      expire), and into putting subscriptions elsewhere, since the index was made or loaded
    """

    subscriptions: int
    messages: int
    subscription_bytes: int
    message_bytes: int
    candidates: int
    moves: int
    relocations: int
    inserting: float = 0.0
    relocating: float = 0.0


class MovingIndex(ABC):
    """Keeps, for each subscription, the set of live messages that match it, wherever it moves.

    A message lives from when it is published until it expires: while `now < expires`, so at exactly
    `expires` it is gone. One without `expires` lives `lifetime` seconds from its `time`, or for
    ever without a lifetime. One that has expired when it arrives never enters a result. A message
    whose id is live replaces the one that has it.

    Time only passes: `now` is the latest time heard of, from `advance` and from messages. A message
    of an earlier time is taken as it comes. Positions may carry times of their own, which order the
    moves of one subscription and nothing else; `late_positions` says what an old one is worth.

    Every call tells the exact difference it made, each change once, in no particular order, never
    one that undoes another; a call that raises has changed nothing. Not safe to call from several
    threads at once.
    """

    space: Space
    lifetime: float | None
    late_positions: LatePositions
    now: float
    """The latest time that was heard of; -inf before the first."""

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        lifetime: float | None = None,
        late_positions: LatePositions = LatePositions.IGNORED,
    ) -> None:
        if lifetime is not None:
            lifetime = finite_number(lifetime, "lifetime")
            if lifetime <= 0:
                raise ValueError(f"lifetime {lifetime} is not positive; give seconds, or None")
        if not isinstance(late_positions, LatePositions):
            raise TypeError(f"late_positions {late_positions!r} is no rule; give a LatePositions")
        self.space = space
        self.lifetime = lifetime
        self.late_positions = late_positions
        self.now = -inf
        self._begin()

    # ------------------------------------------------------------------ what an index does

    @abstractmethod
    def _begin(self) -> None:
        """Have no subscription and no message; the settings are there."""

    @abstractmethod
    def subscribe(self, subscription: Subscription) -> list[Change]:
        """Add a subscription, or replace the live one of the same id."""

    @abstractmethod
    def unsubscribe(self, subscription_id: Id) -> list[Change]:
        """End a subscription: all of its result leaves; KeyError when there is none of this id."""

    @abstractmethod
    def move(
        self, subscription_id: Id, region: Region | None, *, time: float | None = None
    ) -> list[Change]:
        """The region of a subscription is another now; KeyError when there is none of this id."""

    @abstractmethod
    def publish(self, message: Message) -> list[Change]:
        """A message arrives; others may expire, because its time is now."""

    @abstractmethod
    def advance(self, now: float) -> list[Change]:
        """Time passes: messages expire."""

    @abstractmethod
    def results(self, subscription_id: Id) -> set[Id]:
        """The live messages that match a subscription; KeyError when there is none of this id."""

    @abstractmethod
    def subscription(self, subscription_id: Id) -> Subscription:
        """A live subscription, where it is now; KeyError when there is none of this id."""

    @abstractmethod
    def ids(self) -> list[Id]:
        """The live ids, in no particular order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, subscription_id: object) -> bool: ...

    @property
    @abstractmethod
    def next_expiry(self) -> float:
        """No live message expires before this time; inf where none ever does."""

    @abstractmethod
    def stats(self) -> MovingStats:
        """What the index holds and has done."""

    @abstractmethod
    def check(self) -> None:
        """Assert every invariant of the structure; for tests, slow."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index with its messages to one file, all or nothing."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index, which goes on exactly where it was."""

    # ------------------------------------------------------------------ many at once

    def subscribe_batch(self, batch: SubscriptionBatch) -> Changes:
        """Many subscriptions, each as `subscribe` would take it, all or none."""
        check_space("the subscriptions are", batch.space, self.space)
        rows = [batch.subscription(row) for row in range(len(batch))]
        return Changes.of([change for row in rows for change in self.subscribe(row)])

    def move_batch(
        self, ids: pa.Array, regions: RegionColumn, *, times: NDArray[np.float64] | None = None
    ) -> Changes:
        """Many moves in their order, of different subscriptions, all or none.

        `regions` has one row for each id; so has `times`, NaN where a position has none.
        """
        self._check_moves(ids, regions, times)
        known = ids.to_pylist()
        for row, id in enumerate(known):
            if id not in self:
                raise KeyError(id)
            self._check_region(self.subscription(id), regions.region(row))
        changes = []
        for row, id in enumerate(known):
            time = None if times is None or np.isnan(times[row]) else float(times[row])
            changes += self.move(id, regions.region(row), time=time)
        return Changes.of(changes)

    def publish_batch(self, messages: MessageBatch) -> Changes:
        """Many messages in their order, each as `publish` would take it."""
        check_space("the messages are", messages.space, self.space)
        rows = [messages.message(row) for row in range(len(messages))]
        return Changes.of([change for row in rows for change in self.publish(row)])

    def advance_batch(self, now: float) -> Changes:
        """`advance`, as columns."""
        return Changes.of(self.advance(now))

    # ------------------------------------------------------------------ what all have in common

    def _end_of(self, message: Message) -> float:
        """When a message expires; inf for never."""
        if message.expires is not None:
            return message.expires
        return inf if self.lifetime is None else message.time + self.lifetime

    def _checked_now(self, now: float) -> float:
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        return max(float(now), self.now)

    def _check_subscription(self, subscription: Subscription) -> None:
        if not isinstance(subscription, Subscription):
            raise TypeError(f"{subscription!r} is no Subscription; give one")
        region = subscription.region
        if region is not None:
            check_space(f"subscription {subscription.id!r} is", region.space, self.space)

    def _check_message(self, message: Message) -> None:
        check_space(f"message {message.id!r} is", message.at.space, self.space)

    def _check_region(self, subscription: Subscription, region: Region | None) -> None:
        """Refuse a region that this subscription cannot have."""
        if region is None:
            # Refuses ANY everywhere, as a new subscription would.
            Subscription(subscription.id, subscription.expression, region)
        else:
            self._check_is_region(subscription.id, region)

    def _check_is_region(self, subscription_id: Id, region: Region) -> None:
        owner = f"subscription {subscription_id!r}"
        if not isinstance(region, Box | Circle | Polygon):
            raise TypeError(f"{owner}: {region!r} is no region; give a Box, Circle or Polygon")
        check_space(f"{owner} is", region.space, self.space)

    def _check_moves(
        self, ids: pa.Array, regions: RegionColumn, times: NDArray[np.float64] | None
    ) -> None:
        check_space("the regions are", regions.space, self.space)
        if len(regions) != len(ids) or (times is not None and len(times) != len(ids)):
            raise ValueError(
                f"{len(ids)} ids, {len(regions)} regions"
                + ("" if times is None else f" and {len(times)} times")
                + "; give one of each for a move"
            )
        if len(ids.unique()) < len(ids):
            raise ValueError("an id is there twice; give the moves of one subscription one by one")

    def _is_late(self, subscription_id: Id, time: float, last: float) -> bool:
        """Is this position to be left out?  ValueError where late ones are refused."""
        if time >= last or self.late_positions is LatePositions.TAKEN:
            return False
        if self.late_positions is LatePositions.REFUSED:
            raise ValueError(
                f"subscription {subscription_id!r}: a position of time {time} comes after one of "
                f"{last}; send positions in order, or let late ones be ignored"
            )
        return True
