"""Top-k subscriptions in a stream."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from benchmarks.pipeline.batch import THREADS
from benchmarks.pipeline.kinds.kind import Step
from benchmarks.pipeline.kinds.with_results import KindWithResults
from benchmarks.topk.workload import Settings, make
from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.model import TopKSubscription
from nearcast.pipeline import ResultSettings
from nearcast.topk import CountWindow, ParallelLists

_WINDOW = 100_000


class TopK(KindWithResults):
    """The k best messages of a window."""

    name, index = "top-k", "ParallelLists"

    def __init__(self, subscriptions: int, messages: int) -> None:
        self.subscriptions, self.messages = subscriptions, messages
        window = min(subscriptions, _WINDOW)
        self._workload = make(
            Settings(subscriptions=subscriptions, window=window, messages=messages)
        )
        self.settings = ResultSettings(
            CountWindow(window),
            max_dist=self._workload.max_dist,
            statistics=self._workload.statistics,
        )

    def past(self) -> Iterator[MessageBatch]:
        return self._workload.fill()

    def subscribed(self) -> Iterator[Sequence[TopKSubscription]]:
        return self._workload.subscriptions()

    def new_broker(self) -> Broker:
        settings = self.settings
        lists = ParallelLists(
            settings.window, parts=THREADS, max_dist=settings.max_dist,
            statistics=settings.statistics, lateness=inf,
        )  # fmt: skip
        return Broker(top=lists)

    def step(self, number: int) -> Step:
        return Step(self._workload.stream(number))

    @property
    def description(self) -> dict[str, Any]:
        return self._workload.description
