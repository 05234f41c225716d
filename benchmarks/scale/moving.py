"""Moving subscriptions in shards."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.moving.workload import LIFE
from benchmarks.pipeline.kinds.kind import Step
from benchmarks.pipeline.kinds.moving import Moving as MovingInStreams
from benchmarks.scale.kind import PASSES
from benchmarks.scale.streamed import Index, StreamedKind
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.model import MovingSubscription
from nearcast.moving import MovingIndex, WordQuadtrees

_WIDER = 100.0  # times the area, for squares that see so much that telling it can be timed
_TALKATIVE = 20_000


class Moving(StreamedKind):
    """Expressions over squares that move, two moves for each message."""

    name, index = "moving", "WordQuadtrees"
    distributions = ("hash", "location")
    moves = True
    _room = "moving"

    def __init__(self, subscriptions: int, messages: int, wider: float = 1.0) -> None:
        self.subscriptions, self.messages, self._wider = subscriptions, messages, wider
        self._made = MovingInStreams(
            subscriptions, messages, PASSES + 1, moves_a_message=2.0, wider=wider
        )
        self.data, self.kept_messages = self._made.data, messages * LIFE
        self.settings = self._made.settings
        self._who = [each for part in self._made.subscribed() for each in part]
        self._said = MessageBatch.concat(list(self._made.past()))

    def _subscription(self, n: int) -> MovingSubscription:
        return self._who[n]

    def _index(self, rows: NDArray[np.int64], past: MessageBatch) -> MovingIndex:
        index = WordQuadtrees()
        index.subscribe_batch(
            SubscriptionBatch.from_subscriptions([self._who[n] for n in rows.tolist()])
        )
        index.publish_batch(past)
        return index

    def _past(self) -> MessageBatch:
        return self._said

    def _step(self, number: int) -> Step:
        return self._made.step(number)

    def _talkative(self) -> "Moving":
        return Moving(min(_TALKATIVE, self.subscriptions), self.messages, _WIDER)

    def _bytes(self, index: Index) -> int:
        assert isinstance(index, MovingIndex)
        stats = index.stats()
        return stats.subscription_bytes + stats.message_bytes
