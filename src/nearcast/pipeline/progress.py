"""What a stream has done, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nearcast.pipeline.hot_copies import Freshness


@dataclass(frozen=True, slots=True)
class Progress:
    """One batch.

    - `rows`: read, of all kinds; `changes`: of subscriptions; `messages`: the others, bad rows
      included
    - `copies`: messages that shards got whole, counted once for each of them: the communication
    - `notifications`, `rejects`: given to the sink
    - `hot`, `caught_up`, `restored`: how many shards found their copy ready, needed a few changes
      that another worker had applied, or came from a snapshot
    - `keepers_hot`, `keepers_caught_up`, `keepers_restored`: the same of the keepers of results
    - `waiting`: changes that are not in a snapshot yet, the most of any shard
    - `milliseconds`: of the batch, and `steps` its slowest shard's parts
    - `problem`: what goes wrong without stopping the stream, such as a snapshot that failed
    """

    batch: int
    rows: int
    changes: int
    messages: int
    copies: int
    notifications: int
    rejects: int
    hot: int
    caught_up: int
    restored: int
    keepers_hot: int
    keepers_caught_up: int
    keepers_restored: int
    waiting: int
    milliseconds: float
    steps: Mapping[str, float]
    problem: str | None = None

    def to_json(self) -> str:
        """For machines."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        words = (
            f"batch {self.batch}: {self.messages:,} messages and {self.changes:,} changes gave "
            f"{self.notifications:,} notifications and {self.rejects:,} rejects in "
            f"{self.milliseconds:,.0f} ms"
        )
        return f"{words}; {self.problem}" if self.problem else words


@dataclass(frozen=True, slots=True)
class Summary:
    """All batches since the stream was started here.

    - `hit_rate`: of the steps, the share that found its shard open in the worker
    - `keeper_hit_rate`: the share that found the keeper of its results ready
    - `lag`: how far the source is ahead, in its own unit (rows, for the log); None: it does not say
    """

    batches: int
    rows: int
    changes: int
    notifications: int
    rejects: int
    hit_rate: float
    lag: int | None
    snapshots: int
    problem: str | None
    keeper_hit_rate: float = 1.0

    def to_json(self) -> str:
        """For machines."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        lag = "unknown" if self.lag is None else f"{self.lag:,}"
        return (
            f"{self.batches:,} batches: {self.rows:,} rows in, {self.notifications:,} notifications"
            f" and {self.rejects:,} rejects out; lag {lag}, hot copies {self.hit_rate:.1%}"
        )


def progress_of(
    batch: int,
    rows: int,
    changes: int,
    rejects: int,
    milliseconds: float,
    steps: Sequence[Mapping[str, Any]],
    problem: str | None,
    merged: int = 0,
) -> Progress:
    """Put together what the shards said of a batch; `merged` is what several told together."""

    keepers = [step["hosted"] for step in steps if "hosted" in step]

    def count(freshness: str, among: Sequence[Mapping[str, Any]] = steps) -> int:
        return sum(step["freshness"] == freshness for step in among)

    slowest = max(steps, key=lambda step: sum(step["milliseconds"].values()), default=None)
    return Progress(
        batch=batch,
        rows=rows,
        changes=changes,
        messages=rows - changes,
        copies=sum(_copies(step) for step in steps),
        notifications=merged + sum(step["notifications"] for step in [*steps, *keepers]),
        rejects=rejects,
        hot=count(Freshness.HOT),
        caught_up=count(Freshness.CAUGHT_UP),
        restored=count(Freshness.RESTORED),
        keepers_hot=count(Freshness.HOT, keepers),
        keepers_caught_up=count(Freshness.CAUGHT_UP, keepers),
        keepers_restored=count(Freshness.RESTORED, keepers),
        waiting=max((step["waiting"] for step in steps), default=0),
        milliseconds=milliseconds,
        steps=slowest["milliseconds"] if slowest else {},
        problem=problem,
    )


def _copies(step: Mapping[str, Any]) -> int:
    """How many messages came to a shard; its keeper hears of those that its index has too."""
    # A step that an earlier release did before the stream stopped does not say.
    found: int = step["hosted"].get("copies", 0) if "hosted" in step else step["visits"]
    return found


def lag_of(spark_progress: Mapping[str, Any] | None) -> int | None:
    """How far the sources are ahead of what was read, in their own units; None: they do not say.

    >>> source = {"endOffset": '{"offset": 7}', "latestOffset": '{"offset": 9}'}
    >>> lag_of({"sources": [source]})
    2
    """
    if not spark_progress:
        return None
    lag = 0
    for source in spark_progress["sources"]:
        ends = _numbers(source.get("endOffset")), _numbers(source.get("latestOffset"))
        if ends[0].keys() != ends[1].keys() or not ends[0]:
            return None
        lag += sum(ends[1][key] - ends[0][key] for key in ends[0])
    return max(0, lag)


def _numbers(offset: Any, path: str = "") -> dict[str, int]:
    """The numbers in an offset, however deep, by where they are."""
    if isinstance(offset, str):
        try:
            offset = json.loads(offset)
        except ValueError:
            return {}
    if isinstance(offset, int):
        return {path: offset}
    if not isinstance(offset, Mapping):
        return {}
    found: dict[str, int] = {}
    for key, value in offset.items():
        found |= _numbers(value, f"{path}/{key}")
    return found
