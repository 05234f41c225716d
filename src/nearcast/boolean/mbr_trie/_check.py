"""Every invariant of an MBRTrie, asserted in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import (
    ENTRY,
    FORBIDS,
    MORE,
    MOST_PROVEN,
    NO_WORD,
    SLOT,
    WORD_A,
    WORD_B,
    run_room,
)
from nearcast.boolean.mbr_trie._layout import (
    COUNT,
    ENTRIES,
    FIRST,
    GARBAGE,
    NODES,
    RUN_COUNT,
    RUN_START,
    Trie,
    block_room,
)


def check_trie(
    trie: Trie, records: NDArray[np.int32], clauses: Clauses, expected: NDArray[np.int32]
) -> dict[int, int]:
    """Assert that just the `expected` records are there, each at the end of its words.

    Returns the ID of each entry.
    """
    walk = _Walk(trie, records, clauses, expected)
    walk.below(0, ())
    assert set(walk.ids) == set(expected[:, ENTRY].tolist())
    assert trie.used[ENTRIES] == len(expected)
    assert walk.positions == trie.used[NODES] - trie.used[GARBAGE]
    return walk.ids


class _Walk:
    def __init__(
        self,
        trie: Trie,
        records: NDArray[np.int32],
        clauses: Clauses,
        expected: NDArray[np.int32],
    ) -> None:
        self.trie = trie
        self.records = records
        self.clauses = clauses
        self.expected = {int(row[ENTRY]): row for row in expected}
        self.boxes = trie.rows.view(np.float32)[:, 4:8]
        self.ids: dict[int, int] = {}
        self.runs: set[int] = set()
        self.positions = 1

    def below(self, root: int, start: tuple[int, ...]) -> None:
        """Check every node; a stack, because a clause may have thousands of words."""
        waiting = [(root, start)]
        while waiting:
            node, words = waiting.pop()
            row = self.trie.rows[node]
            low, high = self.trie.spans[node].tolist()
            assert low <= high
            first, count = int(row[FIRST]), int(row[COUNT])
            assert row[RUN_COUNT] > 0 or count > 0 or node == 0
            self.run(node, words)
            keys = self.trie.keys[first : first + count].tolist()
            assert keys == sorted(set(keys))
            assert all(key > word for key in keys[:1] for word in words[-1:])
            before = low if row[RUN_COUNT] or node == 0 else low - 1
            for child in range(first, first + count):
                assert before < self.trie.spans[child, 0]
                before = int(self.trie.spans[child, 1])
                assert self.holds(node, self.boxes[child])
                waiting.append((child, (*words, int(self.trie.keys[child]))))
            assert before <= high
            self.positions += block_room(count)

    def run(self, node: int, words: tuple[int, ...]) -> None:
        start, count = self.trie.rows[node, RUN_START], self.trie.rows[node, RUN_COUNT]
        places = set(range(start, start + run_room(count))) if count else set()
        assert not places & self.runs
        self.runs |= places
        for row in self.records[start : start + count]:
            entry = int(row[ENTRY])
            assert entry not in self.ids
            self.ids[entry] = int(self.trie.spans[node, 0])
            begin = int(self.clauses.start[entry])
            terms = self.clauses.terms[begin : begin + int(self.clauses.required[entry])]
            assert tuple(terms.tolist()) == words
            if len(words) <= MOST_PROVEN:
                assert row[WORD_A] & NO_WORD == row[WORD_B] == NO_WORD
                assert not row[WORD_A] & MORE
            assert bool(row[WORD_A] & FORBIDS) == bool(self.clauses.forbidden[entry])
            assert row[SLOT] == self.clauses.slot[entry]
            assert (row[4:8] == self.expected[entry][4:8]).all()
            assert self.holds(node, row[4:8].view(np.float32))

    def holds(self, node: int, other: NDArray[np.float32]) -> bool:
        box = self.boxes[node]
        return bool((box[:2] <= other[:2]).all() and (box[2:] >= other[2:]).all())
