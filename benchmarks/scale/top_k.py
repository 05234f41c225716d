"""Top-k subscriptions in shards."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.scale.kind import PASSES, Division, Kind, Measured, Shard, seconds_to_load
from benchmarks.topk.contenders import ROOM
from benchmarks.topk.distributions import DISTRIBUTIONS
from benchmarks.topk.measure import fill as fill_one
from benchmarks.topk.measure_distributions import fill, lists_of, scoring
from benchmarks.topk.workload import HISTORY, Settings, Workload, make
from nearcast.topk.distributions import ByHash
from nearcast.topk.distributions.choose import loads
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.distributions.lowest_scores import lowest_scores

_SAMPLE = 5_000  # subscriptions that plans are made from
_SPREAD = 4  # shards that streams were measured with by each distribution
_STREAMS = Path(__file__).resolve().parent.parent / "results" / "pipeline-kinds.json"


class TopK(Kind):
    """The k best messages of a window; DSkype's four distributions."""

    name, index = "top-k", "WordLists"
    distributions = DISTRIBUTIONS

    def __init__(self, subscriptions: int, messages: int) -> None:
        self.messages, self.kept_messages = messages, 400 * messages
        self._workload = make(
            Settings(subscriptions=subscriptions, window=self.kept_messages, messages=messages)
        )
        self.data = self._workload.source.name
        chosen = np.random.default_rng(0).permutation(subscriptions)[:_SAMPLE].tolist()
        self._sample = [self._workload.subscription(n) for n in chosen]
        self._history = self._workload.source.take(0, HISTORY)
        self._lowest = lowest_scores(self._sample, self._history, scoring(self._workload))

    def plan(self, distribution: str, shards: int, subscriptions: int) -> Division:
        rules = scoring(self._workload)
        rule = KINDS[distribution].plan(self._sample, self._history, shards, rules, subscriptions)
        kept, visited = loads(rule, self._sample, self._lowest, self._history, rules)
        # A replica is found by all of its words, not only by those of its shard.
        return Division(distribution, kept, visited, rule, repeated=True)

    def measure(self, subscriptions: int, division: Division) -> Measured:
        workload = self._with(subscriptions)
        index = lists_of(workload, division.rule or ByHash(1))
        fill(index, workload)
        index.publish_together(workload.stream(0))
        told, seconds = 0, [index.shard_seconds()]
        for turn in range(1, PASSES + 1):
            told += len(index.publish_together(workload.stream(turn)))
            seconds.append(index.shard_seconds())
        best = np.diff(seconds, axis=0).min(axis=0) / self.messages
        kept = index.subscriptions_by_shard()
        bytes_each = index.stats().bytes // division.shards
        shards = [
            Shard(count, taken, bytes_each)
            for count, taken in zip(kept.tolist(), best.tolist(), strict=True)
        ]
        return Measured(shards, told)

    def merge_microseconds(self) -> float:
        """By how much a batch of a stream takes longer by keyword than by hash, for each list."""
        rows = [{**row["details"], **row} for row in json.loads(_STREAMS.read_text())]
        by_way = {
            row["distribution"]: row
            for row in rows
            if row["details"]["kind"] == self.name and row["details"].get("shards") == _SPREAD
        }
        hash_way, keyword = by_way["hash"], by_way["keyword"]
        longer = keyword["microseconds_per_message"] - hash_way["microseconds_per_message"]
        return float(longer / keyword["matches_per_message"])

    def restore(self, subscriptions: int) -> tuple[int, float]:
        workload = self._with(subscriptions)
        index = ROOM[self.index].make(workload)
        fill_one(index, workload)
        return index.stats().bytes, seconds_to_load(index)

    def _with(self, subscriptions: int) -> Workload:
        """The first ones of the workload."""
        settings = replace(self._workload.settings, subscriptions=subscriptions)
        return replace(self._workload, settings=settings)
