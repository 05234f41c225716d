"""Where in the tree are an entry and a message?

paths     int64[P, 2]    child positions on the ways of an entry from the root, and whether it is in
                         the leaf there (1) or goes on (0); the root has position -1
regions   float64[P, 4]  the part of the world at each: west, south, east, north
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY, RUN
from nearcast.boolean._verify import grown
from nearcast.boolean.ap_tree._build import holds
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    HEIGHT,
    KEY_START,
    KEYWORD_NODE,
    OFFSET,
    WIDTH,
    find_cut,
    find_slab,
    get_child,
)
from nearcast.boolean.ap_tree._plan import keyword_at
from nearcast.inner import inner
from nearcast.moving.ap_plus_tree._lists import append, posting_of

UNKNOWN = (1 << 27) - 1
"""Instead of the rank of a word that no subscription has: beyond all cuts."""


@inner
def entry_paths(tree, clauses, entry, bounds, world, paths, regions):
    """The ways of an entry over a rectangle: (paths, regions, how many positions).  O(they).

    The offset of a position's next keyword is kept in `paths` while it waits.
    """
    paths[0, 0], paths[0, 1] = -1, 0
    regions[0] = world
    total, visited = 1, 0
    while visited < total:
        position = paths[visited, 0]
        reference = get_child(tree, position)
        what = reference & 3
        if what in (EMPTY, RUN):
            paths[visited, 1] = 1
            visited += 1
            continue
        paths[visited, 1] = 0
        node = tree.nodes[reference >> 2]
        first, width, height = node[CHILD_START], np.int64(node[WIDTH]), np.int64(node[HEIGHT])
        edge = node[KEY_START]
        x0, x1, y0, y1, child = 0, 0, 0, 0, np.int64(first)
        if what == KEYWORD_NODE:
            word = keyword_at(clauses, entry, node[OFFSET])
            if word < 0:
                child = first + width + 1
            else:
                cut = find_cut(tree.keys, edge, width, word)
                child = first + (cut if cut >= 0 else width)
        elif holds(bounds, regions[visited]):
            child = first + width * height
        else:
            child = np.int64(-1)
            x0 = find_slab(tree.edges, edge, width - 1, bounds[0])
            x1 = find_slab(tree.edges, edge, width - 1, bounds[2])
            y0 = find_slab(tree.edges, edge + width - 1, height - 1, bounds[1])
            y1 = find_slab(tree.edges, edge + width - 1, height - 1, bounds[3])
        touched = (x1 - x0 + 1) * (y1 - y0 + 1)
        if total + touched > len(paths):
            more = np.empty((2 * (total + touched), 2), np.int64)
            more[:total] = paths[:total]
            more_regions = np.empty((len(more), 4), np.float64)
            more_regions[:total] = regions[:total]
            paths, regions = more, more_regions
        for row in range(y0, y1 + 1):
            for column in range(x0, x1 + 1):
                regions[total] = regions[visited]
                paths[total, 0] = child
                if child < 0:
                    paths[total, 0] = first + row * width + column
                    if column:
                        regions[total, 0] = tree.edges[edge + column - 1]
                    if column + 1 < width:
                        regions[total, 2] = tree.edges[edge + column]
                    if row:
                        regions[total, 1] = tree.edges[edge + width - 1 + row - 1]
                    if row + 1 < height:
                        regions[total, 3] = tree.edges[edge + width - 1 + row]
                total += 1
        visited += 1
    return paths, regions, total


@njit(cache=True, nogil=True)
def insert_messages(tree, lists, messages, rank_of, slots, most_copies):
    """Put messages where entries that they match would be, whether there are any or not.

    As matching goes, breadth first; where going on would make more than `most_copies` postings, a
    message stays at the inner node.  O(nodes reached) each.
    """
    queue, queue_from = np.empty(256, np.int64), np.empty(256, np.int64)
    have = np.empty(64, np.int32)
    head = messages.head
    for i in range(len(slots)):
        slot = slots[i]
        posting = posting_of(messages, slot)
        begin, count = head[slot, 0], head[slot, 1]
        if count + 1 > len(have):
            have = np.empty(2 * (count + 1), np.int32)
        words, unknown = 0, False
        for k in range(begin, begin + count):
            rank = rank_of[messages.words[k]]
            if rank < 0:
                unknown = True
            else:
                have[words] = rank
                words += 1
        have[:words].sort()
        if unknown:
            have[words] = UNKNOWN
            words += 1
        for rect in range(head[slot, 2], head[slot, 2] + head[slot, 3]):
            x0, y0 = messages.rects[rect, 0], messages.rects[rect, 1]
            x1, y1 = messages.rects[rect, 2], messages.rects[rect, 3]
            queue[0], queue_from[0] = -1, 0
            queued, visited, stays = 1, 0, 0
            while visited < queued:
                position, word_from = queue[visited], queue_from[visited]
                visited += 1
                reference = get_child(tree, position)
                what = reference & 3
                if what in (EMPTY, RUN):
                    lists = append(lists, position, posting)
                    stays += 1
                    continue
                node = tree.nodes[reference >> 2]
                first, width = np.int64(node[CHILD_START]), np.int64(node[WIDTH])
                height, edge = np.int64(node[HEIGHT]), node[KEY_START]
                before = queued
                if what == KEYWORD_NODE:
                    queue, queue_from = _fit(queue, queue_from, queued + words + 2)
                    queue[queued], queue_from[queued] = first + width + 1, word_from
                    queued += 1
                    entered, rest_entered = -1, False
                    for k in range(word_from, words):
                        cut = find_cut(tree.keys, edge, width, have[k])
                        if cut < 0:
                            if rest_entered:
                                continue
                            rest_entered = True
                            cut = width
                        elif cut == entered:
                            continue
                        else:
                            entered = cut
                        queue[queued], queue_from[queued] = first + cut, k + 1
                        queued += 1
                else:
                    left = find_slab(tree.edges, edge, width - 1, x0)
                    right = find_slab(tree.edges, edge, width - 1, x1)
                    down = find_slab(tree.edges, edge + width - 1, height - 1, y0)
                    up = find_slab(tree.edges, edge + width - 1, height - 1, y1)
                    touched = (right - left + 1) * (up - down + 1)
                    queue, queue_from = _fit(queue, queue_from, queued + touched + 1)
                    queue[queued], queue_from[queued] = first + width * height, word_from
                    queued += 1
                    for row in range(down, up + 1):
                        for column in range(left, right + 1):
                            queue[queued] = first + row * width + column
                            queue_from[queued] = word_from
                            queued += 1
                # Those that wait stay somewhere too, each once at the least.
                if position >= 0 and stays + queued - visited > most_copies:
                    queued = before
                    lists = append(lists, position, posting)
                    stays += 1
    return lists


@inner
def _fit(queue, queue_from, needed):
    if needed <= len(queue):
        return queue, queue_from
    queue = grown(queue, needed)
    return queue, grown(queue_from, len(queue))
