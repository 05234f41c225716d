"""The shards that this worker process has open, so that the next batch finds them ready.

Only a cache: a copy is used when it is at most one snapshot behind and not ahead of the batch, and
it is not in the cache while it is worked on, so that a crash in the middle leaves no half-changed
copy. What a copy has of its own is small; the snapshot under it is mapped, and all workers of a
host share it. When there is a newer snapshot, the batch is answered from the copy over the old one,
and only then the worker moves on; a worker that was idle meanwhile finds the changes that it missed
for as long as there is no newer one still. A copy that nobody asks for, of a shard that other
workers have or of a stream that ended, is forgotten after a while, because it keeps the files of an
old snapshot on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from nearcast.pipeline.changes import Changes
from nearcast.pipeline.live_shard import LiveShard
from nearcast.pipeline.partitioning import Partitioning
from nearcast.pipeline.snapshot import MakeIndex, Snapshot
from nearcast.pipeline.state import ShardFiles, StateFolder


class Freshness:
    """How a worker came by its copy of a shard."""

    HOT = "hot"  # it was there, as of the batch before
    CAUGHT_UP = "caught up"  # it was there, and a few changes were read after it
    RESTORED = "restored"  # from the snapshot and the changes since


UNUSED_SECONDS = 300.0
"""A copy that was not used for so long is forgotten."""

FEW = 8
"""Shards of which a worker opens all, because Spark may give it any of them next."""


@dataclass(frozen=True, slots=True)
class _Copy:
    live: LiveShard
    used: float


_copies: dict[tuple[str, str, int], _Copy] = {}  # by key and run of the state, and shard


def hot_copy(
    state: StateFolder,
    shard: int,
    batch: int,
    files: ShardFiles,
    partitioning: Partitioning,
    make_index: MakeIndex,
) -> tuple[LiveShard, str]:
    """The shard as it was before `batch`."""
    _forget_unused()
    copy = _copies.pop((state.key, state.run, shard), None)
    # One that has changes of this batch is of an attempt that failed: what it did is not known.
    if copy and files.chain[0] <= copy.live.applied < batch:
        live, freshness = copy.live, Freshness.HOT
    else:
        live = _restored(shard, files, partitioning, make_index)
        freshness = Freshness.RESTORED
    for before, number in pairwise(files.chain):
        if live.applied < number:
            live.apply(number, Changes.read(state.changes(shard, number), follows=before))
            if freshness == Freshness.HOT:
                freshness = Freshness.CAUGHT_UP
    # Positions order the rows of one batch only: a source may begin anew in each.
    live.begin_batch()
    return live, freshness


def keep(state: StateFolder, live: LiveShard) -> None:
    """Have the copy ready for the next batch."""
    _copies[state.key, state.run, live.number] = _Copy(live, time.monotonic())


def move_on(
    state: StateFolder,
    files: Mapping[int, ShardFiles],
    partitioning: Partitioning,
    make_index: MakeIndex,
) -> None:
    """Be ready for the next batch, now that this one is answered.

    Replaced snapshots and the copies of an earlier start are let go: each would keep the memory of
    its snapshot alive. Where shards are few, those that this worker has not had yet are opened.
    """
    for (key, run, shard), copy in list(_copies.items()):
        if key != state.key:
            continue
        if run != state.run:
            del _copies[key, run, shard]
        elif copy.live.snapshot.folder != files[shard].snapshot:
            del _copies[key, run, shard]
            live = _restored(shard, files[shard], partitioning, make_index)
            _copies[key, run, shard] = _Copy(live, copy.used)
    for shard in files if len(files) <= FEW else ():
        if (state.key, state.run, shard) not in _copies:
            live = _restored(shard, files[shard], partitioning, make_index)
            _copies[state.key, state.run, shard] = _Copy(live, time.monotonic())


def _restored(
    shard: int, files: ShardFiles, partitioning: Partitioning, make_index: MakeIndex
) -> LiveShard:
    if files.snapshot is None:
        snapshot = Snapshot.empty(make_index, partitioning)
    else:
        snapshot = Snapshot.load(files.snapshot, make_index)
    return LiveShard(shard, snapshot, files.snapshot_batch, partitioning, make_index)


def _forget_unused() -> None:
    oldest = time.monotonic() - UNUSED_SECONDS
    for key in [key for key, copy in _copies.items() if copy.used < oldest]:
        del _copies[key]
