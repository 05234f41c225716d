"""What is measured of a kind of subscription in a stream."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from benchmarks.pipeline.tables import message_table
from nearcast.batches import MessageBatch
from nearcast.model import Region
from nearcast.pipeline.log.rows import move_rows
from nearcast.pipeline.log.schema import log_rows, log_schema

LOG = log_schema("int64").remove(0)
TOGETHER = 20_000
"""Rows that are loaded in a batch."""


@dataclass(frozen=True)
class Step:
    """A batch of the stream: messages, then who moves where."""

    messages: MessageBatch
    moves: Sequence[tuple[int, Region]] = ()

    def __len__(self) -> int:
        """Rows."""
        return len(self.messages) + len(self.moves)

    def rows(self) -> pa.Table:
        """As the log has them."""
        moved = move_rows(((*each, False) for each in self.moves), LOG)
        return pa.concat_tables([said(self.messages), moved])


class OneProcess(ABC):
    """The index or the broker that takes the same rows without Spark, on two threads if it can."""

    @abstractmethod
    def take(self, step: Step) -> Any:
        """Answer a batch; this is what is timed."""

    @abstractmethod
    def told(self, step: Step, first: int, answer: Any) -> pa.Table:
        """What a stream tells of the same, whose rows have the offsets from `first` on."""


class StreamedKind(ABC):
    """Subscriptions of a kind, what was said before they came, and what is said then.

    - `index`: what it is compared with, in one process
    - `messages`: of a batch
    - `max_error`: scores may be off by this share, and lists differ where scores do not tell
    """

    name: str
    index: str
    data = "synthetic"
    subscriptions: int
    messages: int
    has_results = True
    max_error = 0.0

    @abstractmethod
    def options(self, distribution: str, shards: int) -> dict[str, Any]:
        """Of `stream`, for so many shards."""

    @abstractmethod
    def rows(self) -> Iterator[pa.Table]:
        """What the log has before the first batch."""

    @abstractmethod
    def one_process(self) -> OneProcess:
        """With the same behind it."""

    @abstractmethod
    def step(self, number: int) -> Step:
        """A batch; numbers are asked for in their order."""

    @property
    @abstractmethod
    def description(self) -> dict[str, Any]:
        """How subscriptions and messages are drawn."""


def said(messages: MessageBatch) -> pa.Table:
    """Messages as the log has them."""
    expires = pa.array(messages.expires, from_pandas=True)  # NaN is null: it has no end
    table = message_table(messages).append_column("expires", expires)
    return log_rows(table.append_column("kind", pa.repeat("message", len(table))), LOG)
