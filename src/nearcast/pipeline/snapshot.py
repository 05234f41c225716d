"""`Snapshot`: the subscriptions of a shard as of some batch, in files that are mapped, not read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import SubscriptionBatch
from nearcast.boolean.id_table import IdTable
from nearcast.boolean.index import BooleanIndex
from nearcast.durable_files import whole_folder
from nearcast.pipeline.changes import Changes
from nearcast.pipeline.partitioning import Hash, Partitioning, hash_ids
from nearcast.pipeline.rows import Rows, joined_subscriptions
from nearcast.pipeline.versions import Versions
from nearcast.storage import part, read_arrays, write_arrays

MakeIndex = Callable[[], BooleanIndex]

_KIND = "snapshot"
_INDEX, _IDS = "index.near", "ids.near"


class Snapshot:
    """An index whose ids are slots, the table of what people call them, and where copies are.

    - `index`: boolean index with the slots of `ids` as ids
    - `ids`: from people's ids to slots and back
    - `masks`: uint64[slots, w], the shards that have a copy of each subscription; None where the
      partitioning keeps one copy only
    - `folder`: where it was read from

    It is never changed, so that all processes of a host share the memory of its files.
    """

    def __init__(
        self,
        index: BooleanIndex,
        ids: IdTable,
        masks: NDArray[np.uint64] | None,
        folder: Path | None = None,
    ) -> None:
        self.index = index
        self.ids = ids
        self.masks = masks
        self.folder = folder

    @classmethod
    def empty(cls, make_index: MakeIndex, partitioning: Partitioning) -> Snapshot:
        """No subscriptions yet."""
        keeps_one = isinstance(partitioning, Hash)
        width = -(-partitioning.shards // 64)
        masks = None if keeps_one else np.empty((0, width), np.uint64)
        return cls(make_index(), IdTable(), masks)

    @classmethod
    def load(cls, folder: Path, make_index: MakeIndex) -> Snapshot:
        """Map what `save` wrote; `BadFile` when it is damaged.  O(size) for the checksums alone."""
        _, arrays = read_arrays(folder / _IDS, _KIND)
        ids = IdTable.from_arrays(part(arrays, "ids/"))
        index = type(make_index()).load(folder / _INDEX)
        return cls(index, ids, arrays.get("masks"), folder)

    def save(self, folder: Path) -> None:
        """Write it as `folder`, all or nothing; the name must be new."""
        arrays = {f"ids/{name}": array for name, array in self.ids.arrays().items()}
        if self.masks is not None:
            arrays["masks"] = self.masks
        with whole_folder(folder) as unfinished:
            write_arrays(unfinished / _IDS, _KIND, {}, arrays)
            self.index.save(unfinished / _INDEX)

    def rows(self) -> Rows[SubscriptionBatch]:
        """All subscriptions as columns, with the ids people gave as labels.  O(size)."""
        slots = self.ids.live_slots()
        batch = self.index.subscriptions(pa.array(slots))
        numbered = replace(batch, ids=pa.array(np.arange(len(slots))))
        return Rows(self.ids.ids_of(slots), numbered, np.zeros(len(slots), np.int64))

    def with_changes(self, changes: Sequence[Changes], partitioning: Partitioning) -> Snapshot:
        """The snapshot after these batches of changes.  It takes over the index of this one.

        O(changes) where they are few, O(n log n) where they are many.
        """
        versions = Versions(self.ids)
        for batch in changes:
            versions.begin_batch()
            versions.apply(batch)
        gone = versions.gone_slots()
        self.ids.remove(gone)
        for slot in gone.tolist():
            self.index.remove(slot)
        live = versions.live_entries()
        masks = self.masks
        if len(live):
            rows = joined_subscriptions([batch.new for batch in changes]).take(live)
            slots = self.ids.add(rows.labels)
            if masks is not None:
                masks = _grown(masks, self.ids.slots)
                routes = partitioning.of_subscriptions(rows.batch, hash_ids(rows.labels))
                masks[slots] = routes.masks(partitioning.shards)
            self.index.insert_batch(replace(rows.batch, ids=pa.array(slots.astype(np.int64))))
        return Snapshot(self.index, self.ids, masks)


def _grown(masks: NDArray[np.uint64], rows: int) -> NDArray[np.uint64]:
    more = np.zeros((rows - len(masks), masks.shape[1]), np.uint64)
    return np.concatenate([masks, more])
