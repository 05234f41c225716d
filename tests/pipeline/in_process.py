"""The streaming pipeline without Spark: the same tasks, called one after the other."""

import json
from functools import partial

import pyarrow as pa

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree
from nearcast.model import Message, Space, Subscription
from nearcast.pipeline import hot_copies
from nearcast.pipeline.compaction import _make_snapshot
from nearcast.pipeline.hosted.files import HostedFiles
from nearcast.pipeline.hosted.keeper import ShardKeeper
from nearcast.pipeline.hosted.saver import Saver
from nearcast.pipeline.hosted.spread.merged_files import Merged, pending_homes, write_merged
from nearcast.pipeline.hosted.told import with_result_columns
from nearcast.pipeline.log.rows import (
    AnySubscription,
    message_rows,
    move_rows,
    subscribe_rows,
    unsubscribe_rows,
)
from nearcast.pipeline.log.schema import log_rows, log_schema
from nearcast.pipeline.partitioning import Hash, Keyword, Location, hash_ids
from nearcast.pipeline.rows import MESSAGE_COLUMNS, SUBSCRIPTION_COLUMNS
from nearcast.pipeline.sinks import BatchOutput
from nearcast.pipeline.state import SPARK, ShardFiles, StateFolder, facts_of
from nearcast.pipeline.step import HostedWork, run_step, tell_parts
from nearcast.pipeline.stream_routing import route
from tests.pipeline.histories import random_history


def log_table(events, first=0, ids="string"):
    """Events as the log has them, offsets from `first` on."""
    schema = log_schema(ids)
    rows = []
    for event in events:
        if isinstance(event, Message):
            rows.append(message_rows([event], schema))
        elif isinstance(event, AnySubscription):
            rows.append(subscribe_rows([event], schema))
        elif event[0] == "move" and len(event) > 2:
            rows.append(move_rows([event[1:]], schema))
        elif event[0] == "advance":
            row = {"kind": ["advance"], "time": [float(event[1])]}
            rows.append(log_rows(pa.table(row), schema.remove(0)))
        else:
            rows.append(unsubscribe_rows([event[1]], schema, event[0]))
    table = pa.concat_tables([schema.remove(0).empty_table(), *rows])
    offsets = pa.array(range(first, first + len(table)), pa.int64())
    return table.add_column(0, "offset", offsets)


def routed_rows(table):
    """What `ordered_rows` makes of a table with the columns of the log."""

    def struct(names):
        chosen = table.select([name for name in names if name in table.column_names])
        return chosen.combine_chunks().to_struct_array().combine_chunks()

    message_names = [name for name in MESSAGE_COLUMNS if name != "keywords"]
    return pa.table(
        {
            "kind": table["kind"],
            "offset": table["offset"],
            "subscription": struct(SUBSCRIPTION_COLUMNS),
            "message": struct(message_names),
        }
    )


def planned(kind, shards, seed=0):
    """A partitioning of a class, planned for a history that is not the one to come."""
    if kind is Hash:
        return Hash(shards)
    events = list(random_history(seed + 1000, 200, ids=1000))
    found = {event.id: event for event in events if isinstance(event, Subscription)}
    subscriptions = SubscriptionBatch.from_subscriptions(found.values())
    messages = MessageBatch.from_messages(e for e in events if isinstance(e, Message))
    return kind.plan(subscriptions, hash_ids(subscriptions.ids), messages, shards)


PARTITIONINGS = (Hash, Location, Keyword)


class SaverThatWaits(Saver):
    """A snapshot is on the disk, or has failed, when `start` returns: always at the same moment."""

    def start(self, shard, target):
        super().start(shard, target)
        if self.is_busy:
            finishing, _ = self._saving
            finishing.join()


def keeper_that_waits():
    """A keeper whose snapshots are made at once."""
    keeper = ShardKeeper()
    keeper._saver = SaverThatWaits()
    return keeper


