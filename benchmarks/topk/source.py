"""Messages in the order of a stream, of which any part can be taken."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import LOADERS, SPACES, STAND_INS, tweets
from nearcast.batches import MessageBatch
from nearcast.datasets import DataAbsentError, Tweets, bounds_of
from nearcast.model import Box, Space


@dataclass(frozen=True)
class Source:
    """`length` messages; `name` says where a stand-in was used."""

    name: str
    messages: Tweets | MessageBatch
    length: int
    bounds: Box

    @property
    def space(self) -> Space:
        return self.bounds.space

    def take(self, first: int, last: int) -> MessageBatch:
        """Messages first:last of the stream."""
        return self.rows(np.arange(first, last))

    def rows(self, rows: NDArray[np.int64]) -> MessageBatch:
        """These messages of the stream."""
        return self.messages.take(rows)


def source_of(data: str, needed: int) -> Source:
    """The data set of this name, or what stands in for it where it is not on this machine."""
    if data == "synthetic":
        return Source(data, tweets(), needed, tweets().bounds)
    try:
        messages = LOADERS[data]()
    except DataAbsentError:
        stand_in = STAND_INS[data]
        return Source(f"synthetic instead of {data}", stand_in, needed, stand_in.bounds)
    if messages.time.any():
        order = np.argsort(messages.time, kind="stable")
    else:  # a catalogue is in the order of places
        order = np.random.default_rng(0).permutation(len(messages))
    if len(messages) < needed:
        raise ValueError(
            f"{data} has {len(messages):,} messages, and {needed:,} are needed; "
            "give fewer --subscriptions, of which the window has as many messages"
        )
    return Source(
        data, messages.take(order), len(messages), SPACES.get(data) or bounds_of(messages)
    )
