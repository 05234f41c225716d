"""Building lists, long and short, from an arena of entries (see `_pack`).

chance  float32[V]    the probability that a message has each keyword, by rank
tasks   int64[T, 4]   begin, end, depth, holder: arena[begin:end] have their `depth` rarest keywords
                      in common, and what is built from them hangs at `holder` (see `_layout`)
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY, run_reference
from nearcast.boolean.rarest_word_tree._layout import (
    BY_PLACE,
    CHILD_COUNT,
    CHILDREN,
    CHILDREN_AT,
    HEIGHT,
    MOST_LANES,
    NODE,
    OWN,
    OWN_BUILT,
    STEPS_X,
    STEPS_Y,
    TREE,
    claim_lanes,
    claim_node,
    lanes_for,
    set_reference,
    width_for,
    with_room,
)
from nearcast.boolean.rarest_word_tree._pack import (
    BOX,
    ENTRY,
    KEY,
    lane_word,
    next_word,
    pack,
    write_lane,
)
from nearcast.inner import inner

LEAST_CHILD = 2
# What things cost, in looks at an entry beside others:
CHILD_COST = 16.0  # to go to a child: its lines are elsewhere
WORD_COST = 4.0  # to ask for the word of an entry that the place meets


@njit(cache=True, nogil=True)
def build_all(tree, clauses, chance, arena):
    """Hang all entries of the arena at the roots of their rarest keywords.  O(n log n)."""
    count = len(arena)
    begin = np.zeros(len(tree.root) + 1, np.int64)
    for i in range(count):
        word = next_word(clauses, arena[i, ENTRY], 0) + 1
        arena[i, KEY] = 0 if tree.root[word] == BY_PLACE else word
        begin[arena[i, KEY] + 1] += 1
    for word in range(len(tree.root)):
        begin[word + 1] += begin[word]
    ordered = np.empty_like(arena)
    fill = begin.copy()
    for i in range(count):
        ordered[fill[arena[i, KEY]]] = arena[i]
        fill[arena[i, KEY]] += 1
    for word in range(len(tree.root)):
        if begin[word] < begin[word + 1]:
            tree = build(
                tree, clauses, chance, ordered, begin[word], begin[word + 1], min(word, 1), word
            )
    return tree


@inner
def write_run(tree, clauses, arena, begin, end, depth):
    """A run of arena[begin:end]: (tree, reference)."""
    if begin == end:
        return tree, np.int64(EMPTY)
    tree, start = claim_lanes(tree, lanes_for(end - begin))
    width = width_for(end - begin)
    for i in range(begin, end):
        word = lane_word(clauses, arena[i, ENTRY], depth)
        write_lane(tree, arena[i], start + i - begin, width, word)
    return tree, run_reference(start, end - begin)


@inner
def _met_by_place(tree, arena, begin, end):
    """Of entries arranged by place, the share that a message looks at, and the share it meets.

    A leaf of n entries is about sqrt(leaf / n) of the space wider than a region.
    """
    area = 0.0
    for i in range(begin, end):
        width = arena[i, BOX + 2] - arena[i, BOX] + 1
        height = arena[i, BOX + 3] - arena[i, BOX + 1] + 1
        area += np.float64(width) * height
    area /= np.float64(tree.used[STEPS_X]) * tree.used[STEPS_Y] * (end - begin)
    side = np.sqrt(area) + np.sqrt(MOST_LANES / (end - begin))
    return min(1.0, side * side), min(1.0, area)


@inner
def _divide(tree, clauses, chance, arena, begin, end, depth):
    """Bring entries that are better found by their next keyword behind the others.

    Returns where they begin, and the groups: (keyword, begin, end), by keyword.  O(n log n).
    """
    count = end - begin
    for i in range(begin, end):
        arena[i, KEY] = next_word(clauses, arena[i, ENTRY], depth)
    order = np.argsort(arena[begin:end, KEY], kind="mergesort")
    ordered = np.empty((count, 8), np.int32)
    for i in range(count):
        ordered[i] = arena[begin + order[i]]
    groups = np.empty((count // LEAST_CHILD, 3), np.int64)
    found, own, low = 0, begin, 0
    looked_at, met = _met_by_place(tree, arena, begin, end)
    while low < count:
        high = low
        while high < count and ordered[high, KEY] == ordered[low, KEY]:
            high += 1
        word, size = ordered[low, KEY], high - low
        likely = chance[word] if 0 <= word < len(chance) else 0.0
        by_place = size * (looked_at + WORD_COST * met)
        if word >= 0 and size >= LEAST_CHILD and likely * (size + CHILD_COST) < by_place:
            groups[found, 0], groups[found, 1], groups[found, 2] = ordered[low, KEY], low, high
            found += 1
        else:
            arena[own : own + high - low] = ordered[low:high]
            own += high - low
        low = high
    at = own
    for g in range(found):
        low, high = groups[g, 1], groups[g, 2]
        arena[at : at + high - low] = ordered[low:high]
        groups[g, 1], groups[g, 2] = at, at + high - low
        at += high - low
    return own, groups[:found]


@inner
def build(tree, clauses, chance, arena, begin, end, depth, holder):
    """Hang arena[begin:end] at `holder`, where nothing hangs.  O(n log n) a level.

    Entries of the arena are reordered.
    """
    tasks = np.empty((16, 4), np.int64)
    tasks[0] = begin, end, depth, holder
    waiting = 1
    while waiting:
        waiting -= 1
        low, high, depth, holder = tasks[waiting]
        if high - low <= MOST_LANES:
            tree, reference = write_run(tree, clauses, arena, low, high, depth)
            set_reference(tree, holder, reference)
            continue
        own, groups = high, np.empty((0, 3), np.int64)
        if depth > 0:  # else by place alone
            own, groups = _divide(tree, clauses, chance, arena, low, high, depth)
        tree, row = claim_node(tree)
        tree = with_room(tree, np.int64(0), np.int64(0), len(groups))
        first = tree.used[CHILDREN]
        tree.used[CHILDREN] += len(groups)
        node = tree.nodes[row]
        node[CHILDREN_AT], node[CHILD_COUNT] = first, len(groups)
        node[OWN] = node[OWN_BUILT] = own - low
        set_reference(tree, holder, (row << 2) | NODE)
        if own > low:
            tree, block, height = pack(tree, clauses, arena, low, own, depth)
            tree.nodes[row, TREE], tree.nodes[row, HEIGHT] = block, height
        if waiting + len(groups) > len(tasks):
            wider = np.empty((2 * (waiting + len(groups)), 4), np.int64)
            wider[:waiting] = tasks[:waiting]
            tasks = wider
        for g in range(len(groups)):
            tree.child_word[first + g] = groups[g, 0]
            tree.child[first + g] = EMPTY
            tasks[waiting] = groups[g, 1], groups[g, 2], depth + 1, ~(first + g)
            waiting += 1
    return tree
