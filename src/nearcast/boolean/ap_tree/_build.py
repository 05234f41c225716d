"""Top-down construction of a subtree (002, Algorithm 4) over an arena of records.

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

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean.ap_tree._layout import (
    CHANGES,
    CHILD_START,
    CHILDREN,
    EDGES,
    EMPTY,
    ENTRY,
    FORBIDS,
    HEIGHT,
    KEY_START,
    KEYS,
    KEYWORD_NODE,
    MORE,
    NO_WORD,
    NODES,
    OFFSET,
    RECORDS,
    SHAPED,
    SHARED,
    SPATIAL_NODE,
    WEIGHT,
    WEIGHT_BUILT,
    WIDTH,
    WORD_A,
    WORD_B,
    leaf_reference,
    leaf_room,
    reserve,
    set_child,
)
from nearcast.boolean.ap_tree._partition import (
    SAMPLE,
    cuts_cost,
    finite_extent,
    grid_cost,
    halving_line,
    heuristic_cuts,
    improved_lines,
    optimal_cuts,
)

# Values of Settings.keyword_partition, .spatial_partition and .priority.
HEURISTIC, OPTIMAL, SINGLE_KEYWORDS = 0, 1, 2
GRID, QUADTREE = 0, 1
ADAPTIVE, KEYWORD_FIRST, SPATIAL_FIRST = 0, 1, 2

BY_KEYWORD, BY_SPACE = 1, 2  # flags of a task: which partitions are still allowed
MOST_PROVEN = 62  # offsets beyond this many are never marked proven

# A node must spare at least this share of its entries, or it is only in the way.
LEAST_GAIN = 0.1
# What one more copy of an entry is worth, in looks saved per message.
COPY_PRICE = 4e-4
# Fewer history points than this say nothing about a node's cells; areas do.
FEWEST_POINTS = 64


class Settings(NamedTuple):
    """What the kernels need of the constructor's arguments."""

    fanout: int
    leaf_capacity: int
    most_copies: float
    keyword_partition: int
    spatial_partition: int
    priority: int
    drift_threshold: float
    drift_share: float


class Statistics(NamedTuple):
    """What is known of messages: how likely keywords are, and where messages were.

    `chance_below[r]` is the sum of the probabilities of all keywords ranked before r. `is_history`
    tells whether this was learnt from messages; if not, the subscriptions stand for them, and there
    are no points.
    """

    chance_below: NDArray[np.float64]
    points: NDArray[np.float64]
    is_history: bool


@njit(cache=True, nogil=True)
def cut_chance(statistics, low, high):
    """Probability that a message has a keyword from `low` to `high`, at most 1.  O(1).

    Keywords that came after the statistics were made count as never seen.
    """
    known = len(statistics.chance_below) - 1
    below = statistics.chance_below
    return min(1.0, below[min(high + 1, known)] - below[min(low, known)])


@njit(cache=True, nogil=True)
def keyword_at(clauses, entry, offset):
    """The keyword of `entry` at `offset`, or -1 when it has none left."""
    if offset >= clauses.required[entry]:
        return np.int32(-1)
    return clauses.terms[clauses.start[entry] + offset]


@njit(cache=True, nogil=True)
def distinct(sorted_keys):
    """Distinct values of a sorted array and where each run begins (one more at the end)."""
    runs = 0
    for i in range(len(sorted_keys)):
        runs += i == 0 or sorted_keys[i] != sorted_keys[i - 1]
    key = np.empty(runs, np.int32)
    begin = np.empty(runs + 1, np.int64)
    runs = 0
    for i in range(len(sorted_keys)):
        if i == 0 or sorted_keys[i] != sorted_keys[i - 1]:
            key[runs] = sorted_keys[i]
            begin[runs] = i
            runs += 1
    begin[runs] = len(sorted_keys)
    return key, begin


@njit(cache=True, nogil=True)
def keyword_chances(clauses, statistics, arena, begin, end, offset, key, weight):
    """Probability of each keyword: from message history, else as frequent as in the entries.

    Without history the entries stand for the messages (002, IV-A): the frequency of the keyword
    anywhere in them, over the sum of these frequencies.
    """
    chance = np.empty(len(key), np.float64)
    if statistics.is_history:
        for i in range(len(key)):
            chance[i] = cut_chance(statistics, key[i], key[i])
        return chance
    chance[:] = weight
    for i in range(begin, end):
        entry = arena[i, ENTRY]
        for j in range(offset + 1, clauses.required[entry]):
            word = clauses.terms[clauses.start[entry] + j]
            at = np.searchsorted(key, word)
            if at < len(key) and key[at] == word:
                chance[at] += 1
    return chance / chance.sum()


