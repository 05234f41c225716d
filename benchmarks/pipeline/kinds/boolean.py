"""Boolean subscriptions in a stream; its own partitionings divide them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import workloads
from benchmarks.contenders import DEFAULT
from benchmarks.pipeline.batch import THREADS
from benchmarks.pipeline.kinds.kind import LOG, TOGETHER, OneProcess, Step, StreamedKind
from benchmarks.pipeline.tables import subscription_table
from nearcast.batches import Matches
from nearcast.boolean import RarestWordTree
from nearcast.pipeline.log.schema import log_rows
from nearcast.pipeline.partitioning import hash_ids, plan_for


class Boolean(StreamedKind):
    """Expressions over regions."""

    name, index = "boolean", DEFAULT
    has_results = False

    def __init__(self, subscriptions: int, messages: int, steps: int) -> None:
        self.subscriptions, self.messages = subscriptions, messages
        self._workload = workloads.make(
            workloads.Settings(subscriptions=subscriptions, messages=steps * messages)
        )

    def options(self, distribution: str, shards: int) -> dict[str, Any]:
        kept, history = self._workload.subscriptions, self._workload.history
        plan = plan_for(
            distribution, kept, hash_ids(kept.ids), history,
            total_subscriptions=len(kept), total_messages=len(self._workload.messages),
            shards=shards,
        )  # fmt: skip
        return {"partitioning": plan.partitioning}

    def rows(self) -> Iterator[pa.Table]:
        table = subscription_table(self._workload.subscriptions)
        table = table.append_column("kind", pa.repeat("subscribe", len(table)))
        for first in range(0, len(table), TOGETHER):
            yield log_rows(table.slice(first, TOGETHER), LOG)

    def one_process(self) -> OneProcess:
        index = RarestWordTree()
        index.insert_batch(self._workload.subscriptions)
        return _Index(index)

    def step(self, number: int) -> Step:
        rows = np.arange(number * self.messages, (number + 1) * self.messages)
        return Step(self._workload.messages.take(rows))

    @property
    def description(self) -> dict[str, Any]:
        return self._workload.description


class _Index(OneProcess):
    """The index alone."""

    def __init__(self, index: RarestWordTree) -> None:
        self._index = index

    def take(self, step: Step) -> Matches:
        return self._index.match_batch(step.messages, threads=THREADS)

    def told(self, step: Step, first: int, answer: Matches) -> pa.Table:
        row = np.repeat(np.arange(len(step.messages)), np.diff(answer.start))
        return pa.table(
            {
                "subscription_id": answer.subscription_ids,
                "message_id": step.messages.ids.take(pa.array(row)),
                "time": step.messages.time[row],
                "position": first + row,
            }
        )
