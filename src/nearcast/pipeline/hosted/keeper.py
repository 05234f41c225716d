"""`ShardKeeper`: the hot copy of a shard's results, and what it does for a batch.

First the rows are made durable, then they change the copy, then what they gave is written; the
file with what is told comes last and says that the step is done. The copy is only a cache: one that
missed a batch reads its rows, one that failed in the middle is thrown away and made again.
"""

from __future__ import annotations

import json
import time
from math import isfinite
from typing import Any

import pyarrow as pa

from nearcast.model import Id
from nearcast.pipeline.durable_parquet import read_facts, write_parquet
from nearcast.pipeline.hosted.request import StepRequest
from nearcast.pipeline.hosted.rows import HostedRows, logged_rows
from nearcast.pipeline.hosted.saver import SavedShard, Saver
from nearcast.pipeline.hosted.shard import HostedOutput, HostedShard
from nearcast.pipeline.hosted.spread.list_shard import ListShard
from nearcast.pipeline.hosted.spread.opening import open_shard
from nearcast.pipeline.hosted.told import NothingTold, ToldColumns
from nearcast.pipeline.hot_copies import Freshness
from nearcast.pipeline.rows import REJECTS, as_json
from nearcast.pipeline.state import StateFolder
from nearcast.pipeline.unknown_ids import unknown_ids, with_votes

SECONDS_A_SNAPSHOT, SECONDS_A_SUBSCRIPTION = 3.0, 5e-6
"""A snapshot is due when the rows behind the last one took so long, of a core: who restores the
shard plays them again. Longer where there are more subscriptions, which have to be saved."""
MOST_CHANGE_FILES = 1_000


