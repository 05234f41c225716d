"""The arrays of an MBRTrie, and the few functions that may grow them.

keys    int32[N]      the word that leads to a node; ascending among the children of a node
rows    int32[N, 8]   half a cache line for each node, see the columns below; 4-7 are the float32
                      box around everything below, seen through `.view`
spans   int64[N, 2]   the lowest and the highest ID below
used    int64[4]      nodes in use, those of them that are garbage, entries, changes since built

A node is a position in the first three arrays; 0 is the root. The children of a node lie side by
side in a block of `block_room(count)` positions, so that one scan or one binary search of `keys`
finds them. A block that outgrows its room moves to the end; what it leaves is garbage until `pack`.

The entries whose words end at a node are a run of records (see `nearcast.boolean._records`), the
list of the paper's leaf; all their words are proven by the way to them.

IDs are in the order of the word sets: entries with the same words share one, a set comes before
those it is a prefix of. The ID of the entries that end at a node is the lowest of its span. IDs are
GAP apart at first; an insertion takes one between its neighbours, and `renumber` makes room again
where none is left. After removals, boxes and spans may be larger than they need be.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner

# Columns of `rows`; 4-7 are west, south, east, north, as in records.
FIRST, COUNT, RUN_START, RUN_COUNT = range(4)

# Cells of `used`.
NODES, GARBAGE, ENTRIES, CHANGES = range(4)

GAP = 1 << 32  # between IDs when they are numbered; an index holds fewer than 2**26
TOP = 1 << 62  # above all IDs


class Trie(NamedTuple):
    """The arrays; see the module docstring."""

    keys: NDArray[np.int32]
    rows: NDArray[np.int32]
    spans: NDArray[np.int64]
    used: NDArray[np.int64]


def empty_trie(room: int = 16) -> Trie:
    """A trie of a root alone, around nothing, with its own ID set aside."""
    trie = Trie(
        np.zeros(room, np.int32),
        np.zeros((room, 8), np.int32),
        np.zeros((room, 2), np.int64),
        np.array([1, 0, 0, 0], np.int64),
    )
    trie.keys[0] = -1
    trie.rows.view(np.float32)[0, 4:8] = (np.inf, np.inf, -np.inf, -np.inf)
    trie.spans[0] = GAP
    return trie


@njit(cache=True, nogil=True)
def block_room(count):
    """Positions a block of `count` children owns: exact below 16, then an eighth of slack."""
    step = 1
    while 16 * step <= count:
        step *= 2
    return (count + step - 1) // step * step


@njit(cache=True, nogil=True, inline="always")
def copy_node(trie, node, target, to):
    """Copy a node to a place in the same or another trie; loops compile faster than slices."""
    target.keys[to] = trie.keys[node]
    for column in range(8):
        target.rows[to, column] = trie.rows[node, column]
    target.spans[to, 0], target.spans[to, 1] = trie.spans[node, 0], trie.spans[node, 1]


@inner
def reserve(trie, more):
    """The trie with room for so many more nodes; grows by half.  O(1) amortised."""
    nodes = trie.used[NODES]
    if nodes + more <= len(trie.keys):
        return trie
    room = max(nodes + more, len(trie.keys) + len(trie.keys) // 2)
    keys = np.zeros(room, np.int32)
    rows = np.zeros((room, 8), np.int32)
    spans = np.zeros((room, 2), np.int64)
    wider = Trie(keys, rows, spans, trie.used)
    for node in range(nodes):
        copy_node(trie, node, wider, node)
    return wider


@njit(cache=True, nogil=True, inline="always")
def lower_bound(values, low, high, value):
    """The first position in ascending values[low:high] that is not below `value`.  O(log n)."""
    length = high - low
    while length > 0:
        half = length >> 1
        above = values[low + half] < value
        low += (half + 1) * above
        length = (length - half - 1) if above else half
    return low


@njit(cache=True, nogil=True, inline="always")
def find_child(keys, low, high, word):
    """`lower_bound` among different whole numbers, whose ends already narrow the search.

    Ranks are dense where nodes have many children, so that little is left to search there.
    """
    lowest, highest = keys[low], keys[high - 1]
    if word <= lowest:
        return low
    if word > highest:
        return high
    return lower_bound(
        keys, max(low, high - 1 - (highest - word)), min(high, low + (word - lowest)), word
    )
