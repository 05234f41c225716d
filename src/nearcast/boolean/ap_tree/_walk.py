"""Which leaves may a message reach (ICDE 2015, Algorithm 1)?  The arrays are drawn in `_verify`."""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY, RUN, run_start
from nearcast.boolean._verify import grown
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    HEIGHT,
    KEY_START,
    KEYWORD_NODE,
    ROOT,
    WIDTH,
    find_cut,
    find_slab,
)
from nearcast.prefetch import prefetch_row


@njit(cache=True, nogil=True)
def walk(tree, have, have_start, rects, rect_start, first, last):
    """The leaves for each rectangle of the messages first:last: (runs, run_end).

    Inner nodes are visited breadth first, and asked for well before they are looked at.
    """
    nodes, keys, edges, children = tree.nodes, tree.keys, tree.edges, tree.children
    records = tree.records
    root = tree.used[ROOT]
    queue = np.empty(1024, np.int64)  # inner nodes to visit
    queue_from = np.empty(1024, np.int64)  # and the position among the words to go on from
    runs = np.empty(1024, np.int64)
    run_end = np.empty(rect_start[last] - rect_start[first], np.int64)
    total = 0
    for message in range(first, last):
        word_begin, word_end = have_start[message - first], have_start[message - first + 1]
        for rect in range(rect_start[message], rect_start[message + 1]):
            x0, y0, x1, y1 = rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            is_point = x0 == x1 and y0 == y1
            visited, queued = 0, 0
            if root & 3 == RUN:
                if total + 1 > len(runs):
                    runs = grown(runs, total + 1)
                runs[total] = root
                total += 1
            elif root != EMPTY:
                queue[0] = root
                queue_from[0] = word_begin
                queued = 1
            while visited < queued:
                node = nodes[queue[visited] >> 2]
                is_keyword_node = queue[visited] & 3 == KEYWORD_NODE
                position = queue_from[visited]
                visited += 1
                child, width, height = node[CHILD_START], node[WIDTH], node[HEIGHT]
                start = node[KEY_START]
                column, row, last_column, last_row = 0, 0, 0, 0
                if is_keyword_node:
                    steps = word_end - position
                    always = child + width + 1
                else:
                    column = find_slab(edges, start, width - 1, x0)
                    row = find_slab(edges, start + width - 1, height - 1, y0)
                    last_column, last_row = column, row
                    if not is_point:
                        last_column = find_slab(edges, start, width - 1, x1)
                        last_row = find_slab(edges, start + width - 1, height - 1, y1)
                    steps = (last_column - column + 1) * (last_row - row + 1)
                    always = child + width * height
                if queued + steps + 1 > len(queue):
                    queue = grown(queue, queued + steps + 1)
                    queue_from = grown(queue_from, len(queue))
                if total + steps + 1 > len(runs):
                    runs = grown(runs, total + steps + 1)

                # The dummy first (step -1), then each cut or cell that is hit, once.
                entered = -1
                rest_entered = False
                c, r = column, row
                for step in range(-1, steps):
                    now_from = position
                    if step < 0:
                        reference = children[always]
                    elif is_keyword_node:
                        now_from = position + step + 1
                        cut = find_cut(keys, start, width, have[position + step])
                        if cut < 0:
                            # Keywords between the cuts share one child, entered once as well.
                            if rest_entered:
                                continue
                            rest_entered = True
                            reference = children[child + width]
                        elif cut == entered:
                            continue
                        else:
                            entered = cut
                            reference = children[child + cut]
                    else:
                        reference = children[child + r * width + c]
                        c += 1
                        if c > last_column:
                            c = column
                            r += 1
                    if reference & 3 == RUN:
                        runs[total] = reference
                        total += 1
                        prefetch_row(records, run_start(reference))
                    elif reference != EMPTY:
                        queue[queued] = reference
                        queue_from[queued] = now_from
                        queued += 1
                        prefetch_row(nodes, reference >> 2)
            run_end[rect - rect_start[first]] = total
    return runs[:total], run_end
