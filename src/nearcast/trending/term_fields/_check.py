"""Do the arrays of `TermFields` agree with each other?  For tests."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from nearcast.trending._nearby.documents import Documents
from nearcast.trending._nearby.places import Rules
from nearcast.trending.term_fields import _cells
from nearcast.trending.term_fields._cells import Cells
from nearcast.trending.term_fields._tree import CELL, FLOOR, LEFT, NODES, PARENT, RIGHT, Tree


def check_arrays(cells: Cells, tree: Tree, documents: Documents, rules: Rules) -> None:
    """Assert what the module docstrings of the kernels promise."""
    assert cells.ends[_cells.DIRTIES] == 0
    for c in range(int(cells.ends[_cells.CELLS])):
        _check_cell(cells, c, rules)
        node = int(cells.head[c, _cells.NODE])
        assert tree.link[node, CELL] == c
        assert tree.ball[node, FLOOR] == cells.frame[c, _cells.FLOOR]
    for node in range(int(tree.counts[NODES])):
        left, right = tree.link[node, [LEFT, RIGHT]].tolist()
        if left >= 0:
            assert tree.ball[node, FLOOR] == min(tree.ball[left, FLOOR], tree.ball[right, FLOOR])
            assert tree.link[left, PARENT] == tree.link[right, PARENT] == node
    assert not documents.mark.any()
    _check_pieces(cells)


def _check_pieces(cells: Cells) -> None:
    """What cells have of rows and of `near` is theirs alone, and within what is in use."""
    rows, nears, together = [], [], _cells.ROWS_TOGETHER
    for c in range(int(cells.ends[_cells.CELLS])):
        _, columns, _, first, room, height = cells.head[c, :6].tolist()
        rows.append((first, first + room))
        size = columns // _cells.BLOCK * together
        pieces = cells.piece[first // together : (first + room) // together].tolist()
        assert first % together == room % together == 0
        assert all(piece >= 0 for piece in pieces[: -(-height // together)])
        nears += [(piece, piece + size) for piece in pieces if piece != _cells.NO_PIECE]
    nears += _free_pieces(cells)
    for spans, end in ((rows, _cells.ROWS_END), (nears, _cells.NEARS)):
        spans.sort()
        assert all(this[1] <= following[0] for this, following in pairwise(spans))
        assert all(0 <= begin <= last <= cells.ends[end] for begin, last in spans)


def _free_pieces(cells: Cells) -> list[tuple[int, int]]:
    """Pieces of `near` that were given up."""
    found = []
    for blocks, (_, _, at, count) in enumerate(cells.free.tolist()):
        for _ in range(count):
            found.append((at, at + blocks * _cells.ROWS_TOGETHER))
            at = int(cells.near[at, 0])
    return found


def _check_members(cells: Cells, g: int) -> None:
    slot, members = cells.group[g, [_cells.FIRST, _cells.MEMBERS]].tolist()
    before = -1
    for _ in range(members):
        following = int(cells.member[slot, _cells.NEXT])
        assert cells.member[slot].tolist() == [g, following, before]
        before, slot = slot, following
    assert members > 0
    assert slot == -1


def _rooms(scores: NDArray[np.float64], mine: list[int], limit: float) -> NDArray[np.float64]:
    """How much each row may grow until a list is wrong, while others do not."""
    least, rooms = inf, np.zeros(len(scores))
    for row in mine:
        rooms[row] = limit * least - scores[row]
        least = min(least, scores[row])
    others = np.setdiff1d(np.arange(len(scores)), mine)
    rooms[others] = limit * least - scores[others]
    return rooms


def _near_of(cells: Cells, row: int, b: int) -> int:
    """Where a row has `near` and `limit` for a block of its cell."""
    together = _cells.ROWS_TOGETHER
    return int(cells.piece[row // together]) + b * together + row % together


def _check_cell(cells: Cells, c: int, rules: Rules) -> None:
    first, columns, width, row, rows, height, order, depth = cells.head[c, :8].tolist()
    assert width <= columns
    assert height <= rows
    terms = cells.term[row : row + height]
    assert len(set(terms.tolist())) == height
    block, blocks = _cells.BLOCK, -(-width // _cells.BLOCK)
    assert first % block == columns % block == 0
    at = np.array(
        [_near_of(cells, row + i, b) for b in range(blocks) for i in range(height)], np.int64
    ).reshape(blocks, height)
    nears, limits = cells.near[at], cells.limit[at]
    field = cells.field[row : row + height, : _cells.GROWN]
    if width > 0:
        next_limit = cells.field[row : row + height, _cells.NEXT_LIMIT]
        assert (next_limit <= limits.min(axis=0)).all()
    limit = 1.0 + rules.patience + 1e-9
    for j in range(width):
        g, k, listed, _ = cells.column[first + j].tolist()
        assert cells.group[g, [_cells.CELL, _cells.COLUMN]].tolist() == [c, j]
        _check_members(cells, g)
        u, v = cells.along[first + j], cells.across[first + j]
        assert np.hypot(u, v) <= cells.frame[c, _cells.REACH]
        scores = nears[j // block][:, j % block] + field @ np.array(
            [1.0, u, v, u * u, u * v, v * v]
        )
        mine = cells.order[order + j * depth : order + j * depth + listed].tolist()
        assert len(set(mine)) == listed == min(k, height)
        shown = scores[mine]
        assert (shown[1:] <= limit * np.minimum.accumulate(shown)[:-1]).all()
        grown = cells.field[row : row + height, _cells.GROWN]
        rooms = _rooms(scores, mine, limit)
        left = limits[j // block] - grown
        assert (left <= rooms + 1e-9 * scores.max(initial=0.0)).all()
        if listed == k:
            others = np.delete(scores, mine)
            assert (others <= limit * shown.min()).all()
            assert cells.frame[c, _cells.FLOOR] <= shown.min() * (1.0 + 1e-9)
