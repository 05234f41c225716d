"""Clauses as arrays, shared by every flat index of the room.

slot       int32[E]     the subscription an entry belongs to, -1 when the entry is free
start      int32[E]     where its words begin in `terms`
required   uint16[E]    how many required words, ascending by rank
forbidden  uint16[E]    how many forbidden words follow them
terms      int32[T]     keyword ranks

An *entry* is one clause of a subscription's expression over one rectangle of its region's cover:
what an index places. Nearly every subscription has exactly one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Clauses(NamedTuple):
    """The arrays; see the module docstring."""

    slot: NDArray[np.int32]
    start: NDArray[np.int32]
    required: NDArray[np.uint16]
    forbidden: NDArray[np.uint16]
    terms: NDArray[np.int32]
