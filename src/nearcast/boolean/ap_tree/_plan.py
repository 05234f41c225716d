"""What is best for a node: its cuts, its grid, and what either would cost.

A task's records are arena[begin:end]; see `_build` for the arena and `_partition` for the cost.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import (
    ENTRY,
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
from nearcast.inner import inner

# Values of Settings.keyword_partition, .spatial_partition and .priority.
HEURISTIC, OPTIMAL, SINGLE_KEYWORDS = 0, 1, 2
GRID, QUADTREE = 0, 1
ADAPTIVE, KEYWORD_FIRST, SPATIAL_FIRST = 0, 1, 2

# What one more copy of an entry is worth, in looks saved per message.
COPY_PRICE = 4e-4
# Fewer history points than this say nothing about a node's cells; areas do.
FEWEST_POINTS = 64


class Settings(NamedTuple):
    """What the kernels need of the constructor's arguments, and of how subscriptions move.

    `messages_per_move`: messages that count while a subscription moves once, 0 where none moves;
    `stride`: how far it moves then.
    """

    fanout: int
    leaf_capacity: int
    most_copies: float
    keyword_partition: int
    spatial_partition: int
    priority: int
    drift_threshold: float
    drift_share: float
    messages_per_move: float = 0.0
    stride: float = 0.0


class Statistics(NamedTuple):
    """What is known of messages: how likely keywords are, and where messages were.

    `chance_below[r]` is the sum of the probabilities of all keywords ranked before r. `is_history`
    tells whether this was learnt from messages; if not, the subscriptions stand for them, and there
    are no points.
    """

    chance_below: NDArray[np.float64]
    points: NDArray[np.float64]
    is_history: bool


@inner
def cut_chance(statistics, low, high):
    """Probability that a message has a keyword from `low` to `high`, at most 1.  O(1).

    Keywords that came after the statistics were made count as never seen.
    """
    known = len(statistics.chance_below) - 1
    below = statistics.chance_below
    return min(1.0, below[min(high + 1, known)] - below[min(low, known)])


@inner
def keyword_at(clauses, entry, offset):
    """The keyword of `entry` at `offset`, or -1 when it has none left."""
    if offset >= clauses.required[entry]:
        return np.int32(-1)
    return clauses.terms[clauses.start[entry] + offset]


@inner
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


@inner
def keyword_chances(clauses, statistics, arena, begin, end, offset, key, weight):
    """Probability of each keyword: from message history, else as frequent as in the entries.

    Without history the entries stand for the messages (ICDE 2015, IV-A): the frequency of the
    keyword anywhere in them, over the sum of these frequencies.
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


@inner
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


@inner
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
    side, is_last = np.int64(2), most_side < 2
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


@inner
def shared_keyword(clauses, arena, begin, end, offset):
    """The keyword that all entries have at `offset`, or -1 when they differ or lack one.  O(n)."""
    word = keyword_at(clauses, arena[begin, ENTRY], offset)
    for i in range(begin + 1, end):
        if keyword_at(clauses, arena[i, ENTRY], offset) != word:
            return np.int32(-1)
    return word
