"""How a node divides its entries: cuts of keywords, cells of a grid, and what each would cost.

The cost of a partition is the expected number of entries a message that reaches the node goes on
to look at: the sum of weight x hit probability over its buckets (ICDE 2015, Eq. 1).

key       int32[V]       the distinct keywords at the node's offset, ascending
weight    int64[V]       entries with that keyword
chance    float64[V]     probability that a message has it
first     int64[c+1]     cut i holds keywords first[i]:first[i+1]
"""

import numpy as np
from numba import njit

from nearcast.inner import inner

# A split of space is judged on at most this many entries: quantiles need no more.
SAMPLE = 2048


@njit(cache=True, nogil=True)
def even_cuts(weight, cuts):
    """`cuts` runs of similar weight (line 1 of Algorithm 3).  O(V)."""
    size = len(weight)
    first = np.empty(cuts + 1, np.int64)
    first[0] = 0
    left = weight.sum()
    at = 0
    for i in range(1, cuts):
        # Aim at an even share of what is left, because one heavy keyword may have overfilled.
        share = left / (cuts - i + 1)
        filled = weight[at]
        left -= weight[at]
        at += 1
        while at < size - (cuts - i) and filled + 0.5 * weight[at] <= share:
            filled += weight[at]
            left -= weight[at]
            at += 1
        first[i] = at
    first[cuts] = size
    return first


@njit(cache=True, nogil=True)
def heuristic_cuts(weight, chance, cuts):
    """Even cuts, then each border moved to its best place between its neighbours (Algorithm 3).

    O(V): every keyword is tried as the border of the two cuts it lies in.
    """
    first = even_cuts(weight, cuts)
    for i in range(1, cuts):
        low, high = first[i - 1], first[i + 1]
        total_weight, total_chance = 0.0, 0.0
        for j in range(low, high):
            total_weight += weight[j]
            total_chance += chance[j]
        best, best_at = np.inf, first[i]
        left_weight, left_chance = 0.0, 0.0
        for j in range(low + 1, high):
            left_weight += weight[j - 1]
            left_chance += chance[j - 1]
            cost = left_weight * left_chance + (total_weight - left_weight) * (
                total_chance - left_chance
            )
            if cost < best:
                best, best_at = cost, j
        first[i] = best_at
    return first


@njit(cache=True, nogil=True)
def optimal_cuts(weight, chance, cuts):
    """The cheapest division into `cuts` runs (Algorithm 2, Eq. 2-3).

    The cost of a run, (sum of weight) x (sum of chance), satisfies the quadrangle inequality, so
    the best last border moves right as the prefix grows, and divide and conquer finds each layer
    of the dynamic programme in O(V log V) instead of O(V^2).  O(cuts x V log V).
    """
    size = len(weight)
    sum_weight = np.zeros(size + 1)
    sum_chance = np.zeros(size + 1)
    for i in range(size):
        sum_weight[i + 1] = sum_weight[i] + weight[i]
        sum_chance[i + 1] = sum_chance[i] + chance[i]
    before = sum_weight * sum_chance  # one cut over each prefix
    choice = np.zeros((cuts + 1, size + 1), np.int32)
    stack = np.empty((128, 4), np.int64)
    for c in range(2, cuts + 1):
        now = np.full(size + 1, np.inf)
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = c, size, c - 1, size - 1
        depth = 1
        while depth:
            depth -= 1
            low, high, border_low, border_high = (
                stack[depth, 0],
                stack[depth, 1],
                stack[depth, 2],
                stack[depth, 3],
            )
            middle = (low + high) // 2
            best, best_at = np.inf, border_low
            for border in range(border_low, min(middle - 1, border_high) + 1):
                cost = before[border] + (sum_weight[middle] - sum_weight[border]) * (
                    sum_chance[middle] - sum_chance[border]
                )
                if cost < best:
                    best, best_at = cost, border
            now[middle] = best
            choice[c, middle] = best_at
            if low < middle:
                stack[depth, 0], stack[depth, 1] = low, middle - 1
                stack[depth, 2], stack[depth, 3] = border_low, best_at
                depth += 1
            if middle < high:
                stack[depth, 0], stack[depth, 1] = middle + 1, high
                stack[depth, 2], stack[depth, 3] = best_at, border_high
                depth += 1
        before = now
    first = np.empty(cuts + 1, np.int64)
    end = size
    for c in range(cuts, 0, -1):
        first[c] = end
        end = choice[c, end]
    first[0] = 0
    return first


@njit(cache=True, nogil=True)
def cuts_cost(weight, chance, first):
    """Expected entries looked at (Eq. 1).  A cut is entered at most once a message."""
    cost = 0.0
    for i in range(len(first) - 1):
        cut_weight, cut_chance = 0.0, 0.0
        for j in range(first[i], first[i + 1]):
            cut_weight += weight[j]
            cut_chance += chance[j]
        cost += cut_weight * min(1.0, cut_chance)
    return cost


@njit(cache=True, nogil=True)
def share_of(a, b, low, high):
    """The share of the length from `low` to `high` that lies between a and b; 1 if it has none."""
    if high <= low:
        return 1.0
    return max(0.0, min(b, high) - max(a, low)) / (high - low)


