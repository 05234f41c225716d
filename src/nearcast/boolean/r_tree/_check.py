"""Every invariant of an R-tree with inverted lists, asserted in plain Python."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import (
    ENTRY,
    FORBIDS,
    MORE,
    MOST_PROVEN,
    NO_WORD,
    SHAPED,
    SHARED,
    SLOT,
    WORD_A,
    WORD_B,
)
from nearcast.boolean.r_tree._layout import (
    ALWAYS,
    COUNT,
    ENTRIES,
    FREE_LEAF,
    FREE_NODE,
    GARBAGE,
    HEIGHT,
    LEAVES,
    LIST_ROOM,
    LIST_START,
    LIST_WORDS,
    NO_KEY,
    NO_WORD_HERE,
    NOBODY,
    NODES,
    PARENT,
    ROOT,
    ROWS,
    RTree,
    Settings,
)
from nearcast.boolean.r_tree._lists import (
    ALL_WORDS,
    COUNTED_WORDS,
    FIRST,
    LONE,
    ONE_WORD,
    SECOND,
    WORD,
    find_row,
)

Sets = dict[int, NDArray[np.int32]]


def check_tree(
    tree: RTree, clauses: Clauses, settings: Settings, expected: NDArray[np.int32]
) -> None:
    """Assert that the tree holds just the `expected` records, each where a message looks for it."""
    walk = _Walk(tree, clauses, settings, expected)
    root = int(tree.used[ROOT])
    assert tree.nodes[root, PARENT] == NOBODY
    held = walk.node(root)
    assert sorted(held) == sorted(expected[:, ENTRY].tolist())
    assert tree.used[ENTRIES] == len(expected)
    assert (tree.homes != NOBODY).sum() == len(held)
    free_nodes = _chain(tree.nodes, int(tree.used[FREE_NODE]))
    free_leaves = _chain(tree.leaves, int(tree.used[FREE_LEAF]))
    assert sorted(walk.nodes + free_nodes) == list(range(tree.used[NODES]))
    assert sorted(walk.leaves + free_leaves) == list(range(tree.used[LEAVES]))
    rooms = sorted(
        (int(tree.nodes[n, LIST_START]), int(tree.nodes[n, LIST_ROOM])) for n in walk.nodes
    )
    assert all(a + room <= b for (a, room), (b, _) in itertools.pairwise(rooms))
    assert sum(room for _, room in rooms) + tree.used[GARBAGE] == tree.used[ROWS]


def _chain(rows: NDArray[np.int32], first: int) -> list[int]:
    """What waits for use."""
    found = []
    while first != NOBODY:
        found.append(first)
        first = int(rows[first, PARENT])
    return found


class _Walk:
    def __init__(
        self, tree: RTree, clauses: Clauses, settings: Settings, expected: NDArray[np.int32]
    ) -> None:
        self.tree = tree
        self.clauses = clauses
        self.settings = settings
        self.expected = {int(row[ENTRY]): row for row in expected}
        self.nodes: list[int] = []
        self.leaves: list[int] = []

    def node(self, node: int) -> list[int]:
        """The entries below a node, everything below it checked."""
        self.nodes.append(node)
        row = self.tree.nodes[node]
        height, count = int(row[HEIGHT]), int(row[COUNT])
        sets = self.sets(row)
        held = []
        if row[PARENT] == NOBODY:
            assert count >= (2 if height > 1 else 0)
        else:
            assert count >= 1
        for position in range(count):
            branch = node * self.settings.fanout + position
            child = int(self.tree.children[branch])
            if height == 1:
                assert self.tree.leaves[child, PARENT] == branch
                entries = self.leaf(child)
            else:
                assert self.tree.nodes[child, PARENT] == branch
                assert self.tree.nodes[child, HEIGHT] == height - 1
                entries = self.node(child)
            box = self.tree.boxes[branch]
            for entry in entries:
                bounds = self.expected[entry].view(np.float32)[4:8]
                assert (box[:2] <= bounds[:2]).all()
                assert (box[2:] >= bounds[2:]).all()
                self.is_listed(entry, sets, int(row[ALWAYS]), height, position)
            held += entries
        return held

    def sets(self, row: NDArray[np.int32]) -> Sets:
        """The inverted lists of a node, by word."""
        start, room = int(row[LIST_START]), int(row[LIST_ROOM])
        sets: Sets = {}
        for i in range(start, start + room):
            word = int(self.tree.lists[i, WORD])
            named = int(np.bitwise_or.reduce(self.tree.lists[i, LONE:]))
            assert 0 <= named < 1 << int(row[COUNT])
            if word == NO_WORD_HERE:
                assert named == 0
                continue
            assert word not in sets
            assert find_row(self.tree.lists, start, room, word) == i
            sets[word] = self.tree.lists[i]
        assert len(sets) == row[LIST_WORDS]
        assert len(sets) < room
        return sets

    def is_listed(self, entry: int, sets: Sets, always: int, height: int, child: int) -> None:
        terms = self.terms(entry)
        if not terms:
            assert always >> child & 1
            return
        for word, column in listed(terms, height, self.settings.listing):
            assert sets[word][column] >> child & 1

    def leaf(self, leaf: int) -> list[int]:
        self.leaves.append(leaf)
        capacity = self.settings.leaf_capacity
        first, count = leaf * capacity, int(self.tree.leaves[leaf, COUNT])
        assert 1 <= count <= capacity
        assert not self.tree.records[first + count : first + capacity].any()
        for home in range(first, first + count):
            self.record(home)
        entries: list[int] = self.tree.records[first : first + count, ENTRY].tolist()
        return entries

    def record(self, home: int) -> None:
        row, keys = self.tree.records[home], self.tree.keys[home].tolist()
        entry = int(row[ENTRY])
        assert self.tree.homes[entry] == home
        terms = self.terms(entry)
        most = {ALL_WORDS: 0, ONE_WORD: 1}.get(self.settings.listing, 2)
        rarest = terms[::-1][:most]
        assert keys == rarest + [NO_KEY] * (2 - len(rarest))
        left = [word for i, word in enumerate(terms) if word not in rarest or i >= MOST_PROVEN]
        shown = [word for word in (row[WORD_A] & NO_WORD, row[WORD_B]) if word != NO_WORD]
        assert set(shown) <= set(left)
        assert len(set(shown)) == len(shown) == min(2, len(left))
        assert bool(row[WORD_A] & MORE) == (len(left) > 2)
        assert bool(row[WORD_A] & FORBIDS) == bool(self.clauses.forbidden[entry])
        same = np.int32(SHAPED | SHARED)
        assert row[WORD_A] & same == self.expected[entry][WORD_A] & same
        assert (row[4:8] == self.expected[entry][4:8]).all()
        assert row[SLOT] == self.clauses.slot[entry]

    def terms(self, entry: int) -> list[int]:
        start = int(self.clauses.start[entry])
        terms: list[int] = self.clauses.terms[
            start : start + int(self.clauses.required[entry])
        ].tolist()
        assert terms == sorted(set(terms))
        return terms


def listed(terms: list[int], height: int, listing: int) -> list[tuple[int, int]]:
    """Under which words, and in which of their sets, a node of that height lists an entry."""
    if listing == ALL_WORDS:
        return [(word, LONE) for word in terms]
    if listing == COUNTED_WORDS:
        return [(word, min(len(terms), 3)) for word in terms]
    if listing == ONE_WORD or len(terms) == 1:
        return [(terms[-1], LONE)]
    others = terms[-2::-1]  # the rarer first
    return [(terms[-1], FIRST), (others[(height - 1) % len(others)], SECOND)]
