"""Moving subscriptions in shards."""

from time import thread_time

import numpy as np
import pyarrow as pa

from benchmarks.moving.contenders import ROOM
from benchmarks.moving.workload import LIFE, Settings, Step, Workload
from benchmarks.scale.kind import PASSES, Shard, core_seconds, seconds_to_load
from benchmarks.scale.partitioned import SAMPLE, Part, PartitionedKind
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.moving import MovingIndex


class Moving(PartitionedKind):
    """Expressions over squares that move, a move for each message.

    Where a square leaves the part of the map that a shard has, the shard forgets it; where it comes
    into another one, that shard subscribes it.
    """

    name, index = "moving", "WordQuadtrees"
    distributions = ("hash", "location", "keyword")
    moves = True

    def __init__(self, subscriptions: int, messages: int) -> None:
        workload = Workload(
            Settings(
                subscriptions=subscriptions,
                live=messages * LIFE,
                mobility=min(0.4, 4 * messages / subscriptions),
            )
        )
        self.data, self.messages, self.kept_messages = workload.data, messages, messages * LIFE
        people = workload.travellers()
        self._subscriptions = workload.subscriptions(people)
        self._first = workload.first_messages()
        self._steps = list(workload.steps(people, PASSES + 1))

    def restore(self, subscriptions: int) -> tuple[int, float]:
        index = self._filled(Part(np.arange(subscriptions), subscriptions))
        return _bytes(index), seconds_to_load(index)

    def _measure_shard(self, part: Part) -> tuple[Shard, int]:
        index = self._filled(part)
        told, messages, moves = [], [], []
        for step in self._steps:
            heard = step.messages.take(part.hears(step.messages))
            begin = thread_time()
            told.append(len(index.publish_batch(heard)))
            messages.append((thread_time() - begin) / len(step.messages))
            moves.append(self._move(index, part, step))
        shard = Shard(len(part.rows), min(messages[1:]), _bytes(index), min(moves[1:]))
        return shard, sum(told[1:])

    def _move(self, index: MovingIndex, part: Part, step: Step) -> float:
        """Those who are in a shard, or come into it, move: seconds for each who moves at all."""
        ids = step.ids.to_numpy()
        chosen = np.flatnonzero(ids < part.total)
        ids, regions = ids[chosen], step.regions.take(chosen)
        moved = SubscriptionBatch(pa.array(ids), self._subscriptions.expressions.take(ids), regions)
        was = np.array([id in index for id in ids.tolist()], bool)
        keeps = part.keeps(moved)
        stay, come = np.flatnonzero(was & keeps), moved.take(np.flatnonzero(keeps & ~was))
        staying, remaining = pa.array(ids[stay]), regions.take(stay)

        def work() -> None:
            index.move_batch(staying, remaining)
            if len(come):
                index.subscribe_batch(come)
            for id in ids[was & ~keeps].tolist():
                index.unsubscribe(id)

        return core_seconds(work) / max(1, len(ids))

    def _filled(self, part: Part) -> MovingIndex:
        index = ROOM[self.index].make()
        index.subscribe_batch(self._subscriptions.take(part.rows))
        index.publish_batch(self._first.take(part.hears(self._first)))
        return index

    def _routed_subscriptions(self, most: int) -> SubscriptionBatch:
        return self._subscriptions.take(np.arange(min(most, len(self._subscriptions))))

    def _sample(self) -> MessageBatch:
        return self._first.take(np.arange(min(SAMPLE, len(self._first))))


def _bytes(index: MovingIndex) -> int:
    stats = index.stats()
    return stats.subscription_bytes + stats.message_bytes