@njit(cache=True, nogil=True)
def buckets_for(settings, entries):
    """Fanout of a node: a small node gets fewer buckets, for a bucket is not free either."""
    return min(settings.fanout, max(4, entries // 4))


@njit(cache=True, nogil=True)
def plan_cuts(clauses, statistics, settings, arena, begin, end, offset):
    """Order of the entries by keyword, the keywords, their runs, the cuts, and the cost."""
    size = end - begin
    keys = np.empty(size, np.int32)
    for i in range(size):
        keys[i] = keyword_at(clauses, arena[begin + i, ENTRY], offset)
    order = np.argsort(keys)
    keys = keys[order]
    without = np.searchsorted(keys, np.int32(0))
    key, run = distinct(keys[without:])
    if len(key) == 0:
        return order, without, key, run, run, np.inf
    weight = np.diff(run)
    chance = keyword_chances(clauses, statistics, arena, begin, end, offset, key, weight)
    most = buckets_for(settings, size)
    if settings.keyword_partition == SINGLE_KEYWORDS or len(key) <= most:
        first = np.arange(len(key) + 1)
    elif settings.keyword_partition == OPTIMAL:
        first = optimal_cuts(weight, chance, most)
    else:
        first = heuristic_cuts(weight, chance, most)
    return order, without, key, run, first, without + cuts_cost(weight, chance, first)


@njit(cache=True, nogil=True)
def plan_grid(statistics, settings, arena, begin, end, region, copies, looked_at):
    """The grid that is worth its copies most: lines along x and y, cost, copies of an entry.

    `looked_at`: the probability that a message would look at an entry without the grid.
    """
    size = end - begin
    stride = max(1, size // SAMPLE)
    bounds = arena.view(np.float32)[begin:end:stride, 4:8].copy()
    west, south, east, north = finite_extent(bounds, region)
    inside = np.zeros(len(statistics.points), np.bool_)
    for i in range(len(inside)):
        x, y = statistics.points[i, 0], statistics.points[i, 1]
        inside[i] = region[0] <= x <= region[2] and region[1] <= y <= region[3]
    if inside.sum() < FEWEST_POINTS:
        inside[:] = False
    points_x, points_y = statistics.points[inside, 0], statistics.points[inside, 1]
    sorted_x, sorted_y = np.sort(points_x), np.sort(points_y)
    clipped = bounds.copy()
    for i in range(len(bounds)):
        clipped[i, 0] = min(max(bounds[i, 0], west), east)
        clipped[i, 1] = min(max(bounds[i, 1], south), north)
        clipped[i, 2] = max(min(bounds[i, 2], east), west)
        clipped[i, 3] = max(min(bounds[i, 3], north), south)
    x_low, x_high = np.sort(clipped[:, 0]), np.sort(clipped[:, 2])
    y_low, y_high = np.sort(clipped[:, 1]), np.sort(clipped[:, 3])
    best_xs, best_ys = np.empty(0, np.float32), np.empty(0, np.float32)
    best_cost, best_stored, best_worth = np.inf, 1.0, 0.0
    most_side = int(np.sqrt(buckets_for(settings, size)))
    side, is_last = 2, most_side < 2
    while not is_last:
        is_last = side >= most_side
        if settings.spatial_partition == QUADTREE:
            is_last = True
            xs, ys = halving_line(west, east), halving_line(south, north)
        else:
            xs = improved_lines(x_low, x_high, sorted_x, west, east, side)
            ys = improved_lines(y_low, y_high, sorted_y, south, north, side)
        cost, stored = grid_cost(bounds, xs, ys, points_x, points_y, region)
        worth = looked_at * (1 - cost) - COPY_PRICE * copies * (stored - 1)
        if len(xs) + len(ys) == 0 or stored * copies > settings.most_copies or worth < best_worth:
            break  # finer grids store more, for less and less
        if worth > best_worth:
            best_xs, best_ys = xs, ys
            best_cost, best_stored, best_worth = cost * size, stored, worth
        side = min(most_side, side + (side + 1) // 2)
    return best_xs, best_ys, best_cost, best_stored


@njit(cache=True, nogil=True)
def settle_record(clauses, record, proven):
    """Fill in which keywords the path leaves to check: the last two, or a note to look it up."""
    entry = record[ENTRY]
    start = clauses.start[entry]
    flags = record[WORD_A] & (SHAPED | SHARED)
    if clauses.forbidden[entry]:
        flags |= FORBIDS
    record[WORD_A], record[WORD_B] = NO_WORD, NO_WORD
    left = 0
    for i in range(clauses.required[entry] - 1, -1, -1):
        if i < MOST_PROVEN and (proven >> i) & 1:
            continue
        if left == 2:
            flags |= MORE
            break
        record[WORD_A + left] = clauses.terms[start + i]
        left += 1
    record[WORD_A] |= flags


@njit(cache=True, nogil=True)
def write_leaf(tree, clauses, arena, begin, end, proven, position):
    """Copy arena[begin:end] to a new leaf and hang it at `position`."""
    count = end - begin
    room = leaf_room(count)
    tree = reserve(tree, 0, 0, 0, 0, room)
    start = tree.used[RECORDS]
    tree.used[RECORDS] += room
    for i in range(count):
        record = tree.records[start + i]
        record[:] = arena[begin + i]
        settle_record(clauses, record, proven)
    set_child(tree, position, leaf_reference(start, count) if count else EMPTY)
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


@njit(cache=True, nogil=True)
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
    tasks, places = push(
        tasks, places, 0, 0, len(arena), position, offset, proven, flags, region, copies, reach
    )
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
                order, without, key, run, first, keyword_cost = plan_cuts(
                    clauses, statistics, settings, arena, begin, end, offset
                )
                if len(key) != 1 or without or keyword_cost < (1 - LEAST_GAIN) * size:
                    break
                offset += 1  # all entries share this keyword and messages have it: look deeper
        by_keyword = keyword_cost < (1 - LEAST_GAIN) * size
        if flags & BY_SPACE and not (by_keyword and settings.priority == KEYWORD_FIRST):
            # Keywords would spare messages many of these entries in any case.
            looked_at = reach * min(1.0, keyword_cost / size)
            xs, ys, spatial_cost, stored = plan_grid(
                statistics, settings, arena, begin, end, region, copies, looked_at
            )
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
            tree = reserve(tree, 1, 2 * cuts, 0, cuts + 2, 0)
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
            tree = reserve(tree, 1, 0, lines, cells + 1, 0)
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


@njit(cache=True, nogil=True)
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
