"""The documents that count.

place   float64[n, 2]  lon, lat of a document at a point
moment  float64[n]     its time in half-lives
weight  int64[n]       and epoch int64[n]: see `decay`
run     int32[n, 2]    its terms, as `term << 32 | times`; its rectangles, four numbers each, where
                       it is not at one point, else -1
queue   int32[n]       a heap of those that count, the earliest first
vacant  int32[n]       a stack of vacant numbers
ends    int64[3]       numbers that were ever used, vacant ones, how many count

A document keeps its number; a vacant number is used again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.trending._regions.runs import (
    HIGH,
    NONE,
    START,
    Runs,
    append,
    drop_run,
    new_run,
    no_runs,
)
from nearcast.trending._regions.table import Table, no_keys

TERMS, RECTS = 0, 1
USED, VACANT, LIVE = 0, 1, 2


class Documents(NamedTuple):
    """The arrays drawn above."""

    place: NDArray[np.float64]
    moment: NDArray[np.float64]
    weight: NDArray[np.int64]
    epoch: NDArray[np.int64]
    run: NDArray[np.int32]
    queue: NDArray[np.int32]
    vacant: NDArray[np.int32]
    ends: NDArray[np.int64]


class Archive(NamedTuple):
    """Documents, and runs of them: their terms, and by cell and term who has said it there."""

    documents: Documents
    runs: Runs
    table: Table


def no_documents() -> Archive:
    """None yet."""
    size = 64
    return Archive(
        Documents(
            np.zeros((size, 2)),
            np.zeros(size),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros((size, 2), np.int32),
            np.zeros(size, np.int32),
            np.zeros(size, np.int32),
            np.zeros(3, np.int64),
        ),
        no_runs(),
        no_keys(),
    )


@inner
def _with_room(documents):
    """The documents with room for one more."""
    old = len(documents.moment)
    if documents.ends[VACANT] > 0 or documents.ends[USED] < old:
        return documents
    size = old + old // 2
    place, run = np.zeros((size, 2)), np.zeros((size, 2), np.int32)
    moment, weight, epoch = np.zeros(size), np.zeros(size, np.int64), np.zeros(size, np.int64)
    queue, vacant = np.zeros(size, np.int32), np.zeros(size, np.int32)
    place[:old] = documents.place
    run[:old] = documents.run
    moment[:old] = documents.moment
    weight[:old] = documents.weight
    epoch[:old] = documents.epoch
    queue[:old] = documents.queue
    return Documents(place, moment, weight, epoch, run, queue, vacant, documents.ends)


@inner
def add_document(archive, columns, row):
    """The archive with one document more, and its number.  Amortised O(its terms + log all)."""
    documents, runs = _with_room(archive.documents), archive.runs
    if documents.ends[VACANT] > 0:
        documents.ends[VACANT] -= 1
        number = np.int64(documents.vacant[documents.ends[VACANT]])
    else:
        number = documents.ends[USED]
        documents.ends[USED] += 1
    moment = columns.moment[row]
    documents.moment[number] = moment
    documents.weight[number] = columns.weight[row]
    documents.epoch[number] = np.int64(np.floor(moment))
    runs, own = new_run(runs)
    documents.run[number, TERMS] = own
    for i in range(columns.term_start[row], columns.term_start[row + 1]):
        runs = append(runs, own, np.int64(columns.term[i]) << HIGH | np.int64(columns.times[i]))
    first, last = columns.rect_start[row], columns.rect_start[row + 1]
    west, south = columns.rects[first, 0], columns.rects[first, 1]
    documents.place[number, 0] = west
    documents.place[number, 1] = south
    documents.run[number, RECTS] = NONE
    if last - first > 1 or west != columns.rects[first, 2] or south != columns.rects[first, 3]:
        runs, own = new_run(runs)
        documents.run[number, RECTS] = own
        for _ in range(4 * (last - first)):
            runs = append(runs, own, np.int64(0))
        corners = runs.pool.view(np.float64)
        for i in range(last - first):
            for j in range(4):
                corners[runs.head[own, START] + 4 * i + j] = columns.rects[first + i, j]
    _enqueue(documents, number)
    return Archive(documents, runs, archive.table), number


@inner
def drop_document(archive, number):
    """Forget the document that `earliest` has told, once it is in no run."""
    documents, runs = archive.documents, archive.runs
    _dequeue(documents)
    drop_run(runs, np.int64(documents.run[number, TERMS]))
    if documents.run[number, RECTS] != NONE:
        drop_run(runs, np.int64(documents.run[number, RECTS]))
    documents.vacant[documents.ends[VACANT]] = number
    documents.ends[VACANT] += 1


@leaf
def earliest(documents):
    """The number of the earliest document, -1 where there is none."""
    if documents.ends[LIVE] == 0:
        return np.int64(NONE)
    return np.int64(documents.queue[0])


@leaf
def _enqueue(documents, number):
    queue, moment = documents.queue, documents.moment
    place = documents.ends[LIVE]
    documents.ends[LIVE] += 1
    while place > 0 and moment[queue[(place - 1) >> 1]] > moment[number]:
        queue[place] = queue[(place - 1) >> 1]
        place = (place - 1) >> 1
    queue[place] = number


@leaf
def _dequeue(documents):
    queue, moment = documents.queue, documents.moment
    documents.ends[LIVE] -= 1
    size = documents.ends[LIVE]
    last = queue[size]
    place, child = np.int64(0), np.int64(1)
    while child < size:
        if child + 1 < size and moment[queue[child + 1]] < moment[queue[child]]:
            child += 1
        if moment[queue[child]] >= moment[last]:
            break
        queue[place] = queue[child]
        place = child
        child = 2 * place + 1
    queue[place] = last
