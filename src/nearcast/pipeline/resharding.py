"""`reshard`: the shards of a stopped stream, divided in another way."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from nearcast.pipeline.hosted.resharding import OldResults, read_results, write_results
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.hosted.spread.plan import NAMES
from nearcast.pipeline.hosted.told import with_result_columns
from nearcast.pipeline.partitioning import (
    Hash,
    Location,
    Partitioning,
    check_name,
    hash_ids,
    plan_for,
)
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

    - `before`, `after`: the partitionings
    - `results_before`, `results_after`: the names of the distributions of results, "hash" for none
    - `is_changed`: where both are as they were, nothing was to be done
    - `batch`: the last one that Spark has committed, -1 for none
    - `subscriptions`, `with_results`: how many there are, boolean ones and others
    """

    before: Partitioning
    after: Partitioning
    results_before: str
    results_after: str
    is_changed: bool
    batch: int
    subscriptions: int
    with_results: int


def reshard(
    checkpoint: str | os.PathLike[str],
    *,
    shards: int | None = None,
    partitioning: str | Partitioning | None = None,
    distribution: str | ResultDistribution | None = None,
    index: MakeIndex | None = None,
    on_step: OnStep = lambda text: None,
) -> Resharded:
    """Divide the subscriptions of a stopped stream among shards in another way.

    Started again with its checkpoint, and without `partitioning` and distribution or with these,
    the stream goes on where it was: with the same batches, results and sink. It takes the memory of
    all subscriptions, and of the results of one shard at a time. All or nothing: killed at any
    moment, it has changed nothing, or is done.

    Parameters
    ----------
    checkpoint: the folder that the stream was given
    shards: how many there are to be
    partitioning: "hash", "location" or "keyword", by default the one that it has. The last two are
        planned from the subscriptions alone, as if messages came as people ask for them. Or a
        `Partitioning`, such as `plan` makes from tables of the past, which says how many shards.
        Where results are spread by location, boolean subscriptions are by default divided by the
        same cells
    distribution: of results, "hash", "location", "keyword" or "prefix", by default the one that
        they have; planned anew from the subscriptions and the messages that are remembered. Or a
        `ResultDistribution`, such as `plan_results` makes, for as many shards
    index: as the stream got it; needed only where it is not one of `nearcast.boolean`, or has
        settings of its own
    on_step: told what begins, for people
    """
    for given in (partitioning, distribution):
        if isinstance(given, Partitioning | ResultDistribution):
            if shards not in (None, given.shards):
                raise ValueError(
                    f"shards {shards}, but {_shown(given)} is for {given.shards}; leave shards out"
                )
            shards = given.shards
    if shards is None:
        raise ValueError("shards is missing; say how many there are to be")
    check_shards(shards)
    if isinstance(partitioning, str):
        check_name(partitioning)
    if isinstance(distribution, str) and distribution not in NAMES:
        raise ValueError(
            f"distribution {distribution!r} is unknown; give one of {', '.join(NAMES)}, or a "
            "ResultDistribution"
        )
    folder = Path(checkpoint).absolute()
    if not (folder / SAVED / "state.json").exists():
        raise BadCheckpoint(
            f"{folder} is no checkpoint of a stream: it has no {SAVED}/state.json; give the folder "
            "that the stream has as its checkpoint"
        )
    lock = CheckpointLock.exclusive(folder)
    try:
        return _Resharding(folder, index, on_step).run(partitioning, distribution, shards)
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

        self._settings: ResultSettings | None = None
        if results := self._facts["results"]:
            row = self._state.distribution()
            own = {name: results[name] for name in results if name != "distribution"}
            self._settings = ResultSettings.of(own if row is None else own | {"distribution": row})

    def run(
        self,
        partitioning: str | Partitioning | None,
        distribution: str | ResultDistribution | None,
        shards: int,
    ) -> Resharded:
        if self._settings is None and distribution is not None:
            raise ValueError("the stream keeps no results; leave distribution out")
        if self._settings:
            end_keepers(self._state.key)  # of a stream that was killed a moment ago
        rows = self._read()
        new = self._state.with_new_shards()
        try:
            found, settings = self._planned_results(distribution, shards, new)
            way = self._planned_partitioning(partitioning, rows, settings, shards)
            is_changed = way.fingerprint() != self._before.fingerprint() or _fingerprint(
                settings
            ) != _fingerprint(self._settings)
            if is_changed:
                spread = settings.distribution if settings else None
                row = spread.row() if spread else None
                new.fill(way, row, has_results=settings is not None)
                if self._batch >= 0:  # else nothing has ever happened
                    self._write_snapshots(new, rows, way)
                    if settings is not None:
                        found = found or self._read_results(new)
                        write_results(found, new, shards, self._batch, settings, self._on_step)
                new.take_over(None if settings is None else settings.facts())
        finally:
            if self._state.facts().get("shards_in", "") != new.shards_in:
                remove(new.home)
        if is_changed:
            new.remove_replaced()
        return Resharded(
            self._before,
            way,
            _name(self._settings),
            _name(settings),
            is_changed,
            self._batch,
            0 if rows is None else len(rows),
            found.count if found and is_changed else 0,
        )

    def _planned_results(
        self, distribution: str | ResultDistribution | None, shards: int, new: StateFolder
    ) -> tuple[OldResults | None, ResultSettings | None]:
        """How results are to be spread, and what there is of them, if that had to be known."""
        before = self._settings
        if before is None:
            return None, None
        if isinstance(distribution, ResultDistribution):
            return None, replace(before, distribution=distribution)
        name = distribution or _name(before)
        if name == _name(before) and (name == Hash.name or shards == self._before.shards):
            return None, before
        if name == Hash.name:
            return None, replace(before, distribution=None)
        found = self._read_results(new)
        way = found.planned(name, shards, before)
        return found, replace(before, distribution=way)

    def _planned_partitioning(
        self,
        partitioning: str | Partitioning | None,
        rows: Rows[SubscriptionBatch] | None,
        settings: ResultSettings | None,
        shards: int,
    ) -> Partitioning:
        if isinstance(partitioning, Partitioning):
            return partitioning
        if partitioning is None:
            before, after = _tree(self._settings), _tree(settings)
            is_shared = before is not None and before.fingerprint() == self._before.fingerprint()
            if is_shared and after is not None:
                return after
            if shards == self._before.shards and not is_shared:
                return self._before
        return _planned(partitioning or self._before.name, rows, shards)

    def _read_results(self, new: StateFolder) -> OldResults:
        assert self._settings is not None
        return read_results(
            self._state,
            self._before.shards,
            self._batch,
            self._settings,
            with_result_columns(schema_of_matches(self._facts)),
            new.home,
            self._on_step,
        )

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


def _name(settings: ResultSettings | None) -> str:
    """The name that a distribution of results is planned by; that of its lists, if it has both."""
    way = settings.distribution if settings else None
    if way is None:
        return Hash.name
    return way.top.name if way.top else Location.name


def _fingerprint(settings: ResultSettings | None) -> str | None:
    way = settings.distribution if settings else None
    return way.fingerprint() if way else None


def _tree(settings: ResultSettings | None) -> Location | None:
    """The cells by which results are divided."""
    way = settings.distribution if settings else None
    return way.cells.tree if way and way.cells else None


def _shown(given: Partitioning | ResultDistribution) -> str:
    return repr(given) if isinstance(given, Partitioning) else f"distribution {given.name!r}"


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
