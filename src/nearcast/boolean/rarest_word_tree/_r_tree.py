"""Adding an entry to the R-tree of a node.  Blocks and lanes are drawn in `_layout`."""

import numpy as np

from nearcast.boolean._records import NO_WORD
from nearcast.boolean.rarest_word_tree._layout import (
    EAST,
    HEIGHT,
    LANES,
    MOST_LANES,
    NORTH,
    NUMBER,
    SOUTH,
    TREE,
    WEST,
    WORD,
    claim_lanes,
    clear_lanes,
)
from nearcast.boolean.rarest_word_tree._pack import BOX, ENTRY, FLAGS, SLOT, write_box
from nearcast.inner import inner

# Columns of the rows that a split divides, after the box.
_NUMBER, _WORD, _ENTRY = 4, 5, 6


@inner
def _free_lane_of(ints, block):
    """A free lane of a block, or -1."""
    for position in range(block, block + MOST_LANES):
        if ints[position // LANES, NUMBER + position % LANES] < 0:
            return position
    return -1


@inner
def _cheapest_lane(shorts, ints, block, box):
    """The lane whose box grows least by this one; of equal ones, the smallest."""
    best, best_growth, best_area = block, np.int64(1) << 62, np.int64(1) << 62
    for position in range(block, block + MOST_LANES):
        line, lane = position // LANES, position % LANES
        if ints[line, NUMBER + lane] < 0:
            continue
        west, south = np.int64(shorts[line, WEST + lane]), np.int64(shorts[line, SOUTH + lane])
        east, north = np.int64(shorts[line, EAST + lane]), np.int64(shorts[line, NORTH + lane])
        area = (east - west + 1) * (north - south + 1)
        growth = (max(east, box[2]) - min(west, box[0]) + 1) * (
            max(north, box[3]) - min(south, box[1]) + 1
        ) - area
        if growth < best_growth or (growth == best_growth and area < best_area):
            best, best_growth, best_area = position, growth, area
    return best


@inner
def _widen(shorts, position, box):
    line, lane = position // LANES, position % LANES
    shorts[line, WEST + lane] = min(shorts[line, WEST + lane], box[0])
    shorts[line, SOUTH + lane] = min(shorts[line, SOUTH + lane], box[1])
    shorts[line, EAST + lane] = max(shorts[line, EAST + lane], box[2])
    shorts[line, NORTH + lane] = max(shorts[line, NORTH + lane], box[3])


@inner
def _write_row(tree, position, row, is_leaf):
    write_box(tree.lines, position, row[:4], row[_NUMBER])
    tree.lines.view(np.int32)[position // LANES, WORD + position % LANES] = row[_WORD]
    if is_leaf:
        tree.where[row[_ENTRY]] = position


@inner
def _write_rows(tree, block, rows, is_leaf):
    """Fill a block with rows; returns the box around them."""
    clear_lanes(tree.lines, block, np.int64(MOST_LANES))
    around = rows[0, :4].copy()
    for at in range(len(rows)):
        _write_row(tree, block + at, rows[at], is_leaf)
        for c in range(2):
            around[c] = min(around[c], rows[at, c])
            around[c + 2] = max(around[c + 2], rows[at, c + 2])
    return around


@inner
def _split(tree, chains, block, extra, is_leaf):
    """Divide a full block and one more row into two: (tree, new block, both boxes).

    Along the border in which the rows differ most, as new trees are packed.
    """
    shorts, ints = tree.lines.view(np.uint16), tree.lines.view(np.int32)
    rows = np.empty((MOST_LANES + 1, 7), np.int64)
    for at in range(MOST_LANES):
        line, lane = (block + at) // LANES, (block + at) % LANES
        rows[at, 0] = shorts[line, WEST + lane]
        rows[at, 1] = shorts[line, SOUTH + lane]
        rows[at, 2] = shorts[line, EAST + lane]
        rows[at, 3] = shorts[line, NORTH + lane]
        rows[at, _NUMBER] = ints[line, NUMBER + lane]
        rows[at, _WORD] = ints[line, WORD + lane]
        if is_leaf:
            entry = chains.first[rows[at, _NUMBER]]
            while tree.where[entry] != block + at:
                entry = chains.following[entry]
            rows[at, _ENTRY] = entry
    rows[MOST_LANES] = extra
    widest, spread = 0, np.int64(-1)
    for c in range(4):
        difference = rows[:, c].max() - rows[:, c].min()
        if difference > spread:
            widest, spread = c, difference
    order = np.argsort(rows[:, widest])
    half = MOST_LANES // 2
    tree, sibling = claim_lanes(tree, np.int64(MOST_LANES))
    box = _write_rows(tree, block, rows[order[:half]], is_leaf)
    sibling_box = _write_rows(tree, sibling, rows[order[half:]], is_leaf)
    return tree, sibling, box, sibling_box


@inner
def insert_lane(tree, chains, node, row, word):
    """Put an entry of the arena into a node's R-tree.  O(log n)."""
    if tree.nodes[node, TREE] == 0:
        tree, block = claim_lanes(tree, np.int64(MOST_LANES))
        tree.nodes[node, TREE], tree.nodes[node, HEIGHT] = block, 0
    height = tree.nodes[node, HEIGHT]
    path = np.empty((height + 1, 2), np.int64)  # blocks and lanes on the way down
    block = tree.nodes[node, TREE]
    box = row[BOX : BOX + 4].astype(np.int64)
    shorts, ints = tree.lines.view(np.uint16), tree.lines.view(np.int32)
    for level in range(height):
        position = _cheapest_lane(shorts, ints, block, box)
        path[level, 0], path[level, 1] = block, position
        _widen(shorts, position, box)
        block = np.int64(ints[position // LANES, NUMBER + position % LANES])
    extra = np.empty(7, np.int64)
    extra[:4] = box
    extra[_NUMBER], extra[_WORD], extra[_ENTRY] = row[SLOT], row[FLAGS] | word, row[ENTRY]
    is_leaf = True
    for level in range(height, -1, -1):
        position = _free_lane_of(tree.lines.view(np.int32), block)
        if position >= 0:
            _write_row(tree, position, extra, is_leaf)
            return tree
        tree, sibling, box, sibling_box = _split(tree, chains, block, extra, is_leaf)
        if level == 0:
            tree, top = claim_lanes(tree, np.int64(MOST_LANES))
            write_box(tree.lines, top, box, block)
            write_box(tree.lines, top + 1, sibling_box, sibling)
            tree.nodes[node, TREE] = top
            tree.nodes[node, HEIGHT] = height + 1
            return tree
        parent, position = path[level - 1]
        write_box(tree.lines, position, box, block)
        extra[:4] = sibling_box
        extra[_NUMBER], extra[_WORD] = sibling, NO_WORD
        block = parent
        is_leaf = False
    return tree
