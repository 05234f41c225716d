"""The contract of the room: what every index that keeps lists of terms current can do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.model import (
    Id,
    Message,
    NearbyTrendingSubscription,
    Space,
    TrendingSubscription,
)
from nearcast.model._checks import finite_number
from nearcast.trending.decay import DEFAULT_HORIZON, Decay
from nearcast.trending.term_rules import TermRules
from nearcast.trending.terms_change import Terms, TermsChange, terms_change
from nearcast.trending.terms_changes import TermsChanges

AnyTrending = TrendingSubscription | NearbyTrendingSubscription

MOST_SHOWN = 10_000
"""So many terms a list can have."""


@dataclass(frozen=True, slots=True)
class TrendingStats:
    """What an index holds and what it has done.

    - `subscriptions`, `documents`, `terms`: how many are live, still count, are in them
    - `bytes`: memory of its arrays, with room kept for growth; 0 where it has none
    - `candidates`: subscriptions looked at for a document, since the index was made
    - `updated`: those among them that the document counts for
    - `computed`: scores of a term that were computed from documents
    - `refilled`: lists that were computed anew from documents
    - `cycles`: what documents took of the processor since `count_cycles`
    - `updating_cycles`: those among them that changed lists; the others found out which
    """

    subscriptions: int
    documents: int
    terms: int
    bytes: int = 0
    candidates: int = 0
    updated: int = 0
    computed: int = 0
    refilled: int = 0
    cycles: int = 0
    updating_cycles: int = 0


class TrendingIndex(ABC):
    """Keeps, for each subscription, the k terms that are most talked about.

    Best first by score, of equal scores in the order of the alphabet (of code points). `decay` says
    what a document counts, `terms` which of its words count. Every call tells which lists have
    other terms than before, or another order; that scores alone have changed is not told. A call
    that raises has changed nothing.

    Each message is a document of its own, whatever its id; that it expires does not matter.
    Documents arrive in the order of time. One that is earlier than the latest by no more than
    `lateness` seconds, which may be `inf`, counts from its own time, which is nothing where that
    is so long ago that it would be forgotten by now; an earlier one is refused.
    """

    kinds: ClassVar[tuple[type, ...]]
    """The kinds of subscription that the index has lists for."""

    decay: Decay
    terms: TermRules
    space: Space
    lateness: float
    now: float
    """The latest time that was heard of; -inf before the first."""

    def __init__(
        self,
        *,
        half_life: float,
        horizon: int = DEFAULT_HORIZON,
        space: Space = Space.EARTH,
        lateness: float = 0.0,
        terms: TermRules | None = None,
    ) -> None:
        self.decay = Decay(half_life, horizon)
        self.terms = TermRules() if terms is None else terms
        self.space = space
        self.lateness = inf if lateness == inf else finite_number(lateness, "lateness")
        if self.lateness < 0:
            raise ValueError(f"lateness {lateness} is negative; give 0 or more seconds")
        self.now = -inf
        self._begin()

    # ------------------------------------------------------------------ what an index does

    @abstractmethod
    def _begin(self) -> None:
        """Have no subscription and no document; the settings are there."""

    @abstractmethod
    def subscribe(self, subscription: AnyTrending) -> list[TermsChange]:
        """Add a subscription, or replace the live one of the same id; its list is there at once."""

    @abstractmethod
    def unsubscribe(self, subscription_id: Id) -> None:
        """End a subscription; KeyError when there is none of this id."""

    @abstractmethod
    def publish(self, message: Message) -> list[TermsChange]:
        """A document arrives, and old ones are forgotten; the lists that changed."""

    @abstractmethod
    def advance(self, now: float) -> list[TermsChange]:
        """Time passes and documents are forgotten; the lists that changed."""

    @abstractmethod
    def top(self, subscription_id: Id, now: float | None = None) -> Terms:
        """The list of a subscription; KeyError when there is none of this id.

        Scores are as of `now`, the latest time heard of unless given, and not before it. Documents
        are forgotten when time passes for the index, not when one asks about a later time.
        """

    @abstractmethod
    def subscription(self, subscription_id: Id) -> AnyTrending:
        """A live subscription; KeyError when there is none of this id."""

    @abstractmethod
    def ids(self) -> list[Id]:
        """The live ids, in no particular order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __contains__(self, subscription_id: object) -> bool: ...

    @abstractmethod
    def stats(self) -> TrendingStats:
        """What the index holds and has done."""

    @abstractmethod
    def count_cycles(self) -> None:
        """From now on `stats` tells what documents take, where kernels do the work.

        Counting takes time itself, where a document concerns many.
        """

    @abstractmethod
    def check(self) -> None:
        """Assert every invariant of the structure; for tests, slow."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index, its documents and its lists to one file, all or nothing."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a saved index, which goes on exactly where it was."""

    # ------------------------------------------------------------------ what all have in common

    def subscribe_many(self, subscriptions: list[Any]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        self.check_many(subscriptions)
        for subscription in subscriptions:
            self.subscribe(subscription)

    def check_many(self, subscriptions: list[Any]) -> None:
        """Refuse what `subscribe_many` cannot take."""
        ids = set()
        for subscription in subscriptions:
            self._check_subscription(subscription)
            if subscription.id in ids:
                raise ValueError(f"subscription {subscription.id!r} is there twice; give it once")
            ids.add(subscription.id)

    def publish_batch(self, messages: MessageBatch) -> NDArray[np.int32]:
        """Many documents in their order, all or none: how many lists each has changed."""
        self.check_batch(messages)
        rows = [messages.message(row) for row in range(len(messages))]
        return np.array([len(self.publish(message)) for message in rows], np.int32)

    def publish_as_columns(self, messages: MessageBatch) -> TermsChanges:
        """Many documents in their order: the lists that are others than before, each once."""
        before = {id: tuple(term for term, _ in self.top(id)) for id in self.ids()}
        self.publish_batch(messages)
        changes = (terms_change(id, terms, self.top(id)) for id, terms in before.items())
        return TermsChanges.of([change for change in changes if change])

    def settings(self) -> dict[str, Any]:
        """What the index was made with, fit for JSON; see `from_settings`."""
        return {
            "half_life": self.decay.half_life,
            "horizon": self.decay.horizon,
            "space": self.space.name,
            "lateness": self.lateness,
            "stop_words": sorted(self.terms.stop_words),
            "shortest": self.terms.shortest,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Self:
        """A new index with the `settings()` of another."""
        settings = dict(settings)
        rules = TermRules(settings.pop("stop_words"), settings.pop("shortest"))
        return cls(terms=rules, space=Space[settings.pop("space")], **settings)

    def _check_subscription(self, subscription: object) -> None:
        if not isinstance(subscription, self.kinds):
            names = " or ".join(kind.__name__ for kind in self.kinds)
            raise TypeError(f"{subscription!r} is no {names}; give one")
        assert isinstance(subscription, AnyTrending)
        owner = f"subscription {subscription.id!r}"
        check_length(owner, subscription.k)
        if isinstance(subscription, NearbyTrendingSubscription):
            self._check_space(owner, subscription.at.space)
        else:
            self._check_space(owner, subscription.region.space)

    def _checked_time(self, message: Message) -> float:
        """What time it is once the document has come; ValueError for one that is refused."""
        self._check_space(f"message {message.id!r}", message.at.space)
        self.check_time(message, self.now)
        return max(message.time, self.now)

    def check_time(self, message: Message, now: float) -> None:
        if message.time < now - self.lateness:
            raise ValueError(
                f"message {message.id!r}: time {message.time} is before {now}, the latest so far, "
                f"by more than the lateness of {self.lateness} s; publish in order of time, or "
                "allow more"
            )
        self.decay.check_moment(message.time, f"message {message.id!r}")

    def check_batch(self, messages: MessageBatch) -> NDArray[np.float64]:
        """What time it is once each document has come; ValueError where one is refused."""
        self._check_space("the batch", messages.space)
        times = np.maximum.accumulate(np.append(self.now, messages.time))
        late = messages.time < times[:-1] - self.lateness
        far = np.abs(messages.time) > self.decay.half_life * 2.0**44
        for row in np.flatnonzero(late | far).tolist():
            self.check_time(messages.message(row), float(times[row]))
        return times[1:]

    def _checked_now(self, now: float) -> float:
        if not isfinite(now):
            raise ValueError(f"now {now} is not finite; give a time in seconds")
        if now < self.now and self.lateness < inf:
            raise ValueError(f"now {now} is before {self.now}, the latest so far; time only passes")
        self.decay.check_moment(now, "now")
        return max(float(now), self.now)

    def _asked_time(self, now: float | None) -> float:
        """The time that scores are asked for; ValueError for one that has passed."""
        if now is None:
            return self.now
        if not isfinite(now) or now < self.now:
            raise ValueError(
                f"now {now} is not a time from {self.now}, the latest so far, on; ask for a later "
                "one, or for none"
            )
        return now

    def _check_space(self, owner: str, space: Space) -> None:
        if space is not self.space:
            raise ValueError(
                f"{owner} is in {space}, the index in {self.space}; use one space for both"
            )


def check_length(owner: str, k: int) -> None:
    """Refuse a list of no terms, or of more than `MOST_SHOWN`."""
    if not 1 <= k <= MOST_SHOWN:
        raise ValueError(
            f"{owner}: k {k} is outside [1, {MOST_SHOWN}], the terms that a list can have; give "
            "another"
        )
