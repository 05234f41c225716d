"""The postings of one word by their cells: for many subscriptions that search the same long ring.

word       int64          the word; -1 where nothing is arranged
cell       uint16[C]      cells that have postings
start      int32[C + 1]   where the postings of each cell begin
heaviest   float32[C]     the largest weight in the cell
weight     uint16[N]      the weights and arrivals of `Rings`, cell by cell
seq        int32[N]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.window import CELLS, HEAD, HELD, ROOM, START, wrapped

LONG = 2048  # postings of a ring that is worth it
SEVERAL = 8  # subscriptions in a row that are worth it


class Arranged(NamedTuple):
    """The arrays of an arrangement; see the module docstring."""

    word: np.int64
    cell: NDArray[np.uint16]
    start: NDArray[np.int32]
    heaviest: NDArray[np.float32]
    weight: NDArray[np.uint16]
    seq: NDArray[np.int32]


@inner
def nothing_arranged():
    """For who searches rings as they are."""
    return Arranged(
        np.int64(-1),
        np.empty(0, np.uint16),
        np.zeros(1, np.int32),
        np.empty(0, np.float32),
        np.empty(0, np.uint16),
        np.empty(0, np.int32),
    )


@inner
def arranged_for(rings, word):
    """The postings of a word by their cells.  O(postings + cells of the grid)."""
    ring = rings.rings[word]
    begin = np.zeros(CELLS * CELLS + 1, np.int32)
    for n in range(ring[HEAD], ring[HEAD] + ring[HELD]):
        begin[rings.cell[ring[START] + wrapped(n, ring[ROOM])] + 1] += 1
    cells = 0
    for c in range(CELLS * CELLS):
        if begin[c + 1] > 0:
            cells += 1
        begin[c + 1] += begin[c]
    cell, start = np.empty(cells, np.uint16), np.empty(cells + 1, np.int32)
    found = 0
    for c in range(CELLS * CELLS):
        if begin[c + 1] > begin[c]:
            cell[found], start[found] = c, begin[c]
            found += 1
    start[cells] = ring[HELD]
    weight, seq = np.empty(ring[HELD], np.uint16), np.empty(ring[HELD], np.int32)
    for n in range(ring[HEAD], ring[HEAD] + ring[HELD]):
        at = ring[START] + wrapped(n, ring[ROOM])
        to = begin[rings.cell[at]]
        begin[rings.cell[at]] += 1
        weight[to], seq[to] = rings.weight[at], rings.seq[at]
    heaviest = np.zeros(cells, np.float32)
    for n in range(cells):
        for at in range(start[n], start[n + 1]):
            heaviest[n] = max(heaviest[n], np.float32(weight[at]) * np.float32(1.0 / 65535.0))
    return Arranged(np.int64(word), cell, start, heaviest, weight, seq)
