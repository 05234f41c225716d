"""From a cell, or a cell and a term, to the number of a run.

key   int64[n, 2]  see `cell_key`
run   int32[n]     -1 where the place is free
ends  int64[1]     how many keys there are

Open addressing with linear probing; what follows a key that is taken out moves up.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf

NONE = -1
_TERM_LOW, _TERM_SHIFT, _CELL_SHIFT = 0x3FFFFF, 10, 22


class Table(NamedTuple):
    """The arrays drawn above."""

    key: NDArray[np.int64]
    run: NDArray[np.int32]
    ends: NDArray[np.int64]


def no_keys() -> Table:
    """None yet."""
    return Table(np.zeros((64, 2), np.int64), np.full(64, NONE, np.int32), np.zeros(1, np.int64))


@leaf
def cell_key(x, y, level, term):
    """Two numbers for a column and a row of cells, 42 bits, a level, 10, and a term, 32."""
    return (
        (x << _CELL_SHIFT) | (term & _TERM_LOW),
        (y << _CELL_SHIFT) | ((term >> _CELL_SHIFT) << _TERM_SHIFT) | level,
    )


@leaf
def _place_of(table, one, other):
    """Where the key is, or where it would be."""
    mixed = np.uint64(one) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (mixed >> np.uint64(32)) ^ (np.uint64(other) * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mask = len(table.run) - 1
    place = np.int64(mixed >> np.uint64(24)) & mask
    while table.run[place] != NONE and (table.key[place, 0] != one or table.key[place, 1] != other):
        place = (place + 1) & mask
    return place


@leaf
def run_of(table, one, other):
    """The run of a key, -1 where there is none.  O(1) expected."""
    return np.int64(table.run[_place_of(table, one, other)])


@inner
def put(table, one, other, run):
    """The table with one key more, which is new.  Amortised O(1) expected."""
    if 5 * (table.ends[0] + 1) > 3 * len(table.run):
        larger = Table(
            np.zeros((2 * len(table.run), 2), np.int64),
            np.full(2 * len(table.run), NONE, np.int32),
            table.ends,
        )
        for old in range(len(table.run)):
            if table.run[old] != NONE:
                place = _place_of(larger, table.key[old, 0], table.key[old, 1])
                larger.key[place] = table.key[old]
                larger.run[place] = table.run[old]
        table = larger
    place = _place_of(table, one, other)
    table.key[place, 0] = one
    table.key[place, 1] = other
    table.run[place] = run
    table.ends[0] += 1
    return table


@inner
def drop(table, one, other):
    """Take a key out, which is there.  O(1) expected."""
    mask = len(table.run) - 1
    hole = _place_of(table, one, other)
    table.run[hole] = NONE
    table.ends[0] -= 1
    place = (hole + 1) & mask
    while table.run[place] != NONE:
        run = table.run[place]
        table.run[place] = NONE
        better = _place_of(table, table.key[place, 0], table.key[place, 1])
        table.key[better, 0] = table.key[place, 0]
        table.key[better, 1] = table.key[place, 1]
        table.run[better] = run
        place = (place + 1) & mask
