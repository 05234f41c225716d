"""Top-down construction of a subtree (ICDE 2015, Algorithm 4) over an arena of records.

arena     int32[A, 8]    records to place (see _layout); a task owns arena[begin:end]
tasks     int64[T, 6]    begin, end, child position, offset, proven, flags
places    float64[T, 6]  region of the node (west, south, east, north), copies, reach

A task is popped, divided, and its parts are pushed in the order they lie in the arena, so that
the popped task always ends where the arena ends: the arena never holds more than one copy of
what is still to be placed. `proven` is a bit set of keyword offsets: bit i is set when the path
implies that the i-th keyword of each entry is in the message, because it went through a cut of
that keyword alone. `copies` is how often the average entry is stored because of the s-nodes
above; it may not pass `settings.most_copies`, which bounds the memory of the whole tree. `reach`
is the estimated probability that a message comes this far: a finer grid must save more looks
than its copies are worth, so that memory goes where messages do.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EMPTY,
    MOST_PROVEN,
    run_reference,
    run_room,
    settle_record,
)
from nearcast.boolean.ap_tree._layout import (
    CHANGES,
    CHILD_START,
    CHILDREN,
    EDGES,
    ENTRIES,
    HEIGHT,
    KEY_START,
    KEYS,
    KEYWORD_NODE,
    NODES,
    OFFSET,
    RECORDS,
    SPATIAL_NODE,
    WEIGHT,
    WEIGHT_BUILT,
    WIDTH,
    reserve,
    set_child,
)
from nearcast.boolean.ap_tree._moving_cost import moving_cost
from nearcast.boolean.ap_tree._plan import (
    ADAPTIVE,
    KEYWORD_FIRST,
    cut_chance,
    plan_cuts,
    plan_grid,
    shared_keyword,
)
from nearcast.inner import inner

BY_KEYWORD, BY_SPACE = 1, 2  # flags of a task: which partitions are still allowed

# A node must spare at least this share of its entries, or it is only in the way.
LEAST_GAIN = 0.1
LEAST_REACH = 1e-9  # of a node that no message was seen to come to


@njit(cache=True, nogil=True)
def write_leaf(tree, clauses, arena, begin, end, proven, position):
    """Copy arena[begin:end] to a new leaf and hang it at `position`."""
    count = end - begin
    room = run_room(count)
    none = np.int64(0)
    tree = reserve(tree, none, none, none, none, room)
    start = tree.used[RECORDS]
    tree.used[RECORDS] += room
    for i in range(count):
        record = tree.records[start + i]
        record[:] = arena[begin + i]
        settle_record(clauses, record, proven)
    set_child(tree, position, run_reference(start, count) if count else EMPTY)
    return tree


@njit(cache=True, nogil=True)
def new_node(tree, kind, key_start, width, height, children, offset, weight, position):
    """Append a node with empty children and hang it at `position`.  Room must be reserved."""
    row = tree.used[NODES]
    tree.used[NODES] += 1
    first = tree.used[CHILDREN]
    tree.used[CHILDREN] += children
    tree.children[first : first + children] = EMPTY
    tree.weights[first : first + children] = 0
    node = tree.nodes[row]
    node[KEY_START], node[WIDTH], node[HEIGHT], node[CHILD_START] = key_start, width, height, first
    node[OFFSET], node[WEIGHT], node[WEIGHT_BUILT], node[CHANGES] = offset, weight, weight, 0
    set_child(tree, position, (row << 2) | kind)
    return first


@inner
def push(tasks, places, depth, begin, end, position, offset, proven, flags, region, copies, reach):
    """Add a task, growing the stack when needed."""
    if depth == len(tasks):
        wider_tasks = np.empty((2 * depth, 6), np.int64)
        wider_tasks[:depth] = tasks
        wider_places = np.empty((2 * depth, 6), np.float64)
        wider_places[:depth] = places
        tasks, places = wider_tasks, wider_places
    task = tasks[depth]
    task[0], task[1], task[2] = begin, end, position
    task[3], task[4], task[5] = offset, proven, flags
    places[depth, :4] = region
    places[depth, 4] = copies
    places[depth, 5] = reach
    return tasks, places


@njit(cache=True, nogil=True)
def build(
    tree, clauses, statistics, settings, arena,
    position, offset, proven, flags, region, copies, reach,
):  # fmt: skip
    """Place every record of the arena in a new subtree at `position`; returns the grown tree.

    O(n log n) for each level of the tree.  The old subtree, if any, is the caller's garbage.
    """
    tasks = np.empty((1024, 6), np.int64)
    places = np.empty((1024, 6), np.float64)
    none, one = np.int64(0), np.int64(1)
    tasks, places = push(
        tasks, places, none, none, len(arena), position,
        offset, proven, flags, region, copies, reach,
    )  # fmt: skip
    depth = 1
    while depth:
        depth -= 1
        begin, end, position = tasks[depth, 0], tasks[depth, 1], tasks[depth, 2]
        offset, proven, flags = tasks[depth, 3], tasks[depth, 4], tasks[depth, 5]
        region = places[depth, :4].copy()
        copies, reach = places[depth, 4], places[depth, 5]
        size = end - begin
        if size <= settings.leaf_capacity or flags == 0:
            tree = write_leaf(tree, clauses, arena, begin, end, proven, position)
            continue

        keyword_cost, spatial_cost, stored = np.inf, np.inf, 1.0
        xs = np.empty(0, np.float32)
        ys = xs
        order = np.empty(0, np.int64)
        without = 0
        key = np.empty(0, np.int32)
        run, first = order, order
        if flags & BY_KEYWORD:
            while True:
                # A keyword that all entries share separates them from messages at best.
                word = shared_keyword(clauses, arena, begin, end, offset)
                if word < 0 or (
                    statistics.is_history and cut_chance(statistics, word, word) < 1 - LEAST_GAIN
                ):
                    break
                offset += 1
            order, without, key, run, first, keyword_cost = plan_cuts(
                clauses, statistics, settings, arena, begin, end, offset
            )
        by_keyword = keyword_cost < (1 - LEAST_GAIN) * size
        if flags & BY_SPACE and not (by_keyword and settings.priority == KEYWORD_FIRST):
            # Keywords would spare messages many of these entries in any case.
            looked_at = reach * min(1.0, keyword_cost / size)
            xs, ys, spatial_cost, stored = plan_grid(
                statistics, settings, arena, begin, end, region, copies, looked_at
            )
            if settings.messages_per_move > 0.0 and spatial_cost < np.inf:
                moving = moving_cost(settings, arena, begin, end, region, tree.used[ENTRIES])
                spatial_cost += moving / max(reach, LEAST_REACH)
        by_space = spatial_cost < (1 - LEAST_GAIN) * size
        if by_keyword and by_space:
            if settings.priority == ADAPTIVE:
                # Copies made here are made of everything below, so they count; the paper, which
                # compares the costs alone, replicates whole trees at the root.
                by_keyword = keyword_cost < spatial_cost * stored
            else:
                by_keyword = settings.priority == KEYWORD_FIRST
        if not by_keyword and not by_space:
            tree = write_leaf(tree, clauses, arena, begin, end, proven, position)
            continue

        if by_keyword:
            cuts = len(first) - 1
            tree = reserve(tree, one, 2 * cuts, none, cuts + 2, none)
            key_start = tree.used[KEYS]
            tree.used[KEYS] += 2 * cuts
            child = new_node(
                tree, KEYWORD_NODE, key_start, cuts, 0, cuts + 2, offset, size, position
            )
            arena[begin:end] = arena[begin:end][order]
            if without:
                dummy = child + cuts + 1
                tree.weights[dummy] = without
                tasks, places = push(
                    tasks, places, depth, begin, begin + without, dummy,
                    offset, proven, flags & ~BY_KEYWORD, region, copies, reach,
                )  # fmt: skip
                depth += 1
            for i in range(cuts):
                low, high = first[i], first[i + 1]
                tree.keys[key_start + 2 * i] = key[low]
                tree.keys[key_start + 2 * i + 1] = key[high - 1]
                now_proven = proven
                if high - low == 1 and offset < MOST_PROVEN:
                    now_proven = proven | (1 << offset)
                tree.weights[child + i] = run[high] - run[low]
                hit = cut_chance(statistics, key[low], key[high - 1])
                tasks, places = push(
                    tasks, places, depth, begin + without + run[low], begin + without + run[high],
                    child + i, offset + 1, now_proven, flags, region, copies, reach * hit,
                )  # fmt: skip
                depth += 1
        else:
            columns, rows = len(xs) + 1, len(ys) + 1
            cells = columns * rows
            lines = columns + rows - 2
            tree = reserve(tree, one, none, lines, cells + 1, none)
            edge_start = tree.used[EDGES]
            tree.used[EDGES] += lines
            tree.edges[edge_start : edge_start + columns - 1] = xs
            tree.edges[edge_start + columns - 1 : edge_start + lines] = ys
            arena, cell_start = spread(arena, begin, end, xs, ys, region)
            total = cell_start[cells + 1] - begin
            child = new_node(
                tree, SPATIAL_NODE, edge_start, columns, rows, cells + 1, offset, total, position
            )
            now_copies = copies * max(1.0, total / size)
            for cell in range(cells + 1):
                low, high = cell_start[cell], cell_start[cell + 1]
                tree.weights[child + cell] = high - low
                if low == high:
                    continue
                now_flags, hit = flags, 1.0
                cell_region = region.copy()
                if cell == cells:
                    now_flags = flags & ~BY_SPACE
                else:
                    column, row = cell % columns, cell // columns
                    if column:
                        cell_region[0] = xs[column - 1]
                    if column + 1 < columns:
                        cell_region[2] = xs[column]
                    if row:
                        cell_region[1] = ys[row - 1]
                    if row + 1 < rows:
                        cell_region[3] = ys[row]
                    # Messages are where subscriptions are.
                    hit = (high - low) / total
                tasks, places = push(
                    tasks, places, depth, low, high, child + cell,
                    offset, proven, now_flags, cell_region, now_copies, reach * hit,
                )  # fmt: skip
                depth += 1
    return tree


@njit(cache=True, nogil=True, inline="always")
def holds(bounds, region):
    """Does the closed rectangle contain the node's region?  Then it is not divided further."""
    return (
        bounds[0] <= region[0]
        and bounds[1] <= region[1]
        and bounds[2] >= region[2]
        and bounds[3] >= region[3]
    )


