"""`HostedFiles`: what the driver knows of the results in the shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from nearcast.pipeline.durable_parquet import read_facts
from nearcast.pipeline.state import ShardFiles, StateFolder

AT_ONCE = 0.0
"""The file that said when is damaged, and its batch is over: time is told, and the step says it."""


class HostedFiles:
    """The files that keepers restore their shards from, and when time has to be told.

    - `problem`: why the last snapshot of some shard failed, None where none did
    """

    def __init__(self, state: StateFolder, shards: int) -> None:
        self.problem: str | None = None
        self._state = state
        self._files = {shard: state.files(shard) for shard in range(shards)}
        self._superseded: list[int] = []
        # The last output of each shard stays: it says when time has to be told, after a start too.
        self._outputs = {shard: state.batches_with_output(shard) for shard in self._files}
        self._expiries = dict.fromkeys(self._files, inf)
        for shard, batches in self._outputs.items():
            if batches:
                facts = read_facts(state.notifications(shard, batches[-1]))
                self._note_expiry(shard, facts or {"next_expiry": AT_ONCE})

    @property
    def next_expiry(self) -> float:
        """When somebody's result changes though no message comes; inf for never."""
        return min(self._expiries.values())

    def begin(self, batch: int) -> Mapping[int, ShardFiles]:
        """What there is of the batches before."""
        self._state.remove_merged(batch - 1)  # which Spark has committed
        # The tasks of the last batch are done, so that nobody opens what was replaced any more.
        for shard in self._superseded:
            self._state.remove_superseded(shard, self._files[shard])
        self._superseded = []
        for shard, files in self._files.items():
            self._files[shard] = files.before(batch)
        return dict(self._files)

    def end(self, batch: int, steps: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """The batch is committed, and these are the facts of its shards."""
        problems = []
        for shard, facts in steps:
            if facts["rows"]:
                self._files[shard] = self._files[shard].followed_by(batch)
            self._note_expiry(shard, facts)
            # Of the batches before, which Spark has committed, nobody needs the output again.
            for old in self._outputs[shard]:
                if old < batch:
                    self._state.remove_outputs(shard, old)
            self._outputs[shard] = [batch]
            if facts.get("problem"):
                problems.append(
                    f"no new snapshot of the results of shard {shard}, the old one "
                    f"stays: {facts['problem']}"
                )
            self._take_over(shard, facts.get("snapshot"))
        self.problem = "; ".join(problems) or None

    def _note_expiry(self, shard: int, facts: Mapping[str, Any]) -> None:
        expiry = facts["next_expiry"]
        self._expiries[shard] = inf if expiry is None else expiry

    def _take_over(self, shard: int, snapshot: list[Any] | None) -> None:
        if snapshot is None:
            return
        path, batch, old = Path(snapshot[0]), snapshot[1], self._files[shard]
        if batch > old.snapshot_batch:
            later = tuple(number for number in old.changes if number > batch)
            self._files[shard] = ShardFiles(path, batch, later)
            self._superseded.append(shard)
