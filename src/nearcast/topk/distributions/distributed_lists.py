"""`DistributedLists`: top-k lists in shards, merged by subscription."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.model import Id, Message, Space, TopKSubscription
from nearcast.model.ids import check_id
from nearcast.topk.distributions.communication import Communication
from nearcast.topk.distributions.distribution import Distribution
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.distributions.lowest_scores import lowest_of
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.distributions.shard_lists import ShardLists
from nearcast.topk.distributions.stream_window import StreamWindow
from nearcast.topk.index import TopKIndex, TopKStats
from nearcast.topk.list_change import ListChange, Ranked, list_change
from nearcast.topk.windows import Window, window_of, window_row
from nearcast.topk.word_statistics import WordStatistics

# How much better a list must be than it has to be before it gives up a shard: one that is sent
# again soon costs more than it saves.
SPARE = 0.02


@dataclass(slots=True)
class _Placed:
    """A live subscription: how many of its shards it is in, the first ones."""

    k: int
    placement: Placement
    used: int

    @property
    def shards(self) -> tuple[int, ...]:
        return self.placement.shards[: self.used]

    def is_right(self, lowest: float) -> bool:
        """Can nothing that is beyond its shards come into a list with this lowest score?"""
        return lowest > self.placement.beyond[self.used - 1]


class DistributedLists(TopKIndex):
    """`WordLists` in shards, in one process: the lists of one index, and what they cost to send.

    A router, which knows the window of the stream but no messages, sends messages and subscriptions
    to shards as a `Distribution` says, each shard keeps the lists of its subscriptions among its
    messages, and the lists of a subscription are merged. They are exact after each call. Where a
    list has become so poor that messages beyond its shards might count, the subscription is sent to
    the next one, and its list is looked at again, before the call returns. Calls are slow;
    `publish_together` takes many messages in one step, as a micro-batch does.

    >>> from nearcast.model import Point
    >>> from nearcast.topk import CountWindow
    >>> from nearcast.topk.distributions import ByHash
    >>> index = DistributedLists(CountWindow(100), distribution=ByHash(3))
    >>> index.subscribe_many([TopKSubscription(n, "tea", Point(n, 0), k=1) for n in range(10)])
    >>> len(index.publish(Message("m", text="tea", at=Point(3, 0))))
    10
    >>> index.sent.messages, index.sent.subscriptions, index.sent.results
    (3, 10, 20)
    """

    distribution: Distribution
    sent: Communication
    """What has been sent, since the index was made."""

    def __init__(
        self,
        window: Window,
        *,
        distribution: Distribution,
        space: Space = Space.EARTH,
        max_dist: float | None = None,
        statistics: WordStatistics | None = None,
        lateness: float = 0.0,
    ) -> None:
        self.distribution = distribution
        super().__init__(
            window, space=space, max_dist=max_dist, statistics=statistics, lateness=lateness
        )

    def _begin(self) -> None:
        self._shards = [ShardLists.of(self.scoring) for _ in range(self.distribution.shards)]
        self._placed: dict[Id, _Placed] = {}
        self._window = StreamWindow(self.window)
        self.sent = Communication()

    # ------------------------------------------------------------------ subscriptions

    def subscribe(self, subscription: TopKSubscription) -> list[ListChange]:
        self._check_subscription(subscription)
        before = self.results(subscription.id) if subscription.id in self else ()
        self.subscribe_many([subscription])
        change = list_change(subscription.id, before, self.results(subscription.id))
        return [change] if change else []

    def subscribe_many(self, subscriptions: list[TopKSubscription]) -> None:
        """Add subscriptions of different ids, or replace live ones; look their lists up later."""
        self._shards[0].check_many(subscriptions)
        shares: dict[int, list[TopKSubscription]] = {}
        for each in subscriptions:
            if each.id in self._placed:
                self.unsubscribe(each.id)
            placement = self.distribution.placement(each, self.scoring.statistics)
            placed = _Placed(each.k, placement, placement.fewest)
            self._placed[each.id] = placed
            for shard in placed.shards:
                shares.setdefault(shard, []).append(each)
        self.sent.subscriptions += self._enter(shares)
        added, _ = self._grow({each.id: self._parts(each.id) for each in subscriptions})
        self.sent.subscriptions += added

    def unsubscribe(self, subscription_id: Id) -> None:
        placed = self._known(subscription_id)
        for shard in placed.shards:
            self._shards[shard].unsubscribe(subscription_id)
        del self._placed[subscription_id]

    def _enter(self, shares: dict[int, list[TopKSubscription]]) -> int:
        """Send subscriptions to shards, which send their lists back: how many copies."""
        for shard, share in shares.items():
            self._shards[shard].subscribe_many(share)
        copies = sum(map(len, shares.values()))
        self.sent.results += copies
        return copies

    def _grow(self, parts: dict[Id, list[Ranked]]) -> tuple[int, dict[Id, Ranked]]:
        """Send subscriptions on until their lists are right: (how many copies, the lists)."""
        lists: dict[Id, Ranked] = {}
        copies = 0
        while parts:
            shares: dict[int, list[TopKSubscription]] = {}
            wanting = []
            for id, mine in parts.items():
                placed = self._placed[id]
                lists[id] = _merged(mine, placed.k, self._window.number_of)
                if not placed.is_right(lowest_of(lists[id], placed.k)):
                    subscription = self.subscription(id)
                    shares.setdefault(placed.placement.shards[placed.used], []).append(subscription)
                    placed.used += 1
                    wanting.append(id)
            copies += self._enter(shares)
            parts = {id: self._parts(id) for id in wanting}
        return copies, lists

    def _shrink(self, id: Id, lowest: float) -> None:
        """Leave shards that a list no longer needs."""
        placed = self._placed[id]
        needed = placed.placement.needed(lowest - SPARE)
        for shard in placed.placement.shards[needed : placed.used]:
            self._shards[shard].unsubscribe(id)
            self.sent.released += 1
        placed.used = min(needed, placed.used)

    # ------------------------------------------------------------------ messages

    def publish(self, message: Message) -> list[ListChange]:
        self.now = self._checked_time(message)
        withdrawn = message.id if message.id in self._window else None
        self._window.begin_step(withdrawn)
        batch = MessageBatch.from_messages([message], space=self.space)
        return self._step(batch, *self._window.admit([message.id], [self.now]), withdrawn)

    def publish_together(self, messages: MessageBatch) -> list[ListChange]:
        """Many messages with new ids as one step: the lists that are others than before it."""
        self.check_batch(messages)
        ids = messages.ids.to_pylist()
        if any(id in self._window for id in ids):
            raise ValueError("an id of the batch is in the window; publish its message by itself")
        if not ids:
            return []
        times = np.maximum.accumulate(np.append(self.now, messages.time))[1:]
        self.now = float(times[-1])
        self._window.begin_step()
        return self._step(messages, *self._window.admit(ids, times.tolist()), None)

    def advance(self, now: float) -> list[ListChange]:
        self.now = self._checked_now(now)
        self._window.begin_step()
        left = self._window.pass_time(self.now)
        nothing = MessageBatch.from_messages([], space=self.space)
        return self._step(nothing, np.empty(0), left, None)

    def _step(
        self,
        messages: MessageBatch,
        numbers: NDArray[np.float64],
        left: NDArray[np.float64],
        withdrawn: Id | None,
    ) -> list[ListChange]:
        """All shards hear of a step; the lists that it has changed."""
        targets = self.distribution.targets(messages, self.scoring.statistics)
        self.sent.messages += int(targets.sum())
        before: dict[Id, dict[int, Ranked]] = {}
        for number, shard in enumerate(self._shards):
            rows = np.flatnonzero(targets[:, number])
            mine = messages if len(rows) == len(messages) else messages.take(rows)
            changes = shard.step(mine, numbers[rows], left[np.append(rows, -1)], withdrawn)
            self.sent.results += len(changes)
            for id, old, _ in changes:
                before.setdefault(id, {})[number] = old
        return self._changes(before)

    def _changes(self, before: dict[Id, dict[int, Ranked]]) -> list[ListChange]:
        """The changes of lists of which some parts were others `before`, in these shards."""
        old_lists = {}
        now: dict[Id, list[Ranked]] = {}
        for id, old in before.items():
            placed = self._placed[id]
            now[id] = self._parts(id)
            parts = [
                old.get(shard, part) for shard, part in zip(placed.shards, now[id], strict=True)
            ]
            old_lists[id] = _merged(parts, placed.k, self._window.number_before)
        copies, lists = self._grow(now)
        self.sent.reallocated += copies
        for id in before:
            self._shrink(id, lowest_of(lists[id], self._placed[id].k))
        changes = (list_change(id, old_lists[id], lists[id]) for id in before)
        return [change for change in changes if change]

    # ------------------------------------------------------------------ looking things up

    def results(self, subscription_id: Id) -> Ranked:
        placed = self._known(subscription_id)
        return _merged(self._parts(subscription_id), placed.k, self._window.number_of)

    def _parts(self, id: Id) -> list[Ranked]:
        """The lists of a subscription in its shards."""
        return [self._shards[shard].results(id) for shard in self._placed[id].shards]

    def subscription(self, subscription_id: Id) -> TopKSubscription:
        """A live subscription, its words in alphabetical order."""
        shard = self._known(subscription_id).shards[0]
        return self._shards[shard].subscription(subscription_id)

    def ids(self) -> list[Id]:
        return list(self._placed)

    def __len__(self) -> int:
        return len(self._placed)

    def __contains__(self, subscription_id: object) -> bool:
        return subscription_id in self._placed

    def stats(self) -> TopKStats:
        """Of all shards together; of times, those of the slowest."""
        shards = [shard.stats() for shard in self._shards]
        return TopKStats(
            subscriptions=len(self),
            messages=len(self._window),
            bytes=sum(each.bytes for each in shards),
            buffered=sum(each.buffered for each in shards),
            candidates=sum(each.candidates for each in shards),
            affected=sum(each.affected for each in shards),
            reevaluations=sum(each.reevaluations for each in shards),
            postings=sum(each.postings for each in shards),
            arriving=max(each.arriving for each in shards),
            expiring=max(each.expiring for each in shards),
        )

    def subscriptions_by_shard(self) -> NDArray[np.int64]:
        """How many subscriptions each shard has."""
        return np.array([len(shard) for shard in self._shards])

    def shard_seconds(self) -> NDArray[np.float64]:
        """How long each shard has worked for messages that came and went."""
        return np.array([shard.seconds for shard in self._shards])

    def check(self) -> None:
        for shard in self._shards:
            shard.check()
        assert sum(placed.used for placed in self._placed.values()) == sum(map(len, self._shards))
        for id, placed in self._placed.items():
            assert all(id in self._shards[shard] for shard in placed.shards)
            assert placed.is_right(lowest_of(self.results(id), placed.k))
            assert len(set(placed.placement.shards)) == len(placed.placement.beyond)

    # ------------------------------------------------------------------ saving

    def save(self, path: str | os.PathLike[str]) -> None:
        metas: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for number, shard in enumerate(self._shards):
            meta, own = shard.state()
            metas.append(meta)
            arrays |= {f"{number}/{name}": array for name, array in own.items()}
        meta = {
            "shards": metas,
            "distribution": [self.distribution.name, self.distribution.row()],
            "window": window_row(self.window),
            "lateness": self.lateness,
            "now": None if self.now == float("-inf") else self.now,
            "stream": self._window.row(),
            "placed": [[id, placed.shards[0], placed.used] for id, placed in self._placed.items()],
            "sent": asdict(self.sent),
        }
        storage.write_arrays(path, type(self).__name__, meta, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        meta, arrays = storage.read_arrays(path, cls.__name__)
        shards = [
            ShardLists.from_state(each, storage.part(arrays, f"{number}/"))
            for number, each in enumerate(meta["shards"])
        ]
        name, row = meta["distribution"]
        first = shards[0]
        index = cls(
            window_of(meta["window"]),
            distribution=KINDS[name].of_row(row),
            space=first.space,
            max_dist=first.scoring.max_dist,
            statistics=first.scoring.statistics,
            lateness=meta["lateness"],
        )
        index._shards = shards
        index.now = float("-inf") if meta["now"] is None else meta["now"]
        index._window = StreamWindow.of_row(index.window, meta["stream"])
        index.sent = Communication(**meta["sent"])
        index._restore_placed(meta["placed"])
        return index

    def _restore_placed(self, rows: Sequence[tuple[Id, int, int]]) -> None:
        """Subscriptions are in as many shards as before, which the distribution tells again."""
        for id, shard, used in rows:
            subscription = self._shards[shard].subscription(id)
            placement = self.distribution.placement(subscription, self.scoring.statistics)
            self._placed[id] = _Placed(subscription.k, placement, used)

    # ------------------------------------------------------------------ private

    def _known(self, subscription_id: Id) -> _Placed:
        if subscription_id not in self._placed:
            raise KeyError(subscription_id)
        return self._placed[check_id(subscription_id, "subscription")]


def _merged(parts: Iterable[Ranked], k: int, number_of: Callable[[Id], int]) -> Ranked:
    """The k best of several lists, which may have messages in common."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    scores = {id: score for part in parts for id, score in part}
    best = sorted(scores.items(), key=lambda entry: (-entry[1], -number_of(entry[0])))
    return tuple(best[:k])
