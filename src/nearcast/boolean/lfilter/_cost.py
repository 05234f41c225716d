"""What matching a message would cost, in nanoseconds, before and while it is done (section 5.3).

leaves   float64[32, 32]   lists below each cell of a grid over the frame, row by row; the paper's
                           k-th level of the quadtree, with k = 5

The paper compares numbers of steps. Steps differ: one of a binary search in a long list waits for
memory, one of looking at records that lie side by side does not. The defaults of `Costs` were
measured with 200,000 and a million subscriptions; only their ratios matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import EMPTY
from nearcast.boolean.mbr_trie._layout import COUNT, FIRST, RUN_COUNT, Trie
from nearcast.boolean.pt_quadtree._layout import FIRST as FIRST_CELL
from nearcast.boolean.pt_quadtree._layout import LEVEL, MOST_WAITING, NODES, WITH_WORDS, Quadtree
from nearcast.inner import inner

GRID_LEVEL = 5
GRID = 1 << GRID_LEVEL
TOUCH = 1e-6  # so that a message as thin as a line overlaps something


class Costs(NamedTuple):
    """What single steps cost, in nanoseconds.

    - `key_step`: of a binary search among children or words
    - `list_step`: of a binary search in a list
    - `node`: to get to a trie node
    - `cell`: to get to a cell of the quadtree and look for a word in its sets
    - `record`: to look at a record whose words are proven
    - `check`: to look at a record and its words, of a short message
    - `check_word`: and more for each word of the message
    """

    key_step: float = 3.0
    list_step: float = 14.0
    node: float = 30.0
    cell: float = 100.0
    record: float = 2.0
    check: float = 2.5
    check_word: float = 0.01


class Estimates(NamedTuple):
    """What is known of an average message before it is looked at.

    - `list_length`: records in a list that a point message finds
    - `cells`: lists that a point message finds
    - `levels`: levels of the quadtree above them
    - `run_length`: records at the root's child for a word, as often as the word occurs
    - `frame`, `leaves`: the grid
    """

    list_length: float
    cells: float
    levels: float
    run_length: float
    frame: NDArray[np.float64]
    leaves: NDArray[np.float64]


def no_estimates() -> Estimates:
    """For an index that was never built: everything is small."""
    return Estimates(0.0, 1.0, 0.0, 0.0, np.zeros(4), np.zeros((GRID, GRID)))


def estimates_of(
    trie: Trie,
    quadtree: Quadtree,
    shares: NDArray[np.float64],
    frame: NDArray[np.float64],
    is_smallest_cell: bool,
) -> Estimates:
    """Measure the two structures; `shares` is how often each word occurs.  O(nodes + words)."""
    nodes = quadtree.used[NODES]
    length = (quadtree.lists[:nodes] >> 2) & 0x3FFFFFF
    total = max(1, int(length.sum()))
    # Messages are where subscriptions are, and have the words that subscriptions have.
    levels = float((length * quadtree.places[:nodes, LEVEL]).sum() / total)
    first, count = trie.rows[0, FIRST], trie.rows[0, COUNT]
    runs = np.zeros(len(shares))
    runs[trie.keys[first : first + count]] = trie.rows[first : first + count, RUN_COUNT]
    return Estimates(
        float((length * length).sum() / total),
        levels + 1 if is_smallest_cell else 1.0,
        levels,
        float((runs * shares).sum() / max(1e-9, shares.sum())),
        frame,
        leaf_grid(quadtree),
    )


@njit(cache=True, nogil=True)
def leaf_grid(quadtree):
    """How many lists there are below each cell of the grid; larger cells are spread.  O(nodes)."""
    leaves = np.zeros((GRID, GRID), np.float64)
    waiting = np.empty(
        (MOST_WAITING, 4), np.int64
    )  # cell, its column and row, levels left to the grid
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = WITH_WORDS, 0, 0, GRID_LEVEL
    depth = 1
    while depth:
        depth -= 1
        cell, column = waiting[depth, 0], waiting[depth, 1]
        row, left = waiting[depth, 2], waiting[depth, 3]
        if quadtree.lists[cell] != EMPTY:
            side = 1 << left
            x, y = column << left, row << left
            for j in range(y, y + side):
                for i in range(x, x + side):
                    leaves[j, i] += 1.0 / (side * side)
        first = quadtree.nodes[cell, FIRST_CELL]
        if first == 0:
            continue
        for child in range(4):
            waiting[depth, 0] = first + child
            if left:
                waiting[depth, 1] = 2 * column + (child & 1)
                waiting[depth, 2] = 2 * row + (child >> 1)
                waiting[depth, 3] = left - 1
            else:
                waiting[depth, 1], waiting[depth, 2], waiting[depth, 3] = column, row, 0
            depth += 1
    return leaves


@njit(cache=True, nogil=True, inline="always")
def steps(size):
    """Of a binary search among so many."""
    return 1.0 + np.log2(size)


@njit(cache=True, nogil=True)
def expected_lists(estimates, x0, y0, x1, y1):
    """How many lists a message will find in the quadtree (cand_Q).  O(grid).

    The paper multiplies the leaves of each cell of the grid by the share of it that the message
    overlaps. That misses the leaves that are touched at the message's border, most of them where
    messages are no larger than leaves: here the leaves' number gives their usual size, and this
    how many lie in a row across the message.
    """
    if x0 == x1 and y0 == y1:
        return estimates.cells
    frame, leaves = estimates.frame, estimates.leaves
    width, height = (frame[2] - frame[0]) / GRID, (frame[3] - frame[1]) / GRID
    if width <= 0 or height <= 0:
        return estimates.cells
    low_x, high_x = on_grid(x0, frame[0], width), on_grid(x1, frame[0], width)
    low_y, high_y = on_grid(y0, frame[1], height), on_grid(y1, frame[1], height)
    inside, area = 0.0, 0.0
    for row in range(int(low_y), min(GRID, int(high_y) + 1)):
        deep = min(high_y, row + 1.0) - max(low_y, row * 1.0) + TOUCH
        for column in range(int(low_x), min(GRID, int(high_x) + 1)):
            wide = min(high_x, column + 1.0) - max(low_x, column * 1.0) + TOUCH
            inside += leaves[row, column] * wide * deep
            area += wide * deep
    if area == 0.0:
        return estimates.cells
    in_a_row = np.sqrt(inside / area)
    return estimates.cells * (1 + in_a_row * (high_x - low_x)) * (1 + in_a_row * (high_y - low_y))


@inner
def on_grid(value, begin, side):
    """Where a coordinate is on the grid."""
    return min(max((value - begin) / side, 0.0), GRID * 1.0)


@inner
def check_cost(costs, words):
    """Of looking at a record and its words (Eq. 6)."""
    return costs.check + costs.check_word * words


@inner
def find_cost(costs, children, words):
    """Of finding the children that there are words for, by SELECTPAIR."""
    if children == 0 or words == 0:
        return 0.0
    return costs.key_step * min(children, words) * steps(max(children, words))


@inner
def search_cost(costs, length):
    """Of finding a node's IDs in a list: where they begin, and nearby where they end."""
    return costs.list_step * (steps(length + 1) + 3)


@njit(cache=True, nogil=True)
def trie_cost(costs, estimates, children, words):
    """Of the MBRTrie alone (Eq. 1 and 2).

    The first level counts: lower ones have far fewer nodes that a message has the words for.
    """
    by_word = costs.node + costs.record * estimates.run_length
    return find_cost(costs, children, words) + min(words, children) * by_word


@njit(cache=True, nogil=True)
def quadtree_cost(costs, estimates, children, words, lists):
    """Of the quadtree's filter (Eq. 3) and of what then is cheaper (Eq. 5 or 6)."""
    length = estimates.list_length
    search = lists * search_cost(costs, length)
    by_word = costs.node + min(costs.record * estimates.run_length, search)
    check = min(
        lists * length * check_cost(costs, words),
        find_cost(costs, children, words) + min(words, children) * by_word,
    )
    return lists * estimates.levels * costs.cell + check
