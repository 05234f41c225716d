"""`reshard`: the shards of a stopped stream, divided in another way."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nearcast import boolean
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex
from nearcast.durable_files import remove, sync
from nearcast.model import Message, Point, Space
from nearcast.pipeline.changes import Changes, Withdrawals, no_subscriptions
from nearcast.pipeline.checkpoint_lock import CheckpointLock
from nearcast.pipeline.compaction import newest_snapshot
from nearcast.pipeline.hosted.keepers import end_keepers
from nearcast.pipeline.hosted.resharding import HostedResharding
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.told import with_result_columns
from nearcast.pipeline.partitioning import Hash, Partitioning, check_name, hash_ids, plan_for
from nearcast.pipeline.partitioning.partitioning import check_shards
from nearcast.pipeline.planning import SAMPLE
from nearcast.pipeline.rows import Rows, joined_subscriptions
from nearcast.pipeline.snapshot import MakeIndex, Snapshot
from nearcast.pipeline.state import (
    SAVED,
    SPARK,
    BadCheckpoint,
    StateFolder,
    check_halves,
    remove_empty_words,
)
from nearcast.pipeline.streaming import schema_of_matches

OnStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Resharded:
    """What was done.

    - `before`, `after`: the partitionings; where they route alike nothing was to be done
    - `batch`: the last one that Spark has committed, -1 for none
    - `subscriptions`, `with_results`: how many there are, boolean ones and others
    """

    before: Partitioning
    after: Partitioning
    batch: int
    subscriptions: int
    with_results: int


def reshard(
    checkpoint: str | os.PathLike[str],
    *,
    shards: int | None = None,
    partitioning: str | Partitioning | None = None,
    index: MakeIndex | None = None,
    on_step: OnStep = lambda text: None,
) -> Resharded:
    """Divide the subscriptions of a stopped stream among shards in another way.

    Started again with its checkpoint, and without `partitioning` or with this one, the stream goes
    on where it was: with the same batches, results and sink. It takes the memory of all boolean
    subscriptions, and of the results of one shard at a time. All or nothing: killed at any moment,
    it has changed nothing, or is done.

    Parameters
    ----------
    checkpoint: the folder that the stream was given
    shards: how many there are to be
    partitioning: "hash", "location" or "keyword", by default the one that it has. The last two are
        planned from the subscriptions alone, as if messages came as people ask for them. Or a
        `Partitioning`, such as `plan` makes from tables of the past, which says how many shards
    index: as the stream got it; needed only where it is not one of `nearcast.boolean`, or has
        settings of its own
    on_step: told what begins, for people
    """
    if isinstance(partitioning, Partitioning):
        if shards not in (None, partitioning.shards):
            raise ValueError(f"shards {shards}, but {partitioning!r} has its own; leave shards out")
    elif shards is None:
        raise ValueError("shards is missing; say how many there are to be")
    else:
        check_shards(shards)
        if partitioning is not None:
            check_name(partitioning)
    folder = Path(checkpoint).absolute()
    if not (folder / SAVED / "state.json").exists():
        raise BadCheckpoint(
            f"{folder} is no checkpoint of a stream: it has no {SAVED}/state.json; give the folder "
            "that the stream has as its checkpoint"
        )
    lock = CheckpointLock.exclusive(folder)
    try:
        return _Resharding(folder, index, on_step).run(partitioning, shards)
    finally:
        lock.release()


class _Resharding:
    def __init__(self, checkpoint: Path, index: MakeIndex | None, on_step: OnStep) -> None:
        check_halves(checkpoint)
        self._state = StateFolder.open(checkpoint / SAVED)
        self._state.remove_replaced()
        self._facts = self._state.facts()
        self._make_index = _checked_index(self._facts, index)
        self._before = self._state.partitioning()
        self._batch = _committed_batch(checkpoint / SPARK)
        self._on_step = on_step
        for state in (self._state, self._state.hosted()):
            state.check_batch(self._batch + 1)

        way = (self._facts["results"] or {}).get("distribution")
        if way:
            raise BadCheckpoint(
                f"the results of {checkpoint} are spread by {way['name']}, and no shard has heard "
                "the messages of another, so that they cannot be divided anew; start a new "
                "checkpoint, with a new plan, on the same log"
            )

    def run(self, partitioning: str | Partitioning | None, shards: int | None) -> Resharded:
        if self._facts["results"]:
            end_keepers(self._state.key)  # of a stream that was killed a moment ago
        rows = self._read()
        if not isinstance(partitioning, Partitioning):
            assert shards is not None
            partitioning = _planned(partitioning or self._before.name, rows, shards)
        with_results = 0
        if partitioning.fingerprint() != self._before.fingerprint():
            with_results = self._write(rows, partitioning)
        count = 0 if rows is None else len(rows)
        return Resharded(self._before, partitioning, self._batch, count, with_results)

    def _read(self) -> Rows[SubscriptionBatch] | None:
        """All boolean subscriptions, each once; None where there is none."""
        parts = []
        shards = self._before.shards
        for shard in range(shards):
            self._on_step(f"reading shard {shard + 1} of {shards}")
            # A batch that was begun comes again, with the same rows.
            files = self._state.files(shard).before(self._batch + 1)
            found = newest_snapshot(self._state, shard, files, self._before, self._make_index)
            if len(found.ids):
                parts.append(found.rows())
        if not parts:
            return None
        rows = joined_subscriptions(parts)
        code = np.array(rows.labels.dictionary_encode().indices)
        _, first = np.unique(code, return_index=True)  # of copies in several shards
        return rows if len(first) == len(rows) else rows.take(np.sort(first))

    def _write(self, rows: Rows[SubscriptionBatch] | None, partitioning: Partitioning) -> int:
        new = self._state.with_new_shards(partitioning)
        try:
            with_results = 0
            if self._batch >= 0:  # else nothing has ever happened
                self._write_snapshots(new, rows, partitioning)
                with_results = self._write_results(new, partitioning)
            new.take_over()
        except BaseException:
            if self._state.facts().get("shards_in", "") != new.shards_in:
                remove(new.home)
            raise
        new.remove_replaced()
        return with_results

    def _write_snapshots(
        self, new: StateFolder, rows: Rows[SubscriptionBatch] | None, partitioning: Partitioning
    ) -> None:
        mine = {}
        if rows is not None:
            routes = partitioning.of_subscriptions(rows.batch, hash_ids(rows.labels))
            mine = dict(routes.by_shard())
        for shard in range(partitioning.shards):
            self._on_step(f"writing shard {shard + 1} of {partitioning.shards}")
            snapshot = Snapshot.empty(self._make_index, partitioning)
            if rows is not None and shard in mine:
                changes = [_only_new(rows.take(mine[shard]))]
                snapshot = snapshot.with_changes(changes, partitioning)
            snapshot.save(new.new_snapshot(shard, self._batch))

    def _write_results(self, new: StateFolder, partitioning: Partitioning) -> int:
        if not self._facts["results"]:
            return 0
        work = HostedResharding(
            self._state,
            new,
            self._batch,
            ResultSettings.of(self._facts["results"]),
            with_result_columns(schema_of_matches(self._facts)),
            self._on_step,
        )
        return work.run(self._before.shards, partitioning.shards)


def _only_new(rows: Rows[SubscriptionBatch]) -> Changes:
    none = no_subscriptions(rows.labels, rows.batch.space)
    return Changes(rows, Withdrawals(none.labels, none.position, np.empty(0, bool)))


def _checked_index(facts: dict[str, Any], index: MakeIndex | None) -> MakeIndex:
    """What makes an empty index of the class that the stream has."""
    name, space = facts["index"], Space[facts["space"]]
    if index is None:
        found: Any = getattr(boolean, name) if name in boolean.__all__ else None
        is_index = isinstance(found, type) and issubclass(found, BooleanIndex)
        if not is_index:
            raise BadCheckpoint(
                f"the index {name} of the stream is none of nearcast.boolean; call "
                "nearcast.pipeline.reshard with index=..., what makes an empty one"
            )
        return partial(found, space=space)
    if type(index()).__name__ != name or index().space is not space:
        raise ValueError(
            f"index makes {type(index()).__name__} in {index().space}, the stream has {name} in "
            f"{space}; give what the stream was given"
        )
    return index


def _committed_batch(spark: Path) -> int:
    """The last batch that Spark has committed, durably; -1 for none."""
    remove_empty_words(spark)
    planned, committed = (
        max((int(path.name) for path in (spark / log).glob("*") if path.name.isdigit()), default=-1)
        for log in ("offsets", "commits")
    )
    if not committed <= planned <= committed + 1:
        raise BadCheckpoint(
            f"{spark} has planned batch {planned} and committed batch {committed}, which do not "
            "follow each other; restore the whole checkpoint"
        )
    # Were its last word lost with the power, Spark would bring rows that are in already.
    for log in ("offsets", "commits"):
        if committed >= 0:
            sync(spark / log / str(committed))
            sync(spark / log)
    return committed


def _planned(name: str, rows: Rows[SubscriptionBatch] | None, shards: int) -> Partitioning:
    if name == Hash.name:
        return Hash(shards)
    if rows is None:
        raise ValueError(
            f"there are no subscriptions from which partitioning {name!r} could be planned; use "
            f"{Hash.name!r}, or a Partitioning of your own"
        )
    sample = rows
    if len(rows) > SAMPLE:
        chosen = np.random.default_rng(0).choice(len(rows), SAMPLE, replace=False)
        sample = rows.take(np.sort(chosen))
    return plan_for(
        name,
        sample.batch,
        hash_ids(sample.labels),
        _as_messages(sample.batch),
        total_subscriptions=len(rows),
        total_messages=len(rows),
        shards=shards,
    ).partitioning


def _as_messages(batch: SubscriptionBatch) -> MessageBatch:
    """A message for each subscription, in its midst and with words that it asks for."""
    row, covers = batch.regions.covers()
    _, first = np.unique(row, return_index=True)
    bounds = covers[first].astype(np.float64)
    bounds[~np.isfinite(bounds)] = 0.0  # everywhere in a plane
    middle = (bounds[:, :2] + bounds[:, 2:]) / 2
    if batch.space is Space.EARTH:  # covers are rounded outward
        middle = np.clip(middle, (-180.0, -90.0), (180.0, 90.0))
    said = []
    for number, (x, y) in enumerate(middle.tolist()):
        clause = batch.expressions.expression(number).clauses[0]
        at = Point(x, y, space=batch.space)
        said.append(Message(number, keywords=sorted(clause.required), at=at))
    return MessageBatch.from_messages(said, space=batch.space)