class ShardKeeper:
    """Keeps one shard, of one start of a stream at a time.

    - `_shard`: None where there is none that could be trusted
    - `_applied`: the last batch whose rows are in it
    - `_rows`, `_seconds`: how many since the snapshot, and what they took of a core
    """

    def __init__(self) -> None:
        self._owner: tuple[str, int] | None = None
        self._shard: HostedShard | None = None
        self._applied = -1
        self._rows, self._seconds = 0, 0.0
        self._saver = Saver()
        self._saved: SavedShard | None = None

    def step(self, request: StepRequest) -> dict[str, Any]:
        """Do what is asked, unless it was done before.  Returns the facts."""
        state, shard, batch = request.state, request.shard, request.batch
        done = facts_of_step(state, shard, batch)
        if done is not None:
            return done
        begin = time.perf_counter()
        hosted, freshness = self._as_of_before(request)
        self._snapshot_if_due(hosted, request)
        opened = time.perf_counter()
        self._shard = None  # until the step is done
        output = HostedOutput(ToldColumns(request.schema))
        rows = HostedRows.of_parts(request.messages, request.others).after(request.resettled)
        rows = hosted.needed(rows, output)
        if len(rows):
            rows.write(state.changes(shard, batch), follows=request.files.last)
            logged = time.perf_counter()
            self._apply(hosted, batch, rows, output)
        else:
            logged = opened
        applied = time.perf_counter()
        told = output.told.tables()
        rejects = self._write_rejects(output, request)
        results = _write_results(hosted, output, request) if request.keeps_results else 0
        if output.parts:
            table = output.parts.table(request.schema)
            write_parquet(state.parts(shard, batch), [table], {})
        facts = {
            "rows": len(rows),
            "copies": output.copies,
            "parts": len(output.parts),
            "notifications": sum(map(len, told)),
            "rejects": rejects,
            "results": results,
            "freshness": freshness,
            "subscriptions": len(hosted),
            **expiry_of(hosted),
            "milliseconds": {
                "open": _milliseconds(opened - begin),
                "log": _milliseconds(logged - opened),
                "apply": _milliseconds(applied - logged),
                "write": _milliseconds(time.perf_counter() - applied),
            },
        }
        write_parquet(state.notifications(shard, batch), told, facts)
        self._shard = hosted
        return facts | self._about_snapshot()

    def parts(self, request: StepRequest, ids: list[Id]) -> bytes:
        """What the shard has of these lists before the batch of the request; see `of_bytes`."""
        hosted, _ = self._as_of_before(request)
        assert isinstance(hosted, ListShard)
        found = hosted.parts(ids)
        self._shard = hosted
        return found.to_bytes(request.schema.field("message_id").type)

    def _as_of_before(self, request: StepRequest) -> tuple[HostedShard, str]:
        """The shard as it was before the batch, and how it was come by."""
        files, owner = request.files, (request.state.run, request.shard)
        is_usable = self._owner == owner and files.snapshot_batch <= self._applied < request.batch
        shard, self._shard = self._shard, None
        freshness = Freshness.HOT
        if shard is None or not is_usable:
            freshness = Freshness.RESTORED
            shard = open_shard(files.snapshot, request.settings, request.shard)
            self._owner, self._applied = owner, files.snapshot_batch
            self._rows, self._seconds = 0, 0.0
        for number, rows in logged_rows(request.state, request.shard, files, self._applied):
            self._apply(shard, number, rows, HostedOutput(NothingTold(request.schema)))
            if freshness == Freshness.HOT:
                freshness = Freshness.CAUGHT_UP
        return shard, freshness

    def _apply(
        self, shard: HostedShard, batch: int, rows: HostedRows, output: HostedOutput
    ) -> None:
        begin = time.process_time()
        shard.apply(rows, output)
        self._seconds += time.process_time() - begin
        self._applied, self._rows = batch, self._rows + len(rows)

    def _snapshot_if_due(self, shard: HostedShard, request: StepRequest) -> None:
        """Of the batches before, which Spark has committed by now."""
        self.newest_snapshot()
        is_due = (
            self._rows >= request.snapshot_after
            or self._seconds >= SECONDS_A_SNAPSHOT + SECONDS_A_SUBSCRIPTION * len(shard)
            or len(request.files.changes) >= MOST_CHANGE_FILES
        )
        if is_due and self._applied > request.files.snapshot_batch and not self._saver.is_busy:
            path = request.state.new_snapshot(request.shard, self._applied)
            self._saver.start(shard, SavedShard(path, self._applied, self._rows, self._seconds))

    def newest_snapshot(self, *, wait: bool = False) -> SavedShard | None:
        """The last one that was made; one that is being made counts only if it is waited for."""
        if saved := self._saver.finished(wait=wait):
            self._saved = saved
            self._rows -= saved.rows
            self._seconds -= saved.seconds
        return self._saved

    def _about_snapshot(self) -> dict[str, Any]:
        """Most are there by the end of the step that began them."""
        saved = self.newest_snapshot()
        return {
            "snapshot": [str(saved.path), saved.batch] if saved else None,
            "problem": self._saver.problem,
        }

    def _write_rejects(self, output: HostedOutput, request: StepRequest) -> int:
        tables = []
        if output.rejects:
            rows = [
                {
                    "side": "message" if row["kind"] == "message" else "subscription",
                    "id": str(row["id"]),
                    "reason": reason,
                    "row": as_json({k: v for k, v in row.items() if not k.startswith("_")}),
                }
                for row, reason in output.rejects
            ]
            table = pa.Table.from_pylist(rows, REJECTS)
            tables.append(with_votes(table, [0] * len(rows), 1))
        if output.unknown:
            ids, positions = zip(*output.unknown, strict=True)
            tables.append(unknown_ids(ids, positions, request.votes))
        if tables:
            path = request.state.rejects(request.shard, request.batch)
            write_parquet(path, [pa.concat_tables(tables)], {})
        return sum(map(len, tables))


RESULTS = pa.schema(
    [("subscription_id", pa.string()), ("kind", pa.string()), ("items", pa.large_string())]
)
"""Results as they are now, JSON; null where they have ended."""


def facts_of_step(state: StateFolder, shard: int, batch: int) -> dict[str, Any] | None:
    """What a step did; None where it is not done, or what it gave is damaged."""
    facts = read_facts(state.notifications(shard, batch))
    if facts is None:
        return None
    others = {"parts": state.parts, "rejects": state.rejects, "results": state.results}
    for name, path in others.items():
        # A step that an earlier release did may not say all of them.
        if facts.get(name) and read_facts(path(shard, batch)) is None:
            return None
    return facts


def expiry_of(shard: HostedShard) -> dict[str, float | None]:
    """When time has to be told to the shard, fit for JSON."""
    return {"next_expiry": shard.next_expiry if isfinite(shard.next_expiry) else None}


def _write_results(shard: HostedShard, output: HostedOutput, request: StepRequest) -> int:
    rows = []
    for id, result in shard.changed_results(output):
        kind, items = (result.kind, json.dumps(result.items)) if result else (None, None)
        rows.append({"subscription_id": str(id), "kind": kind, "items": items})
    if rows:
        path = request.state.results(request.shard, request.batch)
        write_parquet(path, [pa.Table.from_pylist(rows, RESULTS)], {})
    return len(rows)


def _milliseconds(seconds: float) -> float:
    return round(1000 * seconds, 1)
