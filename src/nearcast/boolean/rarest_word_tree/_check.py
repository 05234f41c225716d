"""Is everything where it should be?  For tests; plain Python, slow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import EMPTY, FORBIDS, MORE, RUN, run_count, run_start
from nearcast.boolean.rarest_word_tree._layout import (
    BY_PLACE,
    CHILD_COUNT,
    CHILDREN,
    CHILDREN_AT,
    ENTRIES,
    FREE_LANES,
    FREE_NODE,
    HEIGHT,
    LANES,
    LINES,
    LOST_CHILDREN,
    MOST_LANES,
    NODES,
    OWN,
    TREE,
    Tree,
    border_at,
    lanes_for,
    number_at,
    width_for,
)
from nearcast.boolean.rarest_word_tree._pack import BOX, ENTRY, FLAGS, SLOT, lane_word
from nearcast.boolean.subscription_store import Chains


def check_tree(tree: Tree, clauses: Clauses, chains: Chains, expected: NDArray[np.int32]) -> None:
    """Assert that the tree holds the entries of this arena, each in the right place, once."""
    walker = _Walker(tree, clauses, expected)
    for word in range(len(tree.root)):
        walker.check_list(int(tree.root[word]), [] if word == 0 else [word - 1])
    assert walker.seen == set(walker.rows), "entries are missing"
    assert tree.used[ENTRIES] == len(expected)
    walker.check_room()


class _Walker:
    """Goes through all lists, and notes what they own."""

    def __init__(self, tree: Tree, clauses: Clauses, expected: NDArray[np.int32]) -> None:
        self.tree = tree
        self.clauses = clauses
        self.rows = {int(row[ENTRY]): row for row in expected}
        self.at = {int(tree.where[entry]): entry for entry in self.rows}
        self.shorts = tree.lines.reshape(-1).view(np.int16)
        self.ints = tree.lines.reshape(-1).view(np.int32)
        self.seen: set[int] = set()
        self.lanes: list[int] = [*range(MOST_LANES)]
        self.nodes: list[int] = [0]
        self.children = 0

    def check_list(self, reference: int, path: list[int]) -> None:
        if reference in (EMPTY, BY_PLACE):
            return
        if reference & 3 == RUN:
            start, count = run_start(reference), run_count(reference)
            self.lanes += range(start, start + lanes_for(count))
            for position in range(start, start + lanes_for(count)):
                width = width_for(count)
                assert (self.number(position, width) >= 0) == (position < start + count)
                if position < start + count:
                    self.check_lane(position, width, path)
            return
        row = reference >> 2
        node = self.tree.nodes[row]
        self.nodes.append(row)
        before = len(self.seen)
        words: list[int] = []
        if node[TREE]:
            box = self.check_block(int(node[TREE]), int(node[HEIGHT]), path, words)
            assert box is not None
        assert node[OWN] == len(self.seen) - before
        begin, count = int(node[CHILDREN_AT]), int(node[CHILD_COUNT])
        self.children += count
        keys = self.tree.child_word[begin : begin + count].tolist()
        assert keys == sorted(set(keys))
        assert not set(keys) & set(words), "an entry beside the child it belongs to"
        for key, child in zip(keys, self.tree.child[begin : begin + count].tolist(), strict=True):
            self.check_list(child, [*path, key])

    def check_block(
        self, block: int, height: int, path: list[int], words: list[int]
    ) -> NDArray[np.int64]:
        """Check a block of an R-tree; returns the box around what it holds."""
        self.lanes += range(block, block + MOST_LANES)
        around = np.array([32767, 32767, 0, 0])
        for position in range(block, block + MOST_LANES):
            box = self.box(position, MOST_LANES)
            child = self.number(position, MOST_LANES)
            if child < 0:
                assert box.tolist() == [32767, 32767, 0, 0]
                continue
            if height == 0:
                words.append(self.check_lane(position, MOST_LANES, path))
            else:
                inner = self.check_block(child, height - 1, path, words)
                assert (box[:2] <= inner[:2]).all()
                assert (box[2:] >= inner[2:]).all()
            around[:2] = np.minimum(around[:2], box[:2])
            around[2:] = np.maximum(around[2:], box[2:])
        return around

    def check_lane(self, position: int, width: int, path: list[int]) -> int:
        """Check an entry's lane; returns the keyword it has to check, -1 for none."""
        entry = self.at[position]
        assert entry not in self.seen, "an entry twice"
        self.seen.add(entry)
        row = self.rows[entry]
        begin = int(self.clauses.start[entry])
        terms = self.clauses.terms[begin : begin + int(self.clauses.required[entry])].tolist()
        assert terms[::-1][: len(path)] == path
        if terms and not path:
            assert self.tree.root[terms[-1] + 1] == BY_PLACE
        assert self.box(position, width).tolist() == row[BOX : BOX + 4].tolist()
        word = int(lane_word(self.clauses, entry, len(path))) | int(row[FLAGS])
        assert self.ints[number_at(position, width) + width] == word
        assert self.number(position, width) == (entry if word & (MORE | FORBIDS) else row[SLOT])
        rest = terms[: len(terms) - len(path)]
        return rest[-1] if rest else -1

    def number(self, position: int, width: int) -> int:
        return int(self.ints[number_at(position, width)])

    def box(self, position: int, width: int) -> NDArray[np.int64]:
        return self.shorts[border_at(position, width) + width * np.arange(4)].astype(np.int64)

    def check_room(self) -> None:
        """Every lane and node is owned once or free."""
        used = self.tree.used
        for cell, size in enumerate((1, 2, 4, 8, 16), FREE_LANES):
            start = int(used[cell])
            while start:
                self.lanes += range(start, start + size)
                start = int(self.ints[number_at(start, LANES) + LANES])
        row = int(used[FREE_NODE])
        while row:
            self.nodes.append(row)
            row = int(self.tree.nodes[row, 0])
        assert sorted(self.lanes) == list(range(LANES * used[LINES])), "lanes lost, or owned twice"
        assert sorted(self.nodes) == list(range(used[NODES])), "nodes lost, or owned twice"
        assert self.children == used[CHILDREN] - used[LOST_CHILDREN]