@inner
def _share(points, low, high, a, b):
    """Fraction of messages between a and b: of the sorted history, else of the length."""
    if len(points):
        return (np.searchsorted(points, b) - np.searchsorted(points, a)) / len(points)
    return share_of(a, b, low, high)


@njit(cache=True, nogil=True)
def improved_lines(lows, highs, points, low, high, slabs):
    """Inner grid lines along one axis: even by centres, then moved one by one (ICDE 2015, IV-C).

    `lows`, `highs`: sorted ends of the entries' extents; `points`: sorted message positions or
    empty; `low`, `high`: the finite extent of the node.  Returns fewer lines when the entries do
    not have that many distinct ends.  O(|entries| + slabs log |entries|).
    """
    size = len(lows)
    centres = np.sort((lows + highs) * np.float32(0.5))
    lines = np.empty(slabs - 1, np.float32)
    count = 0
    for i in range(1, slabs):
        line = centres[i * size // slabs]
        if line > low and line < high and (count == 0 or line > lines[count - 1]):
            lines[count] = line
            count += 1
    # A line at `lows[i]` leaves that entry wholly on its right, one just above `highs[i]` wholly
    # on its left: no other place is ever better.
    ends = np.empty(2 * size, np.float32)
    ends[:size] = lows
    for i in range(size):
        ends[size + i] = np.nextafter(highs[i], np.float32(np.inf))
    ends.sort()
    for i in range(count):
        left = lines[i - 1] if i else np.float32(low)
        right = lines[i + 1] if i + 1 < count else np.float32(high)
        ended_before = np.searchsorted(highs, left)
        begun_before = size if i + 1 == count else np.searchsorted(lows, right)
        if i == 0:
            ended_before = 0
        best, best_line = np.inf, lines[i]
        begin = np.searchsorted(ends, left, side="right")
        end = np.searchsorted(ends, right)
        step = max(1, (end - begin) // 64)
        for j in range(begin, end, step):
            line = ends[j]
            left_weight = np.searchsorted(lows, line) - ended_before
            right_weight = begun_before - np.searchsorted(highs, line)
            cost = left_weight * _share(points, low, high, left, line) + right_weight * _share(
                points, low, high, line, right
            )
            if cost < best:
                best, best_line = cost, line
        lines[i] = best_line
    return lines[:count]


@njit(cache=True, nogil=True)
def halving_line(low, high):
    """The one inner line of a quadtree split."""
    line = np.empty(1, np.float32)
    line[0] = np.float32((low + high) * 0.5)
    if line[0] > low and line[0] < high:
        return line
    return line[:0]


@njit(cache=True, nogil=True)
def grid_cost(bounds, xs, ys, points_x, points_y, region):
    """Expected entries looked at, and how often an entry is stored, per entry of the sample.

    bounds float32[n, 4]; xs, ys inner lines; points of the history inside the node, or empty;
    region: the node's own rectangle, whose containers go to the dummy cell.
    """
    columns, rows = len(xs) + 1, len(ys) + 1
    steps = np.zeros((rows + 1, columns + 1))
    contained, stored = 0.0, 0.0
    for i in range(len(bounds)):
        west, south, east, north = bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3]
        if west <= region[0] and south <= region[1] and east >= region[2] and north >= region[3]:
            contained += 1
            stored += 1
            continue
        x0, x1 = np.searchsorted(xs, west, side="right"), np.searchsorted(xs, east, side="right")
        y0, y1 = np.searchsorted(ys, south, side="right"), np.searchsorted(ys, north, side="right")
        stored += (x1 - x0 + 1) * (y1 - y0 + 1)
        steps[y0, x0] += 1
        steps[y0, x1 + 1] -= 1
        steps[y1 + 1, x0] -= 1
        steps[y1 + 1, x1 + 1] += 1
    chance = np.zeros((rows, columns))
    if len(points_x):
        for i in range(len(points_x)):
            column = np.searchsorted(xs, points_x[i], side="right")
            row = np.searchsorted(ys, points_y[i], side="right")
            chance[row, column] += 1.0 / len(points_x)
    else:
        west, south, east, north = finite_extent(bounds, region)
        for row in range(rows):
            bottom = ys[row - 1] if row else south
            top = ys[row] if row + 1 < rows else north
            for column in range(columns):
                left = xs[column - 1] if column else west
                right = xs[column] if column + 1 < columns else east
                chance[row, column] = share_of(bottom, top, south, north) * share_of(
                    left, right, west, east
                )
    cost = contained
    for row in range(rows):
        for column in range(columns):
            if row:
                steps[row, column] += steps[row - 1, column]
        running = 0.0
        for column in range(columns):
            running += steps[row, column]
            cost += running * chance[row, column]
    return cost / len(bounds), stored / len(bounds)


@njit(cache=True, nogil=True)
def finite_extent(bounds, region):
    """The node's rectangle cut down to its entries, so that lengths and areas are finite."""
    west, south, east, north = np.inf, np.inf, -np.inf, -np.inf
    for i in range(len(bounds)):
        west = min(west, max(bounds[i, 0], region[0]))
        south = min(south, max(bounds[i, 1], region[1]))
        east = max(east, min(bounds[i, 2], region[2]))
        north = max(north, min(bounds[i, 3], region[3]))
    limit = 1e30
    return max(west, -limit), max(south, -limit), min(east, limit), min(north, limit)
