"""Many short queues of numbers in one pool.

head    int64[n, 5]  of a run: where its block begins, the logarithm of the block's size (-1: it has
                     none), where in the block the oldest number is, how many there are, what they
                     weigh together. START of a vacant run is the next vacant one
pool    int64[m]     blocks of 2**log numbers, each a ring; a free one begins with the next free one
vacant  int64[48]    the first free block of each size, -1 where there is none
ends    int64[3]     runs that were ever used, the first vacant run or -1, what is used of the pool

A block begins at a multiple of its size. A run moves to a block of twice the size when it is full,
and of half when three quarters of it are empty, so that the pool is never much larger than what is
in it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf

START, LOG, FIRST, COUNT, MASS = 0, 1, 2, 3, 4
USED, VACANT, POOL = 0, 1, 2
NONE = -1
HIGH = 32
"""Numbers that are found again have what they are found by in the upper bits."""


class Runs(NamedTuple):
    """The arrays drawn above."""

    head: NDArray[np.int64]
    pool: NDArray[np.int64]
    vacant: NDArray[np.int64]
    ends: NDArray[np.int64]


def no_runs() -> Runs:
    """None yet."""
    return Runs(
        np.zeros((64, 5), np.int64),
        np.zeros(256, np.int64),
        np.full(48, NONE, np.int64),
        np.array([0, NONE, 0], np.int64),
    )


@inner
def with_room(runs, more_runs, more_pool):
    """The runs with room for so many more of both.  Amortised O(1) each."""
    head, pool = runs.head, runs.pool
    if runs.ends[USED] + more_runs > len(head):
        head = np.zeros((runs.ends[USED] + more_runs + len(head) // 2, 5), np.int64)
        head[: len(runs.head)] = runs.head
    if runs.ends[POOL] + more_pool > len(pool):
        pool = np.zeros(runs.ends[POOL] + more_pool + len(pool) // 2, np.int64)
        pool[: len(runs.pool)] = runs.pool
    return Runs(head, pool, runs.vacant, runs.ends)


@inner
def new_run(runs):
    """The runs with an empty one more, and its number.  Amortised O(1)."""
    number = runs.ends[VACANT]
    if number != NONE:
        runs.ends[VACANT] = runs.head[number, START]
    else:
        runs = with_room(runs, np.int64(1), np.int64(0))
        number = runs.ends[USED]
        runs.ends[USED] += 1
    runs.head[number, LOG] = NONE
    runs.head[number, FIRST] = 0
    runs.head[number, COUNT] = 0
    runs.head[number, MASS] = 0
    return runs, number


@inner
def drop_run(runs, number):
    """The run is vacant from now on."""
    head = runs.head[number]
    if head[LOG] != NONE:
        _give_block(runs, head[START], head[LOG])
    head[START] = runs.ends[VACANT]
    head[COUNT] = 0
    runs.ends[VACANT] = number


@leaf
def number_at(runs, number, place):
    """The number at a place of a run, the oldest at 0."""
    mask = (np.int64(1) << runs.head[number, LOG]) - 1
    return runs.pool[runs.head[number, START] + ((runs.head[number, FIRST] + place) & mask)]


@inner
def append(runs, number, value):
    """The runs with one number more in one of them, as its newest.  Amortised O(1)."""
    head = runs.head[number]
    if head[LOG] == NONE or head[COUNT] == np.int64(1) << head[LOG]:
        runs = _moved(runs, number, head[LOG] + 1)
        head = runs.head[number]
    place = (head[FIRST] + head[COUNT]) & ((np.int64(1) << head[LOG]) - 1)
    runs.pool[head[START] + place] = value
    head[COUNT] += 1
    return runs


@inner
def take_out(runs, number, wanted):
    """Take out the oldest number whose upper bits are `wanted`, which is there.

    O(older ones): the oldest is what leaves first, unless it came late.
    """
    head = runs.head[number]
    mask = (np.int64(1) << head[LOG]) - 1
    start, first = head[START], head[FIRST]
    place = np.int64(0)
    while runs.pool[start + ((first + place) & mask)] >> HIGH != wanted:
        place += 1
    while place > 0:
        before = runs.pool[start + ((first + place - 1) & mask)]
        runs.pool[start + ((first + place) & mask)] = before
        place -= 1
    head[FIRST] = (first + 1) & mask
    head[COUNT] -= 1
    if head[LOG] > 2 and head[COUNT] << 2 <= np.int64(1) << head[LOG]:
        runs = _moved(runs, number, head[LOG] - 1)
    return runs


@inner
def swap_out(runs, number, value):
    """Take out a number, which is there, of a run whose order does not matter.  O(run)."""
    head = runs.head[number]
    place = head[START]
    while runs.pool[place] != value:
        place += 1
    head[COUNT] -= 1
    runs.pool[place] = runs.pool[head[START] + head[COUNT]]


@inner
def _moved(runs, number, log):
    """The runs with one of them in a block of another size."""
    size = np.int64(1) << log
    runs = with_room(runs, np.int64(0), 2 * size)
    head = runs.head[number]
    start = _take_block(runs, log)
    for place in range(head[COUNT]):
        runs.pool[start + place] = number_at(runs, number, place)
    if head[LOG] != NONE:
        _give_block(runs, head[START], head[LOG])
    head[START] = start
    head[LOG] = log
    head[FIRST] = 0
    return runs


@inner
def _take_block(runs, log):
    start = runs.vacant[log]
    if start != NONE:
        runs.vacant[log] = runs.pool[start]
        return start
    size = np.int64(1) << log
    start = (runs.ends[POOL] + size - 1) & -size
    runs.ends[POOL] = start + size
    return start


@inner
def _give_block(runs, start, log):
    runs.pool[start] = runs.vacant[log]
    runs.vacant[log] = start
