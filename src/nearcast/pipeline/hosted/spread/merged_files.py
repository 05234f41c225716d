"""What the driver makes of the parts of lists that a batch has changed in several shards."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from nearcast.durable_files import make_folder, remove
from nearcast.model import Id
from nearcast.pipeline.durable_parquet import read_parquet, write_parquet
from nearcast.pipeline.hosted.keeper import RESULTS
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.pipeline.hosted.spread.list_events import events_of
from nearcast.pipeline.hosted.spread.merging import Ask, MergedList, merge
from nearcast.pipeline.hosted.told import ToldColumns
from nearcast.pipeline.state import StateFolder
from nearcast.storage import read_json, write_json


@dataclass(frozen=True, slots=True)
class Merged:
    """Files with what is told and with results, and how much is told."""

    told: list[Path] = field(default_factory=list)
    results: list[Path] = field(default_factory=list)
    count: int = 0


def pending_homes(state: StateFolder, batch: int) -> list[tuple[Id, Homes]]:
    """The lists that have other homes from the batch on, as the batches before it have decided."""
    numbers = [number for number in state.batches_with_homes() if number < batch]
    if not numbers:
        return []
    rows = read_json(state.new_homes(numbers[-1]))["homes"]
    return [(id, tuple(homes)) for id, homes in rows]


def write_merged(
    state: StateFolder,
    batch: int,
    shards: Iterable[int],
    schema: pa.Schema,
    ask: Ask,
    *,
    keeps_results: bool,
    moves_lists: bool,
) -> Merged:
    """What the parts that these shards have written tell together.

    The files follow from what shards have made durable, so that after a crash they are made again.
    """
    events = [
        (shard, event)
        for shard in shards
        for event in events_of(read_parquet(state.parts(shard, batch)))
    ]
    told_path, results_path = state.merged(batch)
    make_folder(told_path.parent)
    lists = merge(events, ask)
    if moves_lists:
        _write_homes(state, batch, lists)
    if not events:
        return Merged()
    told, results = ToldColumns(schema), []
    notes = [(moment, each) for one in lists for moment, each in one.told]
    for moment, each in notes:
        told.add(moment.position, moment.cause, each)
    for one in lists:
        if one.result is not None:
            items = json.dumps([(id, score) for id, score, _ in one.result])
            row = {"subscription_id": str(one.subscription_id), "kind": "top", "items": items}
            results.append(row)
    write_parquet(told_path, told.tables(), {})
    if not (keeps_results and results):
        return Merged([told_path], [], len(notes))
    write_parquet(results_path, [pa.Table.from_pylist(results, RESULTS)], {})
    return Merged([told_path], [results_path], len(notes))


def _write_homes(state: StateFolder, batch: int, lists: Iterable[MergedList]) -> None:
    """Make durable which lists have other homes from the next batch on, before this one counts.

    What the batch before has decided stays: should this batch come again, it needs that again.
    """
    moved = [
        [each.subscription_id, each.homes]
        for each in lists
        if each.result is not None and each.homes != each.last.homes
    ]
    for number in state.batches_with_homes()[:-1]:
        if number < batch:
            remove(state.new_homes(number))
    write_json(state.new_homes(batch), {"homes": moved})
