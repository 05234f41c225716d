"""Subscriptions to terms, in regions or around places, in a stream."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.pipeline.kinds.kind import TOGETHER, Step
from benchmarks.pipeline.kinds.with_results import KindWithResults, in_parts
from benchmarks.trending.workload import Settings, make
from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.pipeline import ResultSettings
from nearcast.trending.index import AnyTrending

_NEARBY_ERROR = 0.01  # what a broker allows


class Trending(KindWithResults):
    """Terms of regions, or around places."""

    def __init__(self, subscriptions: int, messages: int, *, is_nearby: bool) -> None:
        self.name = "trending nearby" if is_nearby else "trending regions"
        self.index = "TermFields" if is_nearby else "CellRows"
        self.max_error = _NEARBY_ERROR if is_nearby else 0.0
        self.subscriptions, self.messages = subscriptions, messages
        self._workload = make(
            Settings(
                subscriptions=subscriptions,
                documents=min(Settings.documents, 20 * messages),
                messages=messages,
                is_nearby=is_nearby,
            )
        )
        self.settings = ResultSettings(half_life=self._workload.half_life)

    def past(self) -> Iterator[MessageBatch]:
        return in_parts(self._workload.documents(), TOGETHER)

    def subscribed(self) -> Iterator[Sequence[AnyTrending]]:
        return self._workload.subscriptions()

    def new_broker(self) -> Broker:
        return Broker(half_life=self.settings.half_life)

    def step(self, number: int) -> Step:
        return Step(self._workload.stream(number))

    @property
    def description(self) -> dict[str, Any]:
        return self._workload.description
