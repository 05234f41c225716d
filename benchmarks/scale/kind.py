"""What is measured of each kind of subscription: shards, one after the other on one core."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

PASSES = 3  # that count, after one that does not
_RESTORED = 3  # times


@dataclass(frozen=True)
class Division:
    """How subscriptions and messages are divided among shards.

    - `kept`: the share of all subscriptions that each shard keeps; together the replicas of one
    - `visited`: the share of all messages that each shard gets; together the visits of one
    - `rule`: the partitioning or distribution; None where there is nothing to divide
    - `tells_all`: does every shard hear of all other messages, too, though bare, and of every move?
      So it is where a `ResultDistribution` spreads results
    - `repeated`: does a subscription that has replicas cost the same in each of them, or do a
      subscription and a message that concern each other meet in one shard only?
    """

    distribution: str
    kept: NDArray[np.float64]
    visited: NDArray[np.float64]
    rule: Any = None
    repeated: bool = False
    tells_all: bool = False

    @classmethod
    def whole(cls) -> "Division":
        """One shard that has everything."""
        return cls("hash", np.ones(1), np.ones(1))

    @property
    def shards(self) -> int:
        return len(self.kept)


@dataclass(frozen=True)
class Shard:
    """What one shard was seen to do.

    - `seconds`, `move_seconds`: of a core, for a message of the stream and a move, whether or not
      they came here; of the best pass, since other work on the machine only ever adds
    """

    subscriptions: int
    seconds: float
    bytes: int
    move_seconds: float = 0.0


@dataclass(frozen=True)
class Measured:
    """All shards, and what they told together: matches, or changed lists, of the passes.

    - `told`: because of messages; `told_of_moves`: because somebody moved
    """

    shards: list[Shard]
    told: int
    told_of_moves: int = 0


@dataclass(frozen=True)
class SpreadCosts:
    """What it takes that every shard hears of everything, where results are spread; microseconds.

    - `hear`: to find out who hears a message whole; `hear_each`: more of that for each shard
    - `bare`: to hear of a message that concerns nobody here
    - `elsewhere`: to hear of a move of somebody who is in another shard
    - `again`: how much longer a move of somebody here takes, because its home is looked up
    - `known_bytes`: to know where one subscription is, and what it asks for
    - `bare_bytes`, `move_bytes`: of a message without its words, and of a move, on their way
    """

    hear: float
    hear_each: float
    bare: float
    elsewhere: float
    again: float
    known_bytes: float
    bare_bytes: float
    move_bytes: float


class Kind(ABC):
    """A kind of subscription, with its default index, the ways to divide it, and data."""

    name: str
    index: str
    distributions: tuple[str, ...]
    data: str
    kept_messages: int  # that an index has while it is measured: a window, documents, live ones
    messages: int  # of a pass
    moves = False  # is there a move for each message?
    tells_apart = True  # do shards together tell exactly what one would?

    @abstractmethod
    def plan(self, distribution: str, shards: int, subscriptions: int) -> Division:
        """Divide so many subscriptions, of which those at hand are a sample."""

    @abstractmethod
    def measure(self, subscriptions: int, division: Division) -> Measured:
        """Every shard of the first subscriptions at hand, one after the other."""

    def told_microseconds(self) -> float:
        """What telling one result takes; 0 where that is not told apart from finding it."""
        return 0.0

    def merge_microseconds(self) -> float:
        """What the driver takes to merge a list that has changed; 0 where nothing is merged."""
        return 0.0

    def spread_costs(self, subscriptions: int) -> SpreadCosts | None:
        """With so many subscriptions; None where nothing is spread."""
        return None

    @abstractmethod
    def restore(self, subscriptions: int) -> tuple[int, float]:
        """An index with so many is saved and loaded: its bytes, and seconds."""


def core_seconds(work: Callable[[], object]) -> float:
    """What a piece of work takes of a core, however busy the others keep it."""
    begin = thread_time()
    work()
    return thread_time() - begin


def seconds_to_load(index: Any) -> float:
    """From a file of this index, in the page cache, to an index; the best of several."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shard.near"
        index.save(path)
        taken = []
        for _ in range(_RESTORED):
            begin = perf_counter()
            type(index).load(path)
            taken.append(perf_counter() - begin)
    return min(taken)
