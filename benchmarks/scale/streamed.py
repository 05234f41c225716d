"""Kinds with results, as the shards of a stream keep them: rows in, columns of what is told out."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from time import thread_time
from tracemalloc import get_traced_memory
from tracemalloc import start as trace_memory
from tracemalloc import stop as trace_no_memory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.pipeline.kinds.kind import Step
from benchmarks.scale.kind import (
    PASSES,
    Division,
    Kind,
    Measured,
    Shard,
    SpreadCosts,
    core_seconds,
    seconds_to_load,
)
from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.model import Region
from nearcast.moving import MovingIndex
from nearcast.pipeline import ResultDistribution, ResultSettings, plan_results
from nearcast.pipeline.hosted.rows import HostedRows, to_ipc
from nearcast.pipeline.hosted.shard import HostedOutput, HostedShard
from nearcast.pipeline.hosted.spread.bare import with_bare
from nearcast.pipeline.hosted.spread.shard import SpreadShard
from nearcast.pipeline.hosted.spread.whereabouts import Known, Whereabouts
from nearcast.pipeline.hosted.told import ToldColumns, with_result_columns
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_row, move_row
from nearcast.pipeline.packing import pack_messages
from nearcast.pipeline.partitioning import Hash, hash_ids
from nearcast.pipeline.rows import POSITION, Rows
from nearcast.trending import TrendingIndex

SAMPLE = 40_000  # subscriptions that plans are made from
_ADDRESSED = 5_000  # subscriptions of which it is weighed what knowing them takes
_FEW, _MANY = 4, 512  # shards, for which it is timed how messages find theirs
_SCHEMA = with_result_columns(
    pa.schema(
        [("subscription_id", pa.int64()), ("message_id", pa.int64()), ("time", pa.float64()),
         ("position", pa.int64())]
    )
)  # fmt: skip
_OTHERS = pa.schema(
    [("kind", pa.string()), ("id", pa.int64()), ("keywords", pa.string()),
     ("region", pa.string()), ("time", pa.float64()), (POSITION, pa.int64())]
)  # fmt: skip

Index = MovingIndex | TrendingIndex


class StreamedKind(Kind):
    """Subscriptions with results in a `HostedShard`, or where they are spread in `SpreadShard`s.

    So what a message takes is what the keeper of a shard takes for it, but for the disk: reading
    it, matching it, and telling what it changed.
    """

    subscriptions: int
    settings: ResultSettings
    _room: str
    """What a `Broker` calls an index of this kind."""

    # ------------------------------------------------------------------ the data

    @abstractmethod
    def _subscription(self, n: int) -> Hosted:
        """One of all."""

    @abstractmethod
    def _index(self, rows: NDArray[np.int64], past: MessageBatch) -> Index:
        """With these subscriptions, and the messages before those that are measured."""

    @abstractmethod
    def _past(self) -> MessageBatch:
        """The messages before those that are measured."""

    @abstractmethod
    def _step(self, number: int) -> Step:
        """The messages of a pass, and who moves then."""

    @abstractmethod
    def _bytes(self, index: Index) -> int:
        """Of an index."""

    def _talkative(self) -> "StreamedKind":
        """A like kind that tells so much that it can be seen what telling takes."""
        return self

    def _said_before(self) -> MessageBatch:
        """Messages that plans are made from."""
        return self._past()

    def _broker(self, index: Index, past: MessageBatch) -> Broker:
        """That asks this index, and is otherwise one of `settings`, with top-k lists to come."""
        top = self.settings.new_broker().top
        assert top is not None
        top.publish_batch(past)
        return Broker(top=top, half_life=self.settings.half_life, **{self._room: index})  # type: ignore[arg-type]

    # ------------------------------------------------------------------ plans

    def plan(self, distribution: str, shards: int, subscriptions: int) -> Division:
        if distribution == "hash":
            return Division("hash", np.full(shards, 1 / shards), np.ones(shards))
        sample = [self._subscription(n) for n in range(min(SAMPLE, self.subscriptions))]
        said = self._said_before()
        rule = plan_results(
            distribution, sample, said, shards, total_subscriptions=subscriptions
        ).distribution
        assert rule is not None
        homes = [rule.homes(each, safe=False)[0] for each in sample]
        kept = np.bincount(homes, minlength=shards) / len(sample)
        visited = rule.hear(said).mean(axis=0)
        return Division(distribution, kept, visited, rule, tells_all=True)

    # ------------------------------------------------------------------ shards

    def measure(self, subscriptions: int, division: Division) -> Measured:
        shards, told, of_moves = [], 0, 0
        for number, (shard, index, kept) in enumerate(self._shards(subscriptions, division)):
            measured = self._measured(shard, index, kept, subscriptions, division, number)
            shards += measured.shards
            told += measured.told
            of_moves += measured.told_of_moves
        return Measured(shards, told, of_moves)

    def _shards(
        self, subscriptions: int, division: Division
    ) -> Iterator[tuple[HostedShard, Index, NDArray[np.int64]]]:
        """Each shard, its index, and the subscriptions in it, one after the other."""
        rule, past = division.rule, self._past()
        if rule is None:
            owners = _owners(np.arange(subscriptions), division.shards)
            for number in range(division.shards):
                kept = np.flatnonzero(owners == number)
                index = self._index(kept, past)
                yield HostedShard(self._broker(index, past)), index, kept
            return
        known = Whereabouts()
        for n in range(subscriptions):
            subscription = self._subscription(n)
            row = {"keywords": None, **hosted_row(subscription)}
            known[n] = Known.of(row, rule.homes(subscription, safe=False))
        homes = np.array([each.homes[0] for each in known.values()])
        heard = rule.hear(past)
        for number in range(division.shards):
            kept = np.flatnonzero(homes == number)
            mine = with_bare(past, heard[:, number])
            index = self._index(kept, mine)
            shard = SpreadShard(
                self._broker(index, mine), self.settings, rule, number,
                whereabouts=Whereabouts(known),
            )  # fmt: skip
            yield shard, index, kept

    def _measured(
        self,
        shard: HostedShard,
        index: Index,
        kept: NDArray[np.int64],
        subscriptions: int,
        division: Division,
        number: int,
    ) -> Measured:
        told, of_moves, seconds, move_seconds = 0, 0, [], []
        for turn in range(PASSES + 1):
            step = self._step(turn)
            moves = [move for move in step.moves if move[0] < subscriptions]
            mine = moves
            if not division.tells_all:
                ids = np.array([id for id, _ in moves], np.int64)
                owners = _owners(ids, division.shards)
                mine = [move for move, owner in zip(moves, owners, strict=True) if owner == number]
            by_messages, found = _taken(shard, _messages(step.messages))
            by_moves, found_by_moves = _taken(shard, _moves(mine))
            seconds.append(by_messages / len(step.messages))
            move_seconds.append(by_moves / max(1, len(moves)))
            if turn:
                told, of_moves = told + found, of_moves + found_by_moves
        best = Shard(len(kept), min(seconds[1:]), self._bytes(index), min(move_seconds[1:]))
        return Measured([best], told, of_moves)

    # ------------------------------------------------------------------ what else it takes

    def told_microseconds(self) -> float:
        """What a shard takes more than its index, for each result that it tells."""
        kind = self._talkative()
        every, past = np.arange(kind.subscriptions), kind._past()
        alone = kind._index(every, past)
        shard = HostedShard(kind._broker(kind._index(every, past), past))
        found = []
        for turn in range(PASSES + 1):
            messages = kind._step(turn).messages
            seconds, told = _taken(shard, _messages(messages))
            seconds -= core_seconds(lambda: alone.publish_batch(messages))  # noqa: B023
            found.append(1e6 * seconds / max(1, told))
        return max(0.0, min(found[1:]))

    def spread_costs(self, subscriptions: int) -> SpreadCosts | None:
        if "location" not in self.distributions:
            return None
        division = self.plan("location", _FEW, subscriptions)
        rule: ResultDistribution = division.rule
        shard, _, kept = next(self._shards(subscriptions, division))
        assert isinstance(shard, SpreadShard)
        past = with_bare(self._past(), rule.hear(self._past())[:, 0])
        plain = HostedShard(self._broker(self._index(kept, past), past))
        said = self._step(0).messages
        few = _seconds_to_hear(rule, said)
        many = _seconds_to_hear(self.plan("location", _MANY, subscriptions).rule, said)
        each = max(0.0, (many - few) / (_MANY - _FEW))
        bare, elsewhere, again = [], [], []
        for turn in range(PASSES + 1):
            step = self._step(turn)
            others = step.messages.take(np.flatnonzero(~rule.hear(step.messages)[:, 0]))
            seconds, _ = _taken(shard, _messages(others))
            bare.append(seconds / max(1, len(others)) - few)
            moves = [(id, to) for id, to in step.moves if id < subscriptions]
            gone = [move for move in moves if move[0] not in shard.broker]
            here = [(id, to) for id, to in moves if id in shard.broker and id in plain.broker]
            if gone and here:
                elsewhere.append(_taken(shard, _moves(gone))[0] / len(gone))
                more = _taken(shard, _moves(here))[0] - _taken(plain, _moves(here))[0]
                again.append(more / len(here))
        moved = to_ipc(_moves(step.moves).others) if step.moves else b""
        rows = _messages(with_bare(said, np.zeros(len(said), bool))).messages
        assert rows is not None
        return SpreadCosts(
            hear=1e6 * max(0.0, few - _FEW * each),
            hear_each=1e6 * each,
            bare=1e6 * max(0.0, min(bare[1:])),
            elsewhere=1e6 * min(elsewhere, default=0.0),
            again=1e6 * max(0.0, median(again or [0.0])),
            known_bytes=self._known_bytes(),
            bare_bytes=len(pack_messages(rows)) / len(said),
            move_bytes=len(moved) / max(1, len(step.moves)),
        )

    def _known_bytes(self) -> float:
        """What `Whereabouts` take for a subscription, as they come out of rows."""
        count = min(_ADDRESSED, self.subscriptions)
        rows = [hosted_row(self._subscription(n)) | {POSITION: n} for n in range(count)]
        table = pa.Table.from_pylist(rows, _OTHERS)
        trace_memory()
        known = Whereabouts((row["id"], Known.of(row, (0,))) for row in _one_by_one(table))
        taken, _ = get_traced_memory()
        trace_no_memory()
        return taken / len(known)

    def restore(self, subscriptions: int) -> tuple[int, float]:
        index = self._index(np.arange(subscriptions), self._past())
        return self._bytes(index), seconds_to_load(index)


def _owners(ids: NDArray[np.int64], shards: int) -> NDArray[np.int32]:
    """The shard of each id, by its hash."""
    return Hash(shards).of_removals(hash_ids(pa.array(ids, pa.int64()))).shards


def _messages(messages: MessageBatch) -> HostedRows:
    """As a shard gets them."""
    count = len(messages)
    batch = replace(messages, ids=pa.array(np.arange(count)))
    return HostedRows(Rows(messages.ids, batch, np.arange(count)), None)


def _moves(moves: Sequence[tuple[int, Region]]) -> HostedRows:
    """As a shard gets them."""
    rows = [move_row(*move) | {POSITION: n} for n, move in enumerate(moves)]
    return HostedRows(None, pa.Table.from_pylist(rows, _OTHERS) if rows else None)


def _taken(shard: HostedShard, rows: HostedRows) -> tuple[float, int]:
    """Seconds of a core from rows to columns of what is told, and how much that is."""
    begin = thread_time()
    output = HostedOutput(ToldColumns(_SCHEMA))
    shard.apply(shard.needed(rows, output), output)
    told = sum(map(len, output.told.tables()))
    return thread_time() - begin, told


def _seconds_to_hear(rule: ResultDistribution, messages: MessageBatch) -> float:
    return min(core_seconds(lambda: rule.hear(messages)) for _ in range(PASSES)) / len(messages)


def _one_by_one(table: pa.Table) -> Iterator[dict[str, Any]]:
    """So that no row shares its texts with another."""
    for n in range(len(table)):
        yield table.slice(n, 1).to_pylist()[0]
