"""A quadtree whose leaves, the *cells*, have about as many subscriptions as each other.

A leaf that has too many is divided at the middle of the places that it has; so the tree needs no
border of the world and finds every cluster. Cells are half open and reach as far as the space.

    child   int32[N]      of an inner node the first of four children; of a leaf ~cell
    split   float64[N,2]  where an inner node is divided: (lon, lat) and beyond are east, north
    border  float64[C,4]  of each cell: west, south, east, north
    low, high  float64[3,C]  its box, see `_places`
    node    int32[C]      its leaf in the tree
    held    int32[C]      subscriptions it has
    first   int32[C]      one of them, -1 for none
    least   float64[C]    no subscription of it needs less nearness (Lemma 6)
    stale   int32[C]      thresholds that changed since `least` was looked up
    cell    int32[S]      where a subscription is
    after, before  int32[S]  the others of its cell, -1 at the ends
    inside  float64[S]    the way from a subscription to the border of its cell
    ends    int64[2]      nodes, cells
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.topk._flat.subscriptions import ALPHA, LAT, LON, THETA
from nearcast.topk.skype._bounds import needed_nearness
from nearcast.topk.skype._places import box_of, way_to_border

NODES, CELLS = range(2)


class Cells(NamedTuple):
    """The arrays; see the module docstring."""

    child: NDArray[np.int32]
    split: NDArray[np.float64]
    border: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    node: NDArray[np.int32]
    held: NDArray[np.int32]
    first: NDArray[np.int32]
    least: NDArray[np.float64]
    stale: NDArray[np.int32]
    cell: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    inside: NDArray[np.float64]
    ends: NDArray[np.int64]


def empty_cells(on_earth: bool, slots: int) -> Cells:
    """One cell, the whole space, with room for so many subscriptions."""
    whole = (-180.0, -90.0, 180.0, 90.0) if on_earth else (-np.inf, -np.inf, np.inf, np.inf)
    border = np.empty((8, 4))
    border[0] = whole
    cells = Cells(
        child=np.full(8, -1, np.int32),
        split=np.zeros((8, 2)),
        border=border,
        low=np.empty((3, 8)),
        high=np.empty((3, 8)),
        node=np.zeros(8, np.int32),
        held=np.zeros(8, np.int32),
        first=np.full(8, -1, np.int32),
        least=np.full(8, np.inf),
        stale=np.zeros(8, np.int32),
        cell=np.full(slots, -1, np.int32),
        after=np.full(slots, -1, np.int32),
        before=np.full(slots, -1, np.int32),
        inside=np.zeros(slots),
        ends=np.array([1, 1], np.int64),
    )
    cells.low[:2, 0] = -1.0 if on_earth else -np.inf
    cells.high[:2, 0] = 1.0 if on_earth else np.inf
    cells.low[2, 0], cells.high[2, 0] = (-1.0, 1.0) if on_earth else (0.0, 0.0)
    return cells


@njit(cache=True, nogil=True)
def leaf_of(cells, lon, lat):
    """The cell that a place is in.  O(depth)."""
    node = 0
    while cells.child[node] >= 0:
        east, north = lon >= cells.split[node, 0], lat >= cells.split[node, 1]
        node = cells.child[node] + 2 * int(east) + int(north)
    return ~cells.child[node]


@inner
def join_cell(cells, cell, slot, lon, lat, space):
    """A subscription is in a cell from now on.  O(1)."""
    border = cells.border[cell]
    cells.cell[slot] = cell
    cells.inside[slot] = way_to_border(lon, lat, border[0], border[1], border[2], border[3], space)
    other = cells.first[cell]
    cells.after[slot], cells.before[slot] = other, -1
    if other >= 0:
        cells.before[other] = slot
    cells.first[cell] = slot
    cells.held[cell] += 1


@inner
def leave_cell(cells, slot):
    """A subscription is no longer in its cell.  O(1)."""
    cell, after, before = cells.cell[slot], cells.after[slot], cells.before[slot]
    if before >= 0:
        cells.after[before] = after
    else:
        cells.first[cell] = after
    if after >= 0:
        cells.before[after] = before
    cells.held[cell] -= 1


@njit(cache=True, nogil=True)
def members_of(cells, cell):
    """The subscriptions of a cell.  O(members)."""
    members = np.empty(cells.held[cell], np.int32)
    slot = cells.first[cell]
    for i in range(len(members)):
        members[i] = slot
        slot = cells.after[slot]
    return members


@inner
def middle_of(low, high):
    """A number such that `low` is below it and `high` is not, where the two differ."""
    middle = low / 2.0 + high / 2.0
    return middle if middle > low else high


@inner
def _longer(array, size):
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger


@inner
def _taller(array, size):
    larger = np.empty((size, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@inner
def _wider(array, size):
    larger = np.empty((array.shape[0], size), array.dtype)
    larger[:, : array.shape[1]] = array
    return larger


@inner
def with_room_to_divide(cells):
    """Room for four nodes and three cells more.  Amortised O(1)."""
    nodes, count = cells.ends[NODES] + 4, cells.ends[CELLS] + 3
    child, split = cells.child, cells.split
    if nodes > len(child):
        child, split = _longer(child, 2 * nodes), _taller(split, 2 * nodes)
    if count <= len(cells.node):
        return Cells(
            child, split, cells.border, cells.low, cells.high, cells.node, cells.held,
            cells.first, cells.least, cells.stale, cells.cell, cells.after, cells.before,
            cells.inside, cells.ends,
        )  # fmt: skip
    size = 2 * count
    return Cells(
        child, split, _taller(cells.border, size), _wider(cells.low, size),
        _wider(cells.high, size), _longer(cells.node, size), _longer(cells.held, size),
        _longer(cells.first, size), _longer(cells.least, size), _longer(cells.stale, size),
        cells.cell, cells.after, cells.before, cells.inside, cells.ends,
    )  # fmt: skip


@inner
def divide_cell(cells, cell, subscriptions, space):
    """Make a cell four, one of which has its number: cells, larger perhaps.  O(members).

    The members, which are not all at one place, are moved.
    """
    members = members_of(cells, cell)
    lons, lats = subscriptions.place[:, LON][members], subscriptions.place[:, LAT][members]
    cells = with_room_to_divide(cells)
    node, first = cells.node[cell], cells.ends[NODES]
    lon, lat = middle_of(lons.min(), lons.max()), middle_of(lats.min(), lats.max())
    cells.split[node, 0], cells.split[node, 1] = lon, lat
    cells.child[node] = first
    cells.ends[NODES] += 4
    old = cells.border[cell].copy()
    for quarter in range(4):
        each = cell
        if quarter > 0:
            each = cells.ends[CELLS]
            cells.ends[CELLS] += 1
        cells.child[first + quarter] = ~each
        cells.node[each] = first + quarter
        border = cells.border[each]
        border[0], border[2] = (lon, old[2]) if quarter >= 2 else (old[0], lon)
        border[1], border[3] = (lat, old[3]) if quarter % 2 else (old[1], lat)
        box_of(
            border[0], border[1], border[2], border[3], space,
            cells.low[:, each], cells.high[:, each],
        )  # fmt: skip
        cells.held[each], cells.first[each] = 0, -1
        cells.least[each], cells.stale[each] = np.inf, 0
    for slot in members:
        lon, lat = subscriptions.place[slot, LON], subscriptions.place[slot, LAT]
        join_cell(cells, leaf_of(cells, lon, lat), slot, lon, lat, space)
    return cells


@inner
def note_threshold(cells, slot, subscriptions):
    """A subscription of a cell has a new threshold.  Amortised O(1).

    `least` may stay too low, until as many thresholds have changed as there are members.
    """
    cell = cells.cell[slot]
    need = needed_nearness(subscriptions.place[slot, ALPHA], subscriptions.place[slot, THETA])
    cells.least[cell] = min(cells.least[cell], need)
    cells.stale[cell] += 1
    if cells.stale[cell] > cells.held[cell]:
        cells.stale[cell] = 0
        least = np.inf
        each = cells.first[cell]
        while each >= 0:
            place = subscriptions.place[each]
            least = min(least, needed_nearness(place[ALPHA], place[THETA]))
            each = cells.after[each]
        cells.least[cell] = least
