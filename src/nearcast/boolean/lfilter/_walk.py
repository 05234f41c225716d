"""Matching with both structures (Algorithm 3): the cheaper filter, then HYBRIDPRUNE.

frames  int64[S, 4]   trie nodes to visit: node, position among the message's words, and where its
                      parts begin and end; no parts: from here on the trie goes on alone
parts   int64[P, 3]   stretches of the quadtree's lists that hold all entries below a node whose
                      region the message may meet: first record, end, 1 where IDs are not in order
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EAST, NORTH, SOUTH, WEST, run_count, run_reference, run_start
from nearcast.boolean._verify import grown, rounded_down, rounded_up
from nearcast.boolean.lfilter._cost import (
    check_cost,
    expected_lists,
    find_cost,
    quadtree_cost,
    search_cost,
    trie_cost,
)
from nearcast.boolean.mbr_trie._layout import COUNT, RUN_COUNT, RUN_START, lower_bound
from nearcast.boolean.mbr_trie._walk import append_runs, select
from nearcast.boolean.mbr_trie._walk import visit as visit_trie
from nearcast.boolean.pt_quadtree._layout import MOST_WAITING, TAIL, WITH_WORDS, WITHOUT_WORDS
from nearcast.boolean.pt_quadtree._walk import visit as visit_quadtree
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row


@inner
def wider(rows, needed):
    """The rows with room for so many."""
    new = np.empty((max(needed, 2 * len(rows)), rows.shape[1]), np.int64)
    for i in range(len(rows)):
        for column in range(rows.shape[1]):
            new[i, column] = rows[i, column]
    return new


@inner
def emit(runs, total, start, end):
    """Add a stretch of records: (runs, total)."""
    if total == len(runs):
        runs = grown(runs, total + 1)
    runs[total] = run_reference(start, end - start)
    return runs, total + (end > start)


@njit(cache=True, nogil=True)
def open_lists(quadtree, cells, parts):
    """The cells' lists as parts, the ends that are not in order apart: (parts, how many)."""
    if 2 * len(cells) > len(parts):
        parts = wider(parts, 2 * len(cells))
    opened = 0
    for cell in cells:
        reference, tail = quadtree.lists[cell], quadtree.nodes[cell, TAIL]
        start = run_start(reference)
        end = start + run_count(reference)
        if end - tail > start:
            parts[opened, 0], parts[opened, 1], parts[opened, 2] = start, end - tail, 0
            opened += 1
        if tail:
            parts[opened, 0], parts[opened, 1], parts[opened, 2] = end - tail, end, 1
            opened += 1
    return parts, opened


@njit(cache=True, nogil=True)
def prune(ids, parts, begin, end, low, high, to):
    """The stretches of parts[begin:end] with IDs in [low, high], from `to` on: (parts, their end).

    List pruning (section 5.2).  O(log list) for each part, O(part) where it is not in order.
    """
    for i in range(begin, end):
        first, last = parts[i, 0], parts[i, 1]
        if parts[i, 2]:
            if to + last - first > len(parts):
                parts = wider(parts, to + last - first)
            for r in range(first, last):
                if low <= ids[r] <= high:
                    parts[to, 0], parts[to, 1], parts[to, 2] = r, r + 1, 0
                    to += 1
            continue
        first = lower_bound(ids, first, last, low)
        # Most stretches are short: look nearby first.
        near = min(last, first + 8)
        if near == last or ids[near] > high:
            last = near
        last = lower_bound(ids, first, last, high + 1)
        if last > first:
            if to == len(parts):
                parts = wider(parts, to + 1)
            parts[to, 0], parts[to, 1], parts[to, 2] = first, last, 0
            to += 1
    return parts, to


@inner
def search_costs(costs, parts, begin, end):
    """Of finding a node's IDs in each part."""
    cost = 0.0
    for i in range(begin, end):
        size = parts[i, 1] - parts[i, 0]
        cost += costs.record * size if parts[i, 2] else search_cost(costs, size)
    return cost


