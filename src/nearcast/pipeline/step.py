"""One step: what one shard does with one batch of the stream.

A pure function of the shard's state before the batch and the batch's rows, made durable: first what
changes, then what was refused, then the notifications, whose file says that the step is done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from nearcast.batches import MessageBatch
from nearcast.model import Id
from nearcast.pipeline.changes import Changes, Withdrawals
from nearcast.pipeline.durable_parquet import read_facts, write_parquet
from nearcast.pipeline.hosted.keeper import facts_of_step
from nearcast.pipeline.hosted.keepers import Wait, ask
from nearcast.pipeline.hosted.request import StepRequest
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hot_copies import Freshness, hot_copy, keep, move_on
from nearcast.pipeline.live_shard import LiveShard, Pairs
from nearcast.pipeline.packing import unpack_messages
from nearcast.pipeline.partitioning import Partitioning, hash_ids
from nearcast.pipeline.rows import Rows
from nearcast.pipeline.snapshot import MakeIndex
from nearcast.pipeline.state import ShardFiles, StateFolder
from nearcast.pipeline.stream_routing import (
    CHANGES,
    HOSTED,
    HOSTED_MESSAGES,
    MESSAGES,
    REJECTS,
)
from nearcast.pipeline.unknown_ids import unknown_ids, with_votes
from nearcast.pipeline.worker_garbage import spare_loaded_code


@dataclass(slots=True)
class StepFacts:
    """What a step did, for progress."""

    shard: int
    changes: int = 0
    visits: int = 0  # messages that came to this shard
    notifications: int = 0
    rejects: int = 0
    freshness: str = Freshness.HOT
    waiting: int = 0  # changes since the snapshot
    milliseconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostedWork:
    """What a stream with results has its shards do besides.

    - `schema`: of what is told
    - `snapshot_after`: rows; `keeps_results`: does the sink want results that changed?
    - `ask`: asks the keeper of a shard
    - `resettled`: the lists that are in other shards from this batch on
    """

    settings: ResultSettings
    files: Mapping[int, ShardFiles]
    schema: pa.Schema
    snapshot_after: int
    keeps_results: bool
    ask: Callable[[StepRequest], Wait] = ask
    resettled: Sequence[tuple[Id, Sequence[int]]] = ()

    @property
    def merges_lists(self) -> bool:
        """May several shards have parts of a list?"""
        way = self.settings.distribution
        return way is not None and way.merges_lists

    @property
    def moves_lists(self) -> bool:
        """May lists get other homes?"""
        way = self.settings.distribution
        return way is not None and way.moves_lists


def run_step(
    batches: Iterator[pa.RecordBatch],
    *,
    state: StateFolder,
    batch: int,
    files: Mapping[int, ShardFiles],
    partitioning: Partitioning,
    make_index: MakeIndex,
    hosted: HostedWork | None = None,
) -> Iterator[pa.RecordBatch]:
    """The task of a shard: one row out, its facts in JSON; nothing where no row came in."""
    parts: dict[int, list[pa.Buffer]] = {}
    shard = -1
    for each in batches:
        for number, turn, data in zip(
            each["shard"].to_pylist(), each["turn"].to_pylist(), each["data"], strict=True
        ):
            if shard not in (-1, number):
                raise AssertionError(f"shards {shard} and {number} came to one task")
            shard = number
            parts.setdefault(turn, []).append(data.as_buffer())
    if shard < 0:
        return
    votes = _voters(partitioning) + (hosted is not None)
    # The keeper of the shard works meanwhile.
    wait = hosted and _ask_keeper(hosted, state.hosted(), shard, batch, parts, votes)
    # What was done before a crash is not done again.
    facts = read_facts(state.notifications(shard, batch))
    if facts and facts["rejects"] and read_facts(state.rejects(shard, batch)) is None:
        facts = None  # they are damaged
    if facts is None:
        step = Step(state, batch, shard, partitioning, make_index, votes)
        facts = step.run(parts, files[shard])
        move_on(state, files, partitioning, make_index)
    if wait:
        facts["hosted"] = wait()
    yield pa.RecordBatch.from_pydict({"facts": [json.dumps(facts)]})
    spare_loaded_code("step")


def _voters(partitioning: Partitioning) -> int:
    """How many shards a boolean subscription may be in."""
    return len(partitioning.of_removals(hash_ids(pa.array([0]))).shards)


def _ask_keeper(
    hosted: HostedWork,
    state: StateFolder,
    shard: int,
    batch: int,
    parts: Mapping[int, list[pa.Buffer]],
    votes: int,
) -> Wait | None:
    messages = [*parts.get(MESSAGES, []), *parts.get(HOSTED_MESSAGES, [])]
    others = parts.get(HOSTED, [])
    if not messages and not others:
        return None
    facts = facts_of_step(state, shard, batch)
    if facts is not None:
        return lambda: facts
    return hosted.ask(
        StepRequest(
            state,
            shard,
            batch,
            hosted.files[shard],
            hosted.settings,
            hosted.schema,
            votes,
            hosted.snapshot_after,
            hosted.keeps_results,
            messages,
            others,
            hosted.resettled,
        )
    )


def tell_parts(
    batches: Iterator[pa.RecordBatch],
    *,
    state: StateFolder,
    batch: int,
    changed: Collection[int],
    hosted: HostedWork,
) -> Iterator[pa.RecordBatch]:
    """A task that asks keepers for parts of lists, as they are after a batch.

    A row in is a shard and the ids of the lists in JSON, a row out the shard and the parts, as the
    bytes of `Parts`.
    `changed` are the shards of which the batch has changed the results.
    """
    for each in batches:
        for shard, ids in zip(each["shard"].to_pylist(), each["ids"].to_pylist(), strict=True):
            files = hosted.files[shard]
            request = StepRequest(
                state,
                shard,
                batch + 1,
                files.followed_by(batch) if shard in changed else files,
                hosted.settings,
                hosted.schema,
                0,
                hosted.snapshot_after,
                hosted.keeps_results,
                [],
                [],
                asked=json.loads(ids),
            )
            parts = hosted.ask(request)()["parts"]
            yield pa.RecordBatch.from_pydict(
                {"shard": pa.array([shard], pa.int32()), "parts": [parts]}
            )


class Step:
    """The work of one shard for one batch."""

    def __init__(
        self,
        state: StateFolder,
        batch: int,
        shard: int,
        partitioning: Partitioning,
        make_index: MakeIndex,
        votes: int,
    ) -> None:
        self._votes = votes
        self._state = state
        self._batch = batch
        self._shard = shard
        self._partitioning = partitioning
        self._make_index = make_index
        self._facts = StepFacts(shard)

    def run(self, parts: Mapping[int, list[pa.Buffer]], files: ShardFiles) -> dict[str, Any]:
        """Apply, match, make durable.  Returns the facts."""
        facts, begin = self._facts, time.perf_counter()
        live, facts.freshness = hot_copy(
            self._state, self._shard, self._batch, files, self._partitioning, self._make_index
        )
        self._note_time("open", begin)
        if CHANGES in parts:
            begin = time.perf_counter()
            changes = Changes.joined([Changes.unpack(data) for data in parts[CHANGES]])
            facts.changes = len(changes)
            # Durable before anything follows from it: who has the notifications has the changes.
            path = self._state.changes(self._shard, self._batch)
            changes.write(path, follows=files.last)
            live.apply(self._batch, changes)
            self._note_time("apply", begin)
        begin = time.perf_counter()
        notifications = self._match(live, parts.get(MESSAGES, []))
        self._note_time("match", begin)
        begin = time.perf_counter()
        unknown = live.unknown if live.applied == self._batch else None
        self._write_rejects(parts, unknown)
        facts.notifications, facts.waiting = sum(map(len, notifications)), live.changes
        keep(self._state, live)
        write_parquet(
            self._state.notifications(self._shard, self._batch), notifications, asdict(facts)
        )
        self._note_time("write", begin)
        return asdict(facts)

    def _match(self, live: LiveShard, parts: list[pa.Buffer]) -> list[pa.Table]:
        found = []
        for data in parts:
            messages = unpack_messages(data)
            self._facts.visits += len(messages)
            found += [_notifications(messages, pairs) for pairs in live.match(messages)]
        return found

    def _write_rejects(
        self, parts: Mapping[int, list[pa.Buffer]], unknown: Withdrawals | None
    ) -> None:
        tables = []
        for part in parts.get(REJECTS, []):
            rejected = pa.ipc.open_stream(part).read_all()
            tables.append(with_votes(rejected, np.zeros(len(rejected), np.int64), 1))
        if unknown is not None and len(unknown):
            tables.append(unknown_ids(unknown.labels.to_pylist(), unknown.position, self._votes))
        if tables:
            rejects = pa.concat_tables(tables)
            self._facts.rejects = len(rejects)
            write_parquet(self._state.rejects(self._shard, self._batch), [rejects], {})

    def _note_time(self, what: str, begin: float) -> None:
        self._facts.milliseconds[what] = round(1000 * (time.perf_counter() - begin), 1)


def _notifications(messages: Rows[MessageBatch], pairs: Pairs) -> pa.Table:
    """A row for each pair; what belongs to the message is dictionary-encoded, so small."""
    row = pa.array(pairs.message.astype(np.int32))

    def of_message(values: pa.Array) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(row, values)

    return pa.table(
        {
            "subscription_id": pairs.subscription_ids,
            "message_id": of_message(messages.labels),
            "time": of_message(pa.array(messages.batch.time)),
            "position": of_message(pa.array(messages.position)),
        }
    )
