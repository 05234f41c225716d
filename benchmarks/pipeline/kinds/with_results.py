"""Kinds that have results: a stream with `ResultSettings` against a `Broker`."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.pipeline.kinds.kind import LOG, OneProcess, Step, StreamedKind, said
from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.broker.kinds import Told
from nearcast.model import Notification, TopKSubscription
from nearcast.pipeline import Hash, ResultSettings, plan_results
from nearcast.pipeline.hosted.told import ToldColumns, with_result_columns
from nearcast.pipeline.log.hosted_rows import Hosted
from nearcast.pipeline.log.rows import subscribe_rows
from nearcast.pipeline.streaming import schema_of_matches

_SCHEMA = with_result_columns(
    schema_of_matches({"subscription_ids": "bigint", "message_ids": "bigint"})
)
SAMPLE = 2_000
"""Subscriptions from which a distribution is planned."""

_Answer = tuple[Told, list[list[Notification]]]


class KindWithResults(StreamedKind):
    """What was said before, then all subscriptions."""

    settings: ResultSettings

    @abstractmethod
    def past(self) -> Iterator[MessageBatch]:
        """Messages that are there before anybody subscribes."""

    @abstractmethod
    def subscribed(self) -> Iterator[Sequence[Hosted]]:
        """All subscriptions, in parts."""

    @abstractmethod
    def new_broker(self) -> Broker:
        """As somebody would make it who has this kind alone."""

    def options(self, distribution: str, shards: int) -> dict[str, Any]:
        if distribution == "hash":
            return {"partitioning": Hash(shards), "results": self.settings}
        plan = plan_results(
            distribution, next(self.subscribed())[:SAMPLE], next(self.past()), shards,
            total_subscriptions=self.subscriptions, statistics=self.settings.statistics,
        )  # fmt: skip
        return {"results": replace(self.settings, distribution=plan.distribution)}

    def rows(self) -> Iterator[pa.Table]:
        for messages in self.past():
            yield said(messages)
        for part in self.subscribed():
            yield subscribe_rows(part, LOG)

    def one_process(self) -> OneProcess:
        broker = self.new_broker()
        for messages in self.past():
            broker.publish_batch(messages)
        for part in self.subscribed():
            lists = [each for each in part if isinstance(each, TopKSubscription)]
            broker.subscribe_lists(lists)
            for each in part[len(lists) :]:  # a kind has lists only, or none
                broker.subscribe(each)
        return _OneBroker(broker)


class _OneBroker(OneProcess):
    """What a message changes is told as notifications, as a stream has to."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def take(self, step: Step) -> _Answer:
        told = self._broker.publish_together(step.messages)
        return told, [self._broker.move(id, to) for id, to in step.moves]

    def told(self, step: Step, first: int, answer: _Answer) -> pa.Table:
        heard, moved = answer
        columns, ids = ToldColumns(_SCHEMA), step.messages.ids.to_pylist()
        for row, each in heard.single:
            columns.add(first + row, ids[row], each)
        last = len(ids) - 1
        if heard.lists is not None:
            time = float(step.messages.time[last])
            columns.add_lists(first + last, ids[last], time, heard.lists)
        for terms in heard.terms:
            columns.add_terms(first + last, ids[last], float(step.messages.time[last]), terms)
        for place, changes in enumerate(moved, first + len(ids)):
            for each in changes:
                columns.add(place, None, each)
        return pa.concat_tables([_SCHEMA.empty_table(), *columns.tables()])


def in_parts(messages: MessageBatch, size: int) -> Iterator[MessageBatch]:
    """A batch cut into smaller ones."""
    for first in range(0, len(messages), size):
        yield messages.take(np.arange(first, min(len(messages), first + size)))
