"""The arrays of a RarestWordTree, and the functions that give out and take back their room.

lines       uint64[L, 8]   cache lines, each with room for four lanes, see below
root        int64[V+1]     references by keyword rank + 1; root[0] is for entries that are found by
                           place alone: without a keyword, or with a first one that is BY_PLACE
nodes       int64[N, 8]    long lists, see the columns below
child_word  int32[C]       a node's children: their keywords, ascending
child       int64[C]       and their references
where       int32[E]       the lane of each entry, counted through all lines
used        int64[16]      how much of each array is in use, what is free, how many entries

A lane is 16 bytes: a box, a number and a word. Lanes that are looked at together lie so that one
instruction compares them: of `width` lanes, all west borders, then all south, east and north ones,
16 bits each (15 used, see `_frame`), then their numbers and their words, 32 bits each. `width` is
16 in a *block*, four lines, and 4, a line, in anything smaller. So two of the four lines of a block
tell that a place does not meet it.

In a leaf a word is the next keyword to check, or the next two (PAIR), with the flags of `_records`;
a number is a subscription's slot, or, if MORE or FORBIDS says that the clause itself is needed, the
entry. In an inner block a number is the lane where a block begins. A free lane has a box that
nothing meets and the number -1.

A reference is an int64 whose two low bits say what it points to:
    0 nothing · 1 a run of up to 16 lanes: first lane << 28 | count << 2 · 2 a node (row << 2)
    3 nothing here: the entries of this keyword are below root[0]
A run owns 1, 2, 4, 8 or 16 lanes and has its free ones at the end; 16 are a block, and one of 1 or
2 shares its line with others. A node owns an R-tree of blocks, whose leaves may have free lanes
anywhere, and children: references by the next keyword. Room is given out in blocks, of which
smaller pieces are halves of halves; free pieces are chained by the word of their first lane.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._records import NO_WORD
from nearcast.inner import inner, leaf
from nearcast.prefetch import prefetch_row

NODE, BY_PLACE = 2, 3  # kinds of reference, beside EMPTY and RUN of `_records`
LANES = 4  # of a line
BLOCK = 4  # lines of a block
MOST_LANES = LANES * BLOCK
HALF_BLOCK = MOST_LANES // 2  # lanes: a run with more entries is a block
SHORTS, INTS = 8, 4  # of a lane

# Two words in the place of one, where they are small enough: first * SECOND_OF_PAIR + second.
PAIR = -(1 << 31)
FIRST_OF_PAIR, SECOND_OF_PAIR = (1 << 15) - 1, 1 << 12

# Columns of `nodes`.
TREE, HEIGHT, OWN, OWN_BUILT, CHILDREN_AT, CHILD_COUNT = range(6)

# Cells of `used`: lengths, children that belong to no node, entries, a free node (0 for none), and
# the first free piece of 1, 2, 4, 8 and 16 lanes (0 for none). And how many steps the space has.
LINES, NODES, CHILDREN, LOST_CHILDREN, ENTRIES, FREE_NODE, FREE_LANES = range(7)
STEPS_X, STEPS_Y = FREE_LANES + 5, FREE_LANES + 6


class Tree(NamedTuple):
    """The arrays; see the module docstring."""

    lines: NDArray[np.uint64]
    root: NDArray[np.int64]
    nodes: NDArray[np.int64]
    child_word: NDArray[np.int32]
    child: NDArray[np.int64]
    where: NDArray[np.int32]
    used: NDArray[np.int64]


def empty_tree(steps: tuple[int, int]) -> Tree:
    """A tree without entries in a frame of so many steps.

    The first block and node 0 are never given out: 0 means none.
    """
    used = np.zeros(16, np.int64)
    used[LINES], used[NODES] = BLOCK, 1
    used[STEPS_X], used[STEPS_Y] = steps
    return Tree(
        aligned_lines(16),
        np.zeros(1, np.int64),
        np.zeros((4, 8), np.int64),
        np.empty(16, np.int32),
        np.empty(16, np.int64),
        np.empty(16, np.int32),
        used,
    )


@njit(cache=True, nogil=True)
def aligned_lines(count):
    """Lines that begin where the processor's do: a line that straddles two costs two misses."""
    room = np.empty(8 * count + 8, np.uint64)
    skip = (-(room.ctypes.data // 8)) % 8
    return room[skip : skip + 8 * count].reshape(count, 8)


@inner
def with_room(tree, lines, nodes, children):
    """The tree with room for so many more of each; grows by a quarter.  O(1) amortised."""
    used = tree.used
    new_lines, new_nodes = tree.lines, tree.nodes
    new_word, new_child = tree.child_word, tree.child
    need = used[LINES] + lines
    if need > len(new_lines):
        new_lines = aligned_lines(max(need, len(new_lines) + len(new_lines) // 4))
        new_lines[: used[LINES]] = tree.lines[: used[LINES]]
    need = used[NODES] + nodes
    if need > len(new_nodes):
        new_nodes = np.empty((max(need, len(new_nodes) + len(new_nodes) // 4 + 4), 8), np.int64)
        new_nodes[: used[NODES]] = tree.nodes[: used[NODES]]
    need = used[CHILDREN] + children
    if need > len(new_child):
        room = max(need, len(new_child) + len(new_child) // 4)
        new_word, new_child = np.empty(room, np.int32), np.empty(room, np.int64)
        new_word[: used[CHILDREN]] = tree.child_word[: used[CHILDREN]]
        new_child[: used[CHILDREN]] = tree.child[: used[CHILDREN]]
    return Tree(new_lines, tree.root, new_nodes, new_word, new_child, tree.where, used)


@njit(cache=True, nogil=True)
def lanes_for(count):
    """How many lanes a run of so many entries owns: 1, 2, 4, 8 or 16."""
    lanes = 1
    while lanes < count:
        lanes *= 2
    return lanes


@njit(cache=True, nogil=True, inline="always")
def width_for(count):
    """How many lanes of a run of so many entries lie together."""
    return MOST_LANES if count > HALF_BLOCK else LANES


@njit(cache=True, nogil=True)
def border_at(position, width):
    """Where, among all 16-bit numbers, the west border of a lane is; the others follow, `width`
    apart."""
    lane = position & (width - 1)
    return SHORTS * (position - lane) + lane


@njit(cache=True, nogil=True)
def number_at(position, width):
    """Where, among all 32-bit numbers, the number of a lane is; its word is `width` after it."""
    lane = position & (width - 1)
    return INTS * (position - lane) + 2 * width + lane


@njit(cache=True, nogil=True, inline="always")
def shorts_of(lines):
    """Lines as 16-bit numbers."""
    return lines.reshape(-1).view(np.int16)


@njit(cache=True, nogil=True, inline="always")
def ints_of(lines):
    """Lines as 32-bit numbers."""
    return lines.reshape(-1).view(np.int32)


@njit(cache=True, nogil=True)
def claim_lanes(tree, size):
    """`size` free lanes (1, 2, 4, 8 or 16) side by side: (tree, the first).  O(1) amortised.

    Fewer than a block are a part of a larger piece, whose other half becomes free.
    """
    piece = size
    while piece < MOST_LANES and not tree.used[free_cell(piece)]:
        piece *= 2
    start = tree.used[free_cell(piece)]
    if start:
        following = ints_of(tree.lines)[_next_free(start)]
        tree.used[free_cell(piece)] = following
        prefetch_row(tree.lines, following // LANES)  # the next one to be claimed, most likely
    else:
        tree = with_room(tree, np.int64(BLOCK), np.int64(0), np.int64(0))
        start = LANES * tree.used[LINES]
        tree.used[LINES] += BLOCK
    while piece > size:
        piece //= 2
        release_lanes(tree, start + piece, piece)
    clear_lanes(tree.lines, start, size, width_for(size))
    return tree, start


@leaf
def free_cell(size):
    """The cell of `used` with the first free piece of so many lanes."""
    cell = FREE_LANES
    while size > 1:
        size //= 2
        cell += 1
    return cell


@leaf
def _next_free(start):
    """Where a free piece says which one is free after it: the word of its first lane."""
    return number_at(start, LANES) + LANES


@njit(cache=True, nogil=True)
def release_lanes(tree, start, size):
    """Give lanes back."""
    ints_of(tree.lines)[_next_free(start)] = tree.used[free_cell(size)]
    tree.used[free_cell(size)] = start


@leaf
def clear_lanes(lines, start, size, width):
    """Make some lanes free ones."""
    shorts, ints = shorts_of(lines), ints_of(lines)
    for position in range(start, start + size):
        border, number = border_at(position, width), number_at(position, width)
        shorts[border] = shorts[border + width] = 32767
        shorts[border + 2 * width] = shorts[border + 3 * width] = 0
        ints[number] = -1
        ints[number + width] = NO_WORD


@njit(cache=True, nogil=True, inline="always")
def prefetch_block(lines, block):
    """Ask for the boxes and numbers of a block."""
    for line in range(BLOCK - 1):
        prefetch_row(lines, block // LANES + line)


@inner
def claim_node(tree):
    """A row of `nodes`, cleared: (tree, row).  O(1) amortised."""
    row = tree.used[FREE_NODE]
    if row:
        tree.used[FREE_NODE] = tree.nodes[row, 0]
    else:
        tree = with_room(tree, np.int64(0), np.int64(1), np.int64(0))
        row = tree.used[NODES]
        tree.used[NODES] += 1
    tree.nodes[row] = 0
    return tree, row


@inner
def release_node(tree, row):
    """Give a node back, and its children's places."""
    tree.used[LOST_CHILDREN] += tree.nodes[row, CHILD_COUNT]
    tree.nodes[row, 0] = tree.used[FREE_NODE]
    tree.used[FREE_NODE] = row


@njit(cache=True, nogil=True, inline="always")
def get_reference(tree, holder):
    """What hangs at root[holder], or at child[~holder] for a negative one."""
    return tree.root[holder] if holder >= 0 else tree.child[~holder]


@njit(cache=True, nogil=True, inline="always")
def set_reference(tree, holder, reference):
    if holder >= 0:
        tree.root[holder] = reference
    else:
        tree.child[~holder] = reference


@leaf
def find_child(tree, row, word):
    """Where the child of a keyword is, or -1.  O(log children)."""
    low = tree.nodes[row, CHILDREN_AT]
    high = low + tree.nodes[row, CHILD_COUNT]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if tree.child_word[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and tree.child_word[low] == word else -1
