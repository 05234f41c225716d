"""The contract of the room: what every index that keeps top-k lists current can do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite, pi
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import Id, Message, Space, TopKSubscription
from nearcast.model._checks import finite_number
from nearcast.space import EARTH_RADIUS
from nearcast.topk.list_change import ListChange, ListChanges, Ranked, joined_changes
from nearcast.topk.windows import CountWindow, TimeWindow, Window
from nearcast.topk.word_statistics import WordStatistics

FARTHEST_ON_EARTH = pi * EARTH_RADIUS


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a score depends on besides the subscription and the message.

    - `max_dist`: a message so far away, or farther, has nothing for its place; on the Earth half
      the circumference unless given, in the plane it must be given
    - `statistics`: how much words weigh
    """

    space: Space
    max_dist: float
    statistics: WordStatistics

    @classmethod
    def of(cls, space: Space, max_dist: float | None, statistics: WordStatistics | None) -> Scoring:
        """Checked, with what is usual where nothing is said."""
        if max_dist is None:
            if space is Space.PLANE:
                raise ValueError(
                    "max_dist is missing: a plane has no longest distance; give the distance at "
                    "which nearness is worth nothing"
                )
            max_dist = FARTHEST_ON_EARTH
        max_dist = finite_number(max_dist, "max_dist")
        if max_dist <= 0:
            raise ValueError(f"max_dist {max_dist} is not positive; give a distance")
        return cls(space, max_dist, statistics or WordStatistics())


@dataclass(frozen=True, slots=True)
class TopKStats:
    """What an index holds and what it has done.

    - `subscriptions`, `messages`: how many are live, in the window
    - `bytes`: memory of its arrays, with room kept for growth; 0 where it has none
    - `buffered`: messages kept for subscriptions, all together
    - `candidates`: subscriptions looked at for a message, since the index was made
    - `affected`: those among them whose buffer took the message
    - `reevaluations`: lists that were computed anew from the window
    - `postings`: entries of lists looked at one by one, where they are counted
    - `arriving`: seconds in which messages came: finding whom they concern, updating buffers
    - `expiring`: seconds in which they left, with searches of the window
    """

    subscriptions: int
    messages: int
    bytes: int
    buffered: int
    candidates: int
    affected: int
    reevaluations: int
    postings: int = 0
    arriving: float = 0.0
    expiring: float = 0.0


