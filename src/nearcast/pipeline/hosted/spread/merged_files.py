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
from nearcast.pipeline.hosted.spread.merging import Ask, merge
from nearcast.pipeline.hosted.spread.plain_lists import merge_plain
from nearcast.pipeline.hosted.told import ToldColumns
from nearcast.pipeline.state import StateFolder
from nearcast.storage import read_json, write_json
from nearcast.topk.parts import Part


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
    tables = [_events(state, shard, batch) for shard in shards]
    told_path, results_path = state.merged(batch)
    make_folder(told_path.parent)
    told, results, moved = ToldColumns(schema), [], []
    if tables:
        plain, others = merge_plain(pa.concat_tables(tables), ask, moves_lists=moves_lists)
        rows, changed = plain.changes.as_lists()
        causes = plain.causes.take(pa.array(rows))
        told.add_lists(plain.positions[rows], causes, plain.times[rows], changed)
        moved += plain.moved
        if keeps_results:
            lists = plain.changes.after
            ids = plain.changes.subscription_ids.to_pylist()
            results += [_result(id, lists.part(row)) for row, id in enumerate(ids)]
        shard = others["shard"].to_pylist()
        for one in merge(zip(shard, events_of(others), strict=True), ask):
            for moment, each in one.told:
                told.add(moment.position, moment.cause, each)
            if one.result is not None:
                results.append(_result(one.subscription_id, one.result))
                if one.homes != one.last.homes:
                    moved.append((one.subscription_id, one.homes))
    if moves_lists:
        _write_homes(state, batch, moved)
    if not tables:
        return Merged()
    notes = told.tables()
    write_parquet(told_path, notes, {})
    count = sum(map(len, notes))
    if not (keeps_results and results):
        return Merged([told_path], [], count)
    write_parquet(results_path, [pa.Table.from_pylist(results, RESULTS)], {})
    return Merged([told_path], [results_path], count)


def _events(state: StateFolder, shard: int, batch: int) -> pa.Table:
    """What a shard has written, with its number."""
    table = read_parquet(state.parts(shard, batch))
    if "is_plain" not in table.column_names:  # of a batch that an older Nearcast has begun
        table = table.append_column("is_plain", pa.repeat(False, len(table)))
    return table.append_column("shard", pa.repeat(shard, len(table)))


def _result(id: Id, ranked: Part) -> dict[str, str]:
    items = json.dumps([(message, score) for message, score, _ in ranked])
    return {"subscription_id": str(id), "kind": "top", "items": items}


def _write_homes(state: StateFolder, batch: int, moved: list[tuple[Id, Homes]]) -> None:
    """Make durable which lists have other homes from the next batch on, before this one counts.

    What the batch before has decided stays: should this batch come again, however often, it needs
    that again.
    """
    before = [number for number in state.batches_with_homes() if number < batch]
    for number in before[:-1]:
        remove(state.new_homes(number))
    write_json(state.new_homes(batch), {"homes": moved})
