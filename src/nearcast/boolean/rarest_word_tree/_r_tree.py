"""Adding an entry to the R-tree of a node.  Blocks and lanes are drawn in `_layout`."""

import numpy as np

from nearcast.boolean._records import NO_WORD
from nearcast.boolean.rarest_word_tree._layout import (
    HEIGHT,
    MOST_LANES,
    TREE,
    border_at,
    claim_lanes,
    clear_lanes,
    ints_of,
    number_at,
    shorts_of,
)
from nearcast.boolean.rarest_word_tree._pack import (
    BOX,
    ENTRY,
    entry_in,
    number_and_word,
    write_box,
)
from nearcast.inner import inner, leaf

# Columns of the rows that a split divides, after the box.
_NUMBER, _WORD, _ENTRY = 4, 5, 6


@leaf
def _free_lane_of(ints, block):
    """A free lane of a block, or -1."""
    numbers = number_at(block, MOST_LANES)
    for lane in range(MOST_LANES):
        if ints[numbers + lane] < 0:
            return block + lane
    return -1


@leaf
def _box_in(shorts, position):
    """The box of a lane of a block."""
    border = border_at(position, MOST_LANES)
    return (
        np.int64(shorts[border]),
        np.int64(shorts[border + MOST_LANES]),
        np.int64(shorts[border + 2 * MOST_LANES]),
        np.int64(shorts[border + 3 * MOST_LANES]),
    )


@leaf
def _cheapest_lane(shorts, ints, block, box):
    """The lane whose box grows least by this one; of equal ones, the smallest."""
    best, best_growth, best_area = block, np.int64(1) << 62, np.int64(1) << 62
    numbers = number_at(block, MOST_LANES)
    for lane in range(MOST_LANES):
        if ints[numbers + lane] < 0:
            continue
        west, south, east, north = _box_in(shorts, block + lane)
        area = (east - west + 1) * (north - south + 1)
        growth = (max(east, box[2]) - min(west, box[0]) + 1) * (
            max(north, box[3]) - min(south, box[1]) + 1
        ) - area
        if growth < best_growth or (growth == best_growth and area < best_area):
            best, best_growth, best_area = block + lane, growth, area
    return best


@leaf
def _widen(lines, position, box):
    west, south, east, north = _box_in(shorts_of(lines), position)
    shorts, border = shorts_of(lines), border_at(position, MOST_LANES)
    shorts[border] = min(west, box[0])
    shorts[border + MOST_LANES] = min(south, box[1])
    shorts[border + 2 * MOST_LANES] = max(east, box[2])
    shorts[border + 3 * MOST_LANES] = max(north, box[3])


@inner
def _write_row(tree, position, row, is_leaf):
    write_box(tree.lines, position, MOST_LANES, row[:4], row[_NUMBER])
    ints_of(tree.lines)[number_at(position, MOST_LANES) + MOST_LANES] = row[_WORD]
    if is_leaf:
        tree.where[row[_ENTRY]] = position


@inner
def _write_rows(tree, block, rows, is_leaf):
    """Fill a block with rows; returns the box around them."""
    clear_lanes(tree.lines, block, np.int64(MOST_LANES), MOST_LANES)
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
    shorts, ints = shorts_of(tree.lines), ints_of(tree.lines)
    rows = np.empty((MOST_LANES + 1, 7), np.int64)
    for at in range(MOST_LANES):
        number = number_at(block + at, MOST_LANES)
        rows[at, 0], rows[at, 1], rows[at, 2], rows[at, 3] = _box_in(shorts, block + at)
        rows[at, _NUMBER] = ints[number]
        rows[at, _WORD] = ints[number + MOST_LANES]
        if is_leaf:
            rows[at, _ENTRY] = entry_in(tree, chains, block + at, MOST_LANES)
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


@leaf
def next_block(lines, block, row):
    """The block below an inner one that an entry of the arena goes to."""
    shorts, ints = shorts_of(lines), ints_of(lines)
    position = _cheapest_lane(shorts, ints, block, row[BOX : BOX + 4])
    return np.int64(ints[number_at(position, MOST_LANES)])


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
    shorts, ints = shorts_of(tree.lines), ints_of(tree.lines)
    for level in range(height):
        position = _cheapest_lane(shorts, ints, block, box)
        path[level, 0], path[level, 1] = block, position
        _widen(tree.lines, position, box)
        block = np.int64(ints[number_at(position, MOST_LANES)])
    extra = np.empty(7, np.int64)
    extra[:4] = box
    extra[_NUMBER], extra[_WORD] = number_and_word(row, word)
    extra[_ENTRY] = row[ENTRY]
    is_leaf = True
    for level in range(height, -1, -1):
        position = _free_lane_of(ints_of(tree.lines), block)
        if position >= 0:
            _write_row(tree, position, extra, is_leaf)
            return tree
        tree, sibling, box, sibling_box = _split(tree, chains, block, extra, is_leaf)
        if level == 0:
            tree, top = claim_lanes(tree, np.int64(MOST_LANES))
            write_box(tree.lines, top, MOST_LANES, box, block)
            write_box(tree.lines, top + 1, MOST_LANES, sibling_box, sibling)
            tree.nodes[node, TREE] = top
            tree.nodes[node, HEIGHT] = height + 1
            return tree
        parent, position = path[level - 1]
        write_box(tree.lines, position, MOST_LANES, box, block)
        extra[:4] = sibling_box
        extra[_NUMBER], extra[_WORD] = sibling, NO_WORD
        block = parent
        is_leaf = False
    return tree
