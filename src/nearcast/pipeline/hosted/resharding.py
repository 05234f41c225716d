"""Results in another number of shards.

Every shard has heard of all messages, so that each can become any other: those of its subscriptions
that belong elsewhere end, and those that belong here begin, with the result that they had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.broker.broker import AnySubscription
from nearcast.durable_files import remove
from nearcast.model import Id
from nearcast.pipeline.durable_parquet import write_parquet
from nearcast.pipeline.hosted.keeper import expiry_of
from nearcast.pipeline.hosted.rows import logged_rows
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedOutput
from nearcast.pipeline.hosted.spread.opening import open_shard
from nearcast.pipeline.hosted.told import ToldColumns
from nearcast.pipeline.partitioning import Hash, hash_ids
from nearcast.pipeline.safe_distance import is_hidden, owner_of
from nearcast.pipeline.state import StateFolder


@dataclass(slots=True)
class _Found:
    """What all old shards have.

    - `subscriptions`: by id
    - `turns`: of lists of terms, how many of the same shard are to be refreshed before
    - `restored`: of each old shard a snapshot that is up to date; None where nothing was ever heard
    """

    subscriptions: dict[Id, AnySubscription] = field(default_factory=dict)
    turns: dict[Id, int] = field(default_factory=dict)
    restored: list[Path | None] = field(default_factory=list)


class HostedResharding:
    """From the shards of one state to those of another, as they are after a batch.

    - `schema`: of what the stream tells
    - `on_step`: is told what begins
    """

    def __init__(
        self,
        old: StateFolder,
        new: StateFolder,
        batch: int,
        settings: ResultSettings,
        schema: pa.Schema,
        on_step: Callable[[str], None],
    ) -> None:
        self._old, self._new = old.hosted(), new.hosted()
        self._batch = batch
        self._settings = settings
        self._schema = schema
        self._on_step = on_step

    def run(self, shards_before: int, shards: int) -> int:
        """Write the new shards.  Returns how many subscriptions have a result."""
        found = _Found()
        for shard in range(shards_before):
            self._on_step(f"reading results {shard + 1} of {shards_before}")
            self._read(shard, found)
        home = homes(found.subscriptions, shards)
        for shard in range(shards):
            self._on_step(f"writing results {shard + 1} of {shards}")
            self._write(shard, home, found)
        for shard in range(shards_before):
            remove(self._restored(shard))
        return sum(not is_hidden(id) for id in found.subscriptions)

    def _read(self, shard: int, found: _Found) -> None:
        files = self._old.files(shard).before(self._batch + 1)
        hosted = open_shard(files.snapshot, self._settings, shard)
        for _, rows in logged_rows(self._old, shard, files, files.snapshot_batch):
            hosted.apply(rows, HostedOutput(ToldColumns(self._schema)))
        found.subscriptions |= {each.id: each for each in hosted.subscriptions()}
        found.turns |= {id: turn for turn, id in enumerate(hosted.terms)}
        restored = files.snapshot
        if files.changes:  # a shard is loaded once for each new one, and the rows played once only
            restored = self._restored(shard)
            hosted.save(restored)
        found.restored.append(restored)

    def _write(self, shard: int, home: Mapping[Id, int], found: _Found) -> None:
        # Where one number of shards divides the other, most are there already.
        source = found.restored[shard % len(found.restored)]
        hosted = open_shard(source, self._settings, shard)
        mine = [each for id, each in found.subscriptions.items() if home[id] == shard]
        terms = sorted((each.id for each in mine if each.id in found.turns), key=found.turns.get)  # type: ignore[arg-type]
        hosted.have_only(mine, terms)
        hosted.save(self._new.new_snapshot(shard, self._batch))
        # The driver looks here when time has to be told.
        write_parquet(self._new.notifications(shard, self._batch), [], expiry_of(hosted))

    def _restored(self, shard: int) -> Path:
        return self._new.folder / f"restored-{shard:04d}"


def homes(ids: Mapping[Id, object], shards: int) -> dict[Id, int]:
    """The shard of each id, which all are of one type; a hidden one is where its owner is.

    >>> homes({"tea": None, "tea\\0safe": None}, 2)["tea"] == homes({"tea": None}, 2)["tea"]
    True
    """
    owners = pa.array([owner_of(id, ids) for id in ids])
    if not len(owners):
        return {}
    kind = pa.int64() if pa.types.is_integer(owners.type) else pa.large_string()
    home: NDArray[np.int32] = Hash(shards).of_removals(hash_ids(owners.cast(kind))).shards
    return dict(zip(ids, home.tolist(), strict=True))
