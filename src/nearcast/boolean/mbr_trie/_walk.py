"""Which nodes of the trie may a message reach (Algorithm 1)?  The arrays are drawn in `_layout`.

queue       int64[Q]   nodes to visit, then those that were visited
queue_from  int64[Q]   and the position among the message's words to go on from
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EAST, NORTH, SOUTH, WEST, run_reference
from nearcast.boolean._verify import grown, rounded_down, rounded_up
from nearcast.boolean.mbr_trie._layout import (
    COUNT,
    FIRST,
    RUN_COUNT,
    RUN_START,
    find_child,
    lower_bound,
)
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row

PROBE_TOKEN_SET, PROBE_TRIE, COST_BASED = 0, 1, 2


@njit(cache=True, nogil=True, inline="always")
def looks_words_up(probing, children, words):
    """Shall words be looked up among children, rather than children among words?

    SELECTPAIR compares words * log(children) with children * log(words). As n / (1 + log n) grows
    with n, that is to say: look the fewer up among the more.
    """
    if probing == COST_BASED:
        return words < children
    return probing == PROBE_TRIE


@inner
def select(trie, node, have, begin, end, probing, queue, queue_from, queued):
    """Queue the children of a node whose word is in have[begin:end]: (queue, queue_from, queued).

    SELECTPAIR, but boxes are looked at when a child is visited: by then they are near.
    """
    keys, rows = trie.keys, trie.rows
    first, count = rows[node, FIRST], rows[node, COUNT]
    words = end - begin
    if count == 0 or words == 0:
        return queue, queue_from, queued
    if queued + min(count, words) > len(queue):
        queue = grown(queue, queued + min(count, words))
        queue_from = grown(queue_from, len(queue))
    last = first + count
    if looks_words_up(probing, count, words):
        child = first
        for i in range(begin, end):
            child = find_child(keys, child, last, have[i])
            if child == last:
                break
            if keys[child] == have[i]:
                prefetch_row(rows, child)
                queue[queued] = child
                queue_from[queued] = i + 1
                queued += 1
                child += 1
                if child == last:
                    break
    else:
        i = begin
        for child in range(first, last):
            i = lower_bound(have, i, end, keys[child])
            if i == end:
                break
            if have[i] == keys[child]:
                prefetch_row(rows, child)
                queue[queued] = child
                queue_from[queued] = i + 1
                queued += 1
    return queue, queue_from, queued


@njit(cache=True, nogil=True)
def visit(trie, have, begin, end, probing, least_x, least_y, most_x, most_y, queue, queue_from):
    """Leave the nodes a message reaches at the front of `queue`: (queue, queue_from, how many).

    Breadth first, so that a node's row is on its way while others are looked at.
    """
    boxes = trie.rows.view(np.float32)
    queue[0], queue_from[0] = 0, begin
    queued, at, visited = 1, 0, 0
    while at < queued:
        node, position = queue[at], queue_from[at]
        at += 1
        if not (
            (boxes[node, WEST] <= most_x)
            & (boxes[node, SOUTH] <= most_y)
            & (boxes[node, EAST] >= least_x)
            & (boxes[node, NORTH] >= least_y)
        ):
            continue
        queue[visited] = node
        visited += 1
        queue, queue_from, queued = select(
            trie, node, have, position, end, probing, queue, queue_from, queued
        )
    return queue, queue_from, visited


@inner
def append_runs(trie, nodes, runs, total):
    """Add the runs of visited nodes: (runs, total)."""
    if total + len(nodes) > len(runs):
        runs = grown(runs, total + len(nodes))
    for node in nodes:
        count = trie.rows[node, RUN_COUNT]
        if count:
            runs[total] = run_reference(np.int64(trie.rows[node, RUN_START]), np.int64(count))
            total += 1
    return runs, total


@njit(cache=True, nogil=True)
def walk(trie, probing, have, have_start, rects, rect_start, first, last):
    """The lists for each rectangle of the messages first:last: (runs, run_end)."""
    queue = np.empty(1024, np.int64)
    queue_from = np.empty(1024, np.int64)
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        for rect in range(rect_start[message], rect_start[message + 1]):
            queue, queue_from, visited = visit(
                trie, have, begin, end, probing,
                rounded_down(rects[rect, 0]), rounded_down(rects[rect, 1]),
                rounded_up(rects[rect, 2]), rounded_up(rects[rect, 3]),
                queue, queue_from,
            )  # fmt: skip
            runs, total = append_runs(trie, queue[:visited], runs, total)
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