@inner
def spread(arena, begin, end, xs, ys, region):
    """Replace arena[begin:end] by its copies grouped by cell, dummy last.

    Returns the (possibly larger) arena and where each cell's run begins.
    """
    columns, rows = len(xs) + 1, len(ys) + 1
    cells = columns * rows
    size = end - begin
    span = np.empty((size, 4), np.int32)
    count = np.zeros(cells + 2, np.int64)
    bounds = arena.view(np.float32)[:, 4:8]
    for i in range(size):
        box = bounds[begin + i]
        if holds(box, region):
            span[i, 0] = -1
            count[cells + 1] += 1
            continue
        x0, x1 = (
            np.searchsorted(xs, box[0], side="right"),
            np.searchsorted(xs, box[2], side="right"),
        )
        y0, y1 = (
            np.searchsorted(ys, box[1], side="right"),
            np.searchsorted(ys, box[3], side="right"),
        )
        span[i, 0], span[i, 1], span[i, 2], span[i, 3] = x0, x1, y0, y1
        for row in range(y0, y1 + 1):
            for column in range(x0, x1 + 1):
                count[row * columns + column + 1] += 1
    cell_start = begin + np.cumsum(count)
    source = arena[begin:end].copy()
    if cell_start[cells + 1] > len(arena):
        wider = np.empty((cell_start[cells + 1] * 5 // 4, 8), np.int32)
        wider[:begin] = arena[:begin]
        arena = wider
    fill = cell_start.copy()
    for i in range(size):
        if span[i, 0] < 0:
            arena[fill[cells]] = source[i]
            fill[cells] += 1
            continue
        for row in range(span[i, 2], span[i, 3] + 1):
            for column in range(span[i, 0], span[i, 1] + 1):
                cell = row * columns + column
                arena[fill[cell]] = source[i]
                fill[cell] += 1
    return arena, cell_start
