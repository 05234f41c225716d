"""Do the arrays of `TermFields` agree with each other?  For tests."""

from __future__ import annotations

import numpy as np

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


def _check_members(cells: Cells, g: int) -> None:
    slot, members = cells.group[g, [_cells.FIRST, _cells.MEMBERS]].tolist()
    before = -1
    for _ in range(members):
        following = int(cells.member[slot, _cells.NEXT])
        assert cells.member[slot].tolist() == [g, following, before]
        before, slot = slot, following
    assert members > 0
    assert slot == -1


def _check_cell(cells: Cells, c: int, rules: Rules) -> None:
    first, columns, width, row, rows, height, near, order, depth = cells.head[c, :9].tolist()
    assert width <= columns
    assert height <= rows
    terms = cells.term[row : row + height]
    assert len(set(terms.tolist())) == height
    field = cells.field[row : row + height, : _cells.SLACK]
    limit = 1.0 + rules.patience + 1e-9
    for j in range(width):
        g, k, listed, _ = cells.column[first + j].tolist()
        assert cells.group[g, [_cells.CELL, _cells.COLUMN]].tolist() == [c, j]
        _check_members(cells, g)
        u, v = cells.at[first + j, [_cells.ALONG_U, _cells.ALONG_V]].tolist()
        assert np.hypot(u, v) <= cells.frame[c, _cells.REACH]
        scores = cells.near[near + j : near + j + height * columns : columns] + field @ np.array(
            [1.0, u, v, u * u, u * v, v * v]
        )
        mine = cells.order[order + j * depth : order + j * depth + listed].tolist()
        assert len(set(mine)) == listed == min(k, height)
        shown = scores[mine]
        assert (shown[1:] <= limit * np.minimum.accumulate(shown)[:-1]).all()
        if listed == k:
            others = np.delete(scores, mine)
            assert (others <= limit * shown.min()).all()
            assert cells.frame[c, _cells.FLOOR] <= shown.min() * (1.0 + 1e-9)
