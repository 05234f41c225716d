"""Every invariant of an AP-Tree, asserted in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    FORBIDS,
    MORE,
    MOST_PROVEN,
    NO_WORD,
    RUN,
    SHAPED,
    SHARED,
    SLOT,
    WORD_A,
    WORD_B,
)
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    ENTRIES,
    HEIGHT,
    KEY_START,
    KEYWORD_NODE,
    OFFSET,
    RECORDS,
    ROOT,
    WEIGHT,
    WIDTH,
    Tree,
)

Entry = int


def check_tree(
    tree: Tree,
    clauses: Clauses,
    expected: NDArray[np.int32],
    world: NDArray[np.float64],
) -> None:
    """Assert that the tree holds just the `expected` records, each where a message looks for it."""
    walk = _Walk(tree, clauses, expected)
    held = walk.below(int(tree.used[ROOT]), frozenset(), tuple(world.tolist()))
    assert held == set(expected[:, ENTRY].tolist())
    assert tree.used[ENTRIES] == len(expected)
    assert walk.records <= tree.used[RECORDS]


class _Walk:
    def __init__(self, tree: Tree, clauses: Clauses, expected: NDArray[np.int32]) -> None:
        self.tree = tree
        self.clauses = clauses
        self.expected = {int(row[ENTRY]): row for row in expected}
        self.bounds = {int(row[ENTRY]): row.view(np.float32)[4:8].tolist() for row in expected}
        self.records = 0

    def below(
        self, reference: int, proven: frozenset[int], region: tuple[float, ...]
    ) -> set[Entry]:
        """The entries below a reference, everything below it checked."""
        what = reference & 3
        if what == EMPTY:
            return set()
        if what == RUN:
            return self.leaf(reference, proven)
        node = self.tree.nodes[reference >> 2]
        if what == KEYWORD_NODE:
            return self.keyword_node(node, proven, region)
        return self.spatial_node(node, proven, region)

    def leaf(self, reference: int, proven: frozenset[int]) -> set[Entry]:
        start, count = reference >> 28, (reference >> 2) & 0x3FFFFFF
        assert count > 0
        self.records += count
        rows = self.tree.records[start : start + count]
        for row in rows:
            entry = int(row[ENTRY])
            terms = self.terms(entry)
            left = [word for i, word in enumerate(terms) if i not in proven]
            shown = [word for word in (row[WORD_A] & NO_WORD, row[WORD_B]) if word != NO_WORD]
            assert set(shown) <= set(left)
            assert len(set(shown)) == len(shown) == min(2, len(left))
            assert bool(row[WORD_A] & MORE) == (len(left) > 2)
            assert bool(row[WORD_A] & FORBIDS) == bool(self.clauses.forbidden[entry])
            same = np.int32(SHAPED | SHARED)
            assert row[WORD_A] & same == self.expected[entry][WORD_A] & same
            assert (row[4:8] == self.expected[entry][4:8]).all()
            assert row[SLOT] == self.clauses.slot[entry]
        entries = set(rows[:, ENTRY].tolist())
        assert len(entries) == count
        return entries

    def keyword_node(
        self, node: NDArray[np.int32], proven: frozenset[int], region: tuple[float, ...]
    ) -> set[Entry]:
        cuts, first, offset = int(node[WIDTH]), int(node[CHILD_START]), int(node[OFFSET])
        keys = self.tree.keys[node[KEY_START] : node[KEY_START] + 2 * cuts].tolist()
        assert keys == sorted(keys)
        assert all(keys[i] < keys[i + 1] for i in range(1, len(keys) - 1, 2))
        held: set[Entry] = set()
        for i in range(cuts + 2):
            now = proven
            if i < cuts and keys[2 * i] == keys[2 * i + 1] and offset < MOST_PROVEN:
                now = proven | {offset}
            entries = self.below(int(self.tree.children[first + i]), now, region)
            assert self.tree.weights[first + i, 0] == len(entries)
            for entry in entries:
                terms = self.terms(entry)
                if i == cuts + 1:
                    assert len(terms) <= offset
                elif i == cuts:
                    word = terms[offset]
                    assert not any(keys[j] <= word <= keys[j + 1] for j in range(0, 2 * cuts, 2))
                else:
                    assert keys[2 * i] <= terms[offset] <= keys[2 * i + 1]
            assert not held & entries
            held |= entries
        assert node[WEIGHT] == len(held)
        return held

    def spatial_node(
        self, node: NDArray[np.int32], proven: frozenset[int], region: tuple[float, ...]
    ) -> set[Entry]:
        columns, rows = int(node[WIDTH]), int(node[HEIGHT])
        first, edge = int(node[CHILD_START]), int(node[KEY_START])
        xs = self.tree.edges[edge : edge + columns - 1].tolist()
        ys = self.tree.edges[edge + columns - 1 : edge + columns + rows - 2].tolist()
        assert xs == sorted(set(xs))
        assert ys == sorted(set(ys))
        west, south, east, north = region
        lefts, rights = [west, *xs], [*xs, east]
        bottoms, tops = [south, *ys], [*ys, north]
        cells = []
        for row in range(rows):
            for column in range(columns):
                at = first + row * columns + column
                cell = (lefts[column], bottoms[row], rights[column], tops[row])
                cells.append(self.below(int(self.tree.children[at]), proven, cell))
                assert self.tree.weights[at, 0] == len(cells[-1])
        dummy = self.below(int(self.tree.children[first + columns * rows]), proven, region)
        assert self.tree.weights[first + columns * rows, 0] == len(dummy)
        held = set.union(dummy, *cells)
        for entry in held:
            box = self.bounds[entry]
            contains = box[0] <= west and box[1] <= south and box[2] >= east and box[3] >= north
            assert contains == (entry in dummy)
            wanted = set()
            if not contains:
                for row in range(_slab(ys, box[1]), _slab(ys, box[3]) + 1):
                    for column in range(_slab(xs, box[0]), _slab(xs, box[2]) + 1):
                        wanted.add(row * columns + column)
            assert wanted == {i for i, entries in enumerate(cells) if entry in entries}
        assert node[WEIGHT] == len(dummy) + sum(len(entries) for entries in cells)
        return held

    def terms(self, entry: Entry) -> list[int]:
        start = int(self.clauses.start[entry])
        terms: list[int] = self.clauses.terms[
            start : start + int(self.clauses.required[entry])
        ].tolist()
        assert terms == sorted(set(terms))
        return terms


def _slab(lines: list[float], value: float) -> int:
    return sum(line <= value for line in lines)
