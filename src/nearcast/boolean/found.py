"""What messages reach, as matching finds it: a few messages at a time, in an order of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.batches._ragged_kernels import put_rows

CHUNK = 1024  # messages
LEAST_ROOM = 1024  # slots

Slots = tuple[NDArray[np.int32], NDArray[np.int64], int]
"""Slots found, where each message's slots end among them, and how many candidates there were."""


class Found(NamedTuple):
    """The slots that some messages reach.

    rows        int64[n]   the messages
    slots       int32[F]   of the subscriptions, message after message
    end         int64[n]   where the slots of each message end
    candidates  how many were looked at
    """

    rows: NDArray[np.int64]
    slots: NDArray[np.int32]
    end: NDArray[np.int64]
    candidates: int


def in_chunks(match: Callable[[int, int, int], Slots], first: int, last: int) -> list[Found]:
    """Match a few messages at a time: what one step leaves for the next stays near.

    `match` is told for how many slots to have room at first, which is a guess.
    """
    found, room = [], LEAST_ROOM
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        found.append(Found(np.arange(begin, end), *match(begin, end, room)))
        room = max(LEAST_ROOM, len(found[-1].slots) * 9 // 8)
    return found


def starts_of(found: Sequence[Found], messages: int) -> NDArray[np.int64]:
    """Where the slots of each of so many messages begin when they lie in the messages' order."""
    start = np.zeros(messages + 1, np.int64)
    for part in found:
        start[part.rows + 1] = np.diff(part.end, prepend=0)
    np.cumsum(start, out=start)
    return start


def slots_in_order(found: Sequence[Found], start: NDArray[np.int64]) -> NDArray[np.int32]:
    """All slots, in the messages' order; `start` is that of `starts_of`."""
    slots = np.empty(int(start[-1]), np.int32)
    for part in found:
        put_rows(part.slots, part.end, start[part.rows], slots)
    return slots
