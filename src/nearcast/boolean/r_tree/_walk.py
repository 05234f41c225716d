"""Which records may a message reach?  The arrays are drawn in `_verify` and `_layout`."""

import numpy as np
from numba import njit

from nearcast.boolean._records import run_count, run_reference, run_start
from nearcast.boolean._verify import grown, rounded_down, rounded_up
from nearcast.boolean.r_tree._layout import (
    ALWAYS,
    COUNT,
    HEIGHT,
    LIST_ROOM,
    LIST_START,
    NO_KEY,
    ROOT,
)
from nearcast.boolean.r_tree._lists import children_spoken_to, first_look
from nearcast.boolean.r_tree._seen import MASK, is_seen, see, unsee
from nearcast.prefetch import prefetch_row

# Of so many words the rows are asked for before a node is looked at.
PREFETCHED_WORDS = 16


@njit(cache=True, nogil=True, inline="always")
def _prefetch_lists(lists, start, room, have, begin, end):
    for i in range(begin, min(end, begin + PREFETCHED_WORDS)):
        prefetch_row(lists, start + first_look(have[i], room))


@njit(cache=True, nogil=True)
def walk(tree, settings, have, have_start, rects, rect_start, first, last):
    """The records for each rectangle of the messages first:last: (runs, run_end).

    Nodes are visited breadth first, leaves after them, so that both are on their way long before.
    """
    nodes, boxes, children, lists = tree.nodes, tree.boxes, tree.children, tree.lists
    leaves, keys = tree.leaves, tree.keys
    fanout, capacity = settings.fanout, settings.leaf_capacity
    seen = np.zeros(MASK + 1, np.uint8)
    reached = np.empty(fanout, np.int32)
    likely = np.empty(capacity, np.int64)  # records of a leaf whose first key the message may have
    queue = np.empty(256, np.int32)  # nodes to visit
    near = np.empty(256, np.int32)  # leaves to visit
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        begin, end = have_start[message - first], have_start[message - first + 1]
        see(seen, have, begin, end)
        for rect in range(rect_start[message], rect_start[message + 1]):
            # The place rounded outward to float32, as the boxes are.
            least_x, least_y = rounded_down(rects[rect, 0]), rounded_down(rects[rect, 1])
            most_x, most_y = rounded_up(rects[rect, 2]), rounded_up(rects[rect, 3])
            queue[0] = tree.used[ROOT]
            visited, queued, leaf_count = 0, 1, 0
            while visited < queued:
                node = queue[visited]
                visited += 1
                spoken_to = nodes[node, ALWAYS] | children_spoken_to(
                    lists, nodes[node, LIST_START], nodes[node, LIST_ROOM], settings.listing,
                    have, begin, end, seen,
                )  # fmt: skip
                if spoken_to == 0:
                    continue
                # Without a branch, because whether a box is near is anybody's guess.
                kept = 0
                branch = node * fanout
                for i in range(nodes[node, COUNT]):
                    reached[kept] = children[branch + i]
                    kept += (
                        ((spoken_to >> i) & 1)
                        & (boxes[branch + i, 0] <= most_x)
                        & (boxes[branch + i, 1] <= most_y)
                        & (boxes[branch + i, 2] >= least_x)
                        & (boxes[branch + i, 3] >= least_y)
                    )
                if nodes[node, HEIGHT] == 1:
                    if leaf_count + kept > len(near):
                        near = grown(near, leaf_count + kept)
                    for child in reached[:kept]:
                        near[leaf_count] = child
                        leaf_count += 1
                        prefetch_row(keys, child * capacity)
                        prefetch_row(leaves, child)
                else:
                    if queued + kept > len(queue):
                        queue = grown(queue, queued + kept)
                    for child in reached[:kept]:
                        queue[queued] = child
                        queued += 1
                        _prefetch_lists(
                            lists, nodes[child, LIST_START], nodes[child, LIST_ROOM],
                            have, begin, end,
                        )  # fmt: skip

            for leaf in near[:leaf_count]:
                home = leaf * capacity
                if total + capacity > len(runs):
                    runs = grown(runs, total + capacity)
                kept = 0
                for i in range(home, home + leaves[leaf, COUNT]):
                    likely[kept] = i
                    kept += (keys[i, 0] == NO_KEY) | (seen[keys[i, 0] & MASK] != 0)
                follows = np.int64(-1)  # what would go on with the last run
                for i in likely[:kept]:
                    key, other = keys[i, 0], keys[i, 1]
                    if key != NO_KEY and not is_seen(seen, have, begin, end, key):
                        continue
                    if other != NO_KEY and not is_seen(seen, have, begin, end, other):
                        continue
                    if i == follows:
                        runs[total - 1] = run_reference(
                            run_start(runs[total - 1]), run_count(runs[total - 1]) + 1
                        )
                    else:
                        runs[total] = run_reference(i, 1)
                        total += 1
                    follows = i + 1
            run_end[rect - rect_start[first]] = total
        unsee(seen, have, begin, end)
    return runs[:total], run_end