class TopKIndex(ABC):
    """Keeps, for each subscription, the k best messages of one sliding window.

    The list holds messages that share a word with the subscription, best first by score, of equal
    scores the one that arrived later. Every call tells which lists it changed; a call that raises
    has changed nothing.

    Messages arrive in the order of time. One that is earlier than the latest by no more than
    `lateness` seconds, which may be `inf`, counts as if it were of the latest time; an earlier one
    is refused. An id that is in the window already replaces its message. A message without a common
    word with anybody still counts for the window. A range message is where the middle of its box
    is.
    """

    scoring: Scoring
    window: Window
    lateness: float
    now: float
    """The latest time that was heard of; -inf before the first."""

    def __init__(
        self,
        window: Window,
        *,
        space: Space = Space.EARTH,
        max_dist: float | None = None,
        statistics: WordStatistics | None = None,
        lateness: float = 0.0,
    ) -> None:
        if not isinstance(window, CountWindow | TimeWindow):
            raise TypeError(f"window {window!r} is none; give a CountWindow or a TimeWindow")
        self.window = window
        self.scoring = Scoring.of(space, max_dist, statistics)
        self.lateness = inf if lateness == inf else finite_number(lateness, "lateness")
        if self.lateness < 0:
            raise ValueError(f"lateness {lateness} is negative; give 0 or more seconds")
        self.now = float("-inf")
        self._begin()

    @property
    def space(self) -> Space:
        """Where subscriptions and messages are."""
        return self.scoring.space

    # ------------------------------------------------------------------ what an index does

    @abstractmethod
    def _begin(self) -> None:
        """Have no subscription and an empty window; the settings are there."""

    @abstractmethod
    def subscribe(self, subscription: TopKSubscription) -> list[ListChange]:
        """Add a subscription, or replace the live one of the same id; its list is there at once."""

    @abstractmethod
    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription; KeyError when there is none of this id."""

    @abstractmethod
    def publish(self, message: Message) -> list[ListChange]:
        """A message arrives, and older ones leave the window; the lists that changed."""

    @abstractmethod
    def advance(self, now: float) -> list[ListChange]:
        """Time passes: what is too old leaves a time window; the lists that changed."""

    @abstractmethod
    def results(self, subscription_id: Id) -> Ranked:
        """The list of a subscription as it is now; KeyError when there is none of this id."""

    @abstractmethod
    def subscription(self, subscription_id: Id) -> TopKSubscription:
        """A live subscription; KeyError when there is none of this id."""

    @abstractmethod
    def ids(self) -> list[Id]:
        """The live ids, in no particular order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, subscription_id: object) -> bool: ...

    @abstractmethod
    def stats(self) -> TopKStats:
        """What the index holds and has done."""

    @abstractmethod
    def check(self) -> None:
        """Assert every invariant of the structure; for tests, slow."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index, its window and its lists to one file, all or nothing."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index, which goes on exactly where it was."""

    # ------------------------------------------------------------------ what all have in common

    def subscribe_many(self, subscriptions: list[TopKSubscription]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        for subscription in subscriptions:
            self._check_subscription(subscription)
        for subscription in subscriptions:
            self.subscribe(subscription)

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        """Many messages in their order, all or none: how many lists each has changed.

        This one takes them one by one; an index that has a quicker way may refuse ids that are in
        the window.
        """
        self.check_batch(messages)
        rows = [messages.message(row) for row in range(len(messages))]
        return np.array([len(self.publish(message)) for message in rows], np.int32)

    def publish_as_columns(self, messages: MessageBatch) -> ListChanges:
        """As `publish_batch`: the lists that are others than before, each once, as columns."""
        self.check_batch(messages)
        rows = (messages.message(row) for row in range(len(messages)))
        changes = [change for message in rows for change in self.publish(message)]
        return ListChanges.of(joined_changes(changes))

    def check_batch(self, messages: MessageBatch) -> None:
        """Refuse messages that are too late one after the other."""
        self._check_space("the batch", messages.space)
        times = np.maximum.accumulate(np.append(self.now, messages.time))
        for row in np.flatnonzero(messages.time < times[:-1] - self.lateness)[:1].tolist():
            raise self._too_late(messages.message(row), float(times[row]))

    def check_time(self, message: Message, now: float) -> None:
        """Refuse a message that is too late when the latest time is `now`."""
        if message.time < now - self.lateness:
            raise self._too_late(message, now)

    def _check_subscription(self, subscription: TopKSubscription) -> None:
        if not isinstance(subscription, TopKSubscription):
            raise TypeError(f"{subscription!r} is no TopKSubscription; give one")
        self._check_space(f"subscription {subscription.id!r}", subscription.at.space)

    def _checked_time(self, message: Message) -> float:
        """The time that a message counts from; ValueError for one that is too late."""
        self._check_space(f"message {message.id!r}", message.at.space)
        self.check_time(message, self.now)
        return max(message.time, self.now)

    def _too_late(self, message: Message, now: float) -> ValueError:
        return ValueError(
            f"message {message.id!r}: time {message.time} is before {now}, the latest so far, by "
            f"more than the lateness of {self.lateness} s; publish in order of time, or allow more"
        )

    def _checked_now(self, now: float) -> float:
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        if now < self.now and self.lateness < inf:
            raise ValueError(f"now {now} is before {self.now}, the latest so far; time only passes")
        return max(float(now), self.now)

    def _check_space(self, owner: str, space: Space) -> None:
        if space is not self.space:
            raise ValueError(
                f"{owner} is in {space}, the index in {self.space}; use one space for both"
            )