class InProcessStream:
    """Routes batches, runs the step of each shard and gives what the sink would get."""

    def __init__(
        self,
        folder,
        partitioning,
        make_index=RarestWordTree,
        space=Space.EARTH,
        results=None,
        snapshot_after=10**9,
        keeps_results=True,
        make_keeper=ShardKeeper,
    ):
        facts = {
            "index": type(make_index()).__name__,
            "space": space.name,
            **facts_of(partitioning),
            "subscription_ids": "string",
            "message_ids": "string",
            "results": results.facts() if results else None,
        }
        self.distribution = results.distribution if results else None
        self.results = results
        self.snapshot_after = snapshot_after
        self.keeps_results = keeps_results
        self.keepers = {}
        self._make_keeper = make_keeper
        self.state = StateFolder.create_or_open(
            folder, facts, partitioning, self.distribution and self.distribution.row()
        )
        self.partitioning = self.state.partitioning()
        self.make_index = make_index
        self.space = space
        self._find_files()

    def commit(self, number):
        """As Spark does when a batch is done; a checkpoint that is resharded needs it."""
        for log in ("offsets", "commits"):
            (self.state.folder.parent / SPARK / log).mkdir(parents=True, exist_ok=True)
            (self.state.folder.parent / SPARK / log / str(number)).write_text("v1")

    def restart(self):
        """As after a crash of everything."""
        self._find_files()
        lose_hot_copies()
        self.keepers.clear()

    def _find_files(self):
        self.files = {s: self.state.files(s) for s in range(self.partitioning.shards)}
        if self.results:
            self.hosted_files = HostedFiles(self.state.hosted(), self.partitioning.shards)

    def ask(self, request):
        """As a task asks the keeper of a shard, which is in this process."""
        if request.shard not in self.keepers:
            self.keepers[request.shard] = self._make_keeper()
        keeper = self.keepers[request.shard]
        if request.asked is not None:
            parts = keeper.parts(request, request.asked)
            return lambda: {"parts": parts}
        facts = keeper.step(request)
        return lambda: facts

    def shard(self, number):
        """The hot copy of the results of a shard."""
        return self.keepers[number]._shard

    def packed(self, table, tasks=1):
        """The rows on their way to their shards, by shard; the last task is done first."""
        found = {}
        for task in reversed(range(tasks)):
            part = table.slice(len(table) * task // tasks)
            part = part.slice(0, len(table) * (task + 1) // tasks - len(table) * task // tasks)
            batches = routed_rows(part).to_batches() if len(part) else []
            way = self.partitioning
            for batch in route(
                iter(batches),
                way,
                self.space,
                is_ordered=True,
                has_results=bool(self.results),
                distribution=self.distribution,
            ):
                found.setdefault(batch["shard"][0].as_py(), []).append(batch)
        return found

    def step(self, number, shard, batches):
        """The facts of one shard's step; None where it had nothing to do."""
        run = run_step(
            iter(batches),
            state=self.state,
            batch=number,
            files={s: files.before(number) for s, files in self.files.items()},
            partitioning=self.partitioning,
            make_index=self.make_index,
            hosted=self._hosted_work(number),
        )
        rows = [json.loads(row) for batch in run for row in batch["facts"].to_pylist()]
        return rows[0] if rows else None

    def _hosted_work(self, number):
        if not self.results:
            return None
        files = self.hosted_files.begin(number)
        return HostedWork(
            self.results,
            files,
            self.schema(),
            self.snapshot_after,
            self.keeps_results,
            ask=self.ask,
            resettled=pending_homes(self.state.hosted(), number),
        )

    def process(self, number, table, lose_between=False, tasks=1):
        """One batch through all shards."""
        return self.process_packed(number, self.packed(table, tasks), lose_between)

    def process_packed(self, number, packed, lose_between=False):
        """One batch whose rows are on their way."""
        steps = []
        for shard, batches in sorted(packed.items()):
            if lose_between:
                lose_hot_copies()
            steps.append(self.step(number, shard, batches))
        for step in steps:
            if step["changes"]:
                files = self.files[step["shard"]].before(number)
                self.files[step["shard"]] = files.followed_by(number)
        self.last_steps = steps
        merged = Merged()
        if self.results:
            told = {step["shard"]: step["hosted"] for step in steps if "hosted" in step}
            merged = self._merged(number, told)
            self.hosted_files.end(number, told.items())
        return self.output(number, [step["shard"] for step in steps], merged)

    def _merged(self, number, steps):
        work = self._hosted_work(number)
        if not (steps and work.merges_lists):
            return Merged()

        def ask(wanted):
            told = tell_parts(
                iter(wanted.to_batches()),
                state=self.state.hosted(),
                batch=number,
                changed=[shard for shard, facts in steps.items() if facts["rows"]],
                hosted=work,
            )
            return [
                (s, p) for each in told for s, p in zip(*each.to_pydict().values(), strict=True)
            ]

        return write_merged(
            self.state.hosted(),
            number,
            [shard for shard, facts in steps.items() if facts["parts"]],
            self.schema(),
            ask,
            keeps_results=self.keeps_results,
            moves_lists=work.moves_lists,
        )

    def schema(self):
        matches = pa.schema(
            [
                ("subscription_id", pa.string()),
                ("message_id", pa.string()),
                ("time", pa.float64()),
                ("position", pa.int64()),
            ]
        )
        return with_result_columns(matches) if self.results else matches

    def output(self, number, shards, merged):
        states = [self.state, self.state.hosted()] if self.results else [self.state]

        def files(kind):
            paths = [getattr(state, kind)(shard, number) for state in states for shard in shards]
            return [path for path in paths if path.exists()]

        return BatchOutput(
            number,
            self.schema(),
            files("notifications") + merged.told,
            files("rejects"),
            result_files=files("results") + merged.results,
        )

    def snapshot(self, shard, tries=1):
        """What the compactor does, and taking it over; Spark tries a task that fails again."""
        files = self.files[shard]
        if not files.changes:
            return
        newest = files.changes[-1]
        target = self.state.new_snapshot(shard, newest)
        task = partial(
            _make_snapshot,
            state=self.state,
            shard=shard,
            files=files,
            target=target,
            partitioning=self.partitioning,
            make_index=self.make_index,
        )
        while tries:
            tries -= 1
            try:
                list(task(iter([pa.record_batch({"id": [0]})])))
                break
            except OSError:
                if not tries:
                    raise
        self.files[shard] = files.with_snapshot(ShardFiles(target, newest))
        self.state.remove_superseded(shard, self.files[shard])


def lose_hot_copies():
    """As when all workers are new."""
    hot_copies._copies.clear()


def pairs_of(table):
    """(subscription, message) of each notification, sorted."""
    return sorted(
        zip(table["subscription_id"].to_pylist(), table["message_id"].to_pylist(), strict=True)
    )