@njit(cache=True, nogil=True)
def hybrid_prune(
    trie, ids, costs, have, begin, end, probing, least_x, least_y, most_x, most_y,
    parts, opened, frames, queue, queue_from, runs, total,
):  # fmt: skip
    """Go down the trie with the lists: (parts, frames, queue, queue_from, runs, total).

    HYBRIDPRUNE, with the leaves' own entries taken from what is left of the lists (line 3).

    At each node whatever costs least: to verify the parts as they are (Eq. 6), to find the children
    and their stretches of the parts (Eq. 5), or to leave the lists and take the trie's own runs,
    which is best where these are shorter than a search.
    """
    rows = trie.rows
    boxes = rows.view(np.float32)
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3] = 0, begin, 0, opened
    depth, used = 1, opened
    while depth:
        depth -= 1
        node, position = frames[depth, 0], frames[depth, 1]
        low, high = frames[depth, 2], frames[depth, 3]
        run, children, words = rows[node, RUN_COUNT], rows[node, COUNT], end - position
        search = 0.0
        if high > low:
            search = search_costs(costs, parts, low, high)
            size = 0
            for i in range(low, high):
                size += parts[i, 1] - parts[i, 0]
            find = find_cost(costs, children, words) + min(costs.record * run, search)
            # Most of the words have a node below the root, few have one below another node.
            find += (min(children, words) if node == 0 else 1) * (costs.node + search)
            if check_cost(costs, words) * size <= find:
                for i in range(low, high):
                    runs, total = emit(runs, total, parts[i, 0], parts[i, 1])
                continue
        if run and node:  # those at the root have no words and lists of their own
            if high > low and costs.record * run > search:
                number = trie.spans[node, 0]
                parts, to = prune(ids, parts, low, high, number, number, used)
                for i in range(used, to):
                    runs, total = emit(runs, total, parts[i, 0], parts[i, 1])
            else:
                start = np.int64(rows[node, RUN_START])
                runs, total = emit(runs, total, start, start + run)
        queue, queue_from, queued = select(
            trie, node, have, position, end, probing, queue, queue_from, 0
        )
        if high > low:
            for i in range(queued):
                prefetch_row(trie.spans, queue[i])
        if depth + queued > len(frames):
            frames = wider(frames, depth + queued)
        for i in range(queued):
            child = queue[i]
            if not (
                (boxes[child, WEST] <= most_x)
                & (boxes[child, SOUTH] <= most_y)
                & (boxes[child, EAST] >= least_x)
                & (boxes[child, NORTH] >= least_y)
            ):
                continue
            from_part, to_part = 0, 0
            if high > low:
                # How much there is below, if it was all numbered at once.
                sets = ((trie.spans[child, 1] - trie.spans[child, 0]) >> 32) + 1
                if costs.record * rows[child, RUN_COUNT] + 0.5 * costs.node * (sets - 1) > search:
                    parts, to = prune(
                        ids, parts, low, high, trie.spans[child, 0], trie.spans[child, 1], used
                    )
                    if to == used:
                        continue
                    from_part, to_part = used, to
                    used = to
            frames[depth, 0], frames[depth, 1] = child, queue_from[i]
            frames[depth, 2], frames[depth, 3] = from_part, to_part
            depth += 1
    return parts, frames, queue, queue_from, runs, total


@njit(cache=True, nogil=True)
def walk(
    trie, quadtree, ids, costs, estimates, probing, have, have_start, rects, rect_start, first, last
):  # fmt: skip
    """The runs for each rectangle of the messages first:last: (runs, run_end)."""
    queue, queue_from = np.empty(1024, np.int64), np.empty(1024, np.int64)
    waiting, cells = np.empty(MOST_WAITING, np.int64), np.empty(256, np.int64)
    parts, frames = np.empty((1024, 3), np.int64), np.empty((1024, 4), np.int64)
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = np.int64(0)
    children = trie.rows[0, COUNT]
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        by_trie = trie_cost(costs, estimates, children, end - begin)
        for rect in range(rect_start[message], rect_start[message + 1]):
            x0, y0, x1, y1 = rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            least_x, least_y = rounded_down(x0), rounded_down(y0)
            most_x, most_y = rounded_up(x1), rounded_up(y1)
            lists = expected_lists(estimates, x0, y0, x1, y1)
            if quadtree_cost(costs, estimates, children, end - begin, lists) > by_trie:
                queue, queue_from, visited = visit_trie(
                    trie, have, begin, end, probing, least_x, least_y, most_x, most_y,
                    queue, queue_from,
                )  # fmt: skip
                runs, total = append_runs(trie, queue[:visited], runs, total)
            else:
                cells, found = visit_quadtree(
                    quadtree, np.int64(WITHOUT_WORDS), have, begin, end,
                    x0, y0, x1, y1, waiting, cells,
                )  # fmt: skip
                for cell in cells[:found]:
                    start = run_start(quadtree.lists[cell])
                    runs, total = emit(runs, total, start, start + run_count(quadtree.lists[cell]))
                cells, found = visit_quadtree(
                    quadtree, np.int64(WITH_WORDS), have, begin, end,
                    x0, y0, x1, y1, waiting, cells,
                )  # fmt: skip
                parts, opened = open_lists(quadtree, cells[:found], parts)
                if opened:
                    parts, frames, queue, queue_from, runs, total = hybrid_prune(
                        trie, ids, costs, have, begin, end, probing,
                        least_x, least_y, most_x, most_y,
                        parts, opened, frames, queue, queue_from, runs, total,
                    )  # fmt: skip
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
