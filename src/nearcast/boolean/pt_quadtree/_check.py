"""Every invariant of a PT-Quadtree, asserted in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    FORBIDS,
    MORE,
    NO_WORD,
    RUN,
    SHAPED,
    SHARED,
    SLOT,
    WORD_A,
    WORD_B,
    run_room,
)
from nearcast.boolean.mbr_trie._layout import block_room
from nearcast.boolean.pt_quadtree._layout import (
    BELOW,
    COVER,
    DEAD,
    ENTRIES,
    FIRST,
    LEVEL,
    LOOSE_TOKENS,
    MIDDLE_X,
    MIDDLE_Y,
    NODES,
    OWN,
    PARENT,
    TAIL,
    TOKENS,
    WITH_WORDS,
    WITHOUT_WORDS,
    Quadtree,
    Settings,
)
from nearcast.boolean.pt_quadtree._lists import TAIL_MOST, Lists


def check_quadtree(
    quadtree: Quadtree,
    lists: Lists,
    clauses: Clauses,
    settings: Settings,
    expected: NDArray[np.int32],
    ids: dict[int, int],
) -> None:
    """Assert that the lists hold just the `expected` records, wherever a message looks for them."""
    walk = _Walk(quadtree, lists, clauses, settings, expected, ids)
    required = clauses.required[expected[:, ENTRY]]
    for root, entries in (
        (WITH_WORDS, expected[required > 0, ENTRY]),
        (WITHOUT_WORDS, expected[required == 0, ENTRY]),
    ):
        assert quadtree.nodes[root, PARENT] == -1
        walk.below(root, set(entries.tolist()), [], root == WITH_WORDS)
    assert walk.visited == quadtree.used[NODES]
    assert walk.tokens == quadtree.used[TOKENS] - quadtree.used[LOOSE_TOKENS]
    assert quadtree.used[ENTRIES] == len(expected)


class _Walk:
    def __init__(
        self,
        quadtree: Quadtree,
        lists: Lists,
        clauses: Clauses,
        settings: Settings,
        expected: NDArray[np.int32],
        ids: dict[int, int],
    ) -> None:
        self.quadtree = quadtree
        self.lists = lists
        self.clauses = clauses
        self.settings = settings
        self.expected = {int(row[ENTRY]): row for row in expected}
        self.ids = ids
        self.places: set[int] = set()
        self.visited = 0
        self.tokens = 0

    def below(self, node: int, entries: set[int], above: list[int], has_words: bool) -> None:
        """Check a cell that the entries touch, and everything below."""
        self.visited += 1
        for column in (OWN, COVER, BELOW):
            words = self.words(node, column)
            assert words == sorted(set(words))
            self.tokens += block_room(len(words))
        first = int(self.quadtree.nodes[node, FIRST])
        here = entries
        if first:
            parts = {entry: self.touched(node, entry) for entry in entries}
            here = set()
            if self.settings.is_smallest_cell:
                here = {entry for entry, part in parts.items() if len(part) > 1}
            for child in range(4):
                assert self.quadtree.nodes[first + child, PARENT] == node
                level = self.quadtree.places[first + child, LEVEL]
                assert level == self.quadtree.places[node, LEVEL] + 1 <= self.settings.most_levels
                inside = {entry for entry in entries - here if child in parts[entry]}
                self.below(first + child, inside, [*above, node], has_words)
        assert self.held(node) == here
        if has_words:
            for entry in here:
                assert any(self.leads_to(word, node, above) for word in self.terms(entry))

    def leads_to(self, word: int, node: int, above: list[int]) -> bool:
        """Does a message with this word get to the list of the cell, whatever else it has?"""
        for cell in above:
            if word in self.words(cell, COVER):
                return True
            if word not in self.words(cell, BELOW):
                return False
        return word in self.words(node, OWN)

    def held(self, node: int) -> set[int]:
        """The entries of a cell's own list, each record of it checked."""
        reference = int(self.quadtree.lists[node])
        tail, dead = self.quadtree.nodes[node, TAIL], self.quadtree.nodes[node, DEAD]
        if reference == EMPTY:
            assert tail == dead == 0
            return set()
        assert reference & 3 == RUN
        start, count = reference >> 28, (reference >> 2) & 0x3FFFFFF
        places = set(range(start, start + run_room(count)))
        assert not places & self.places
        self.places |= places
        rows = self.lists.records[start : start + count]
        ids = self.lists.ids[start : start + count].tolist()
        ordered = list(zip(ids, rows[:, ENTRY].tolist(), strict=True))[: count - tail]
        assert ordered == sorted(ordered)
        assert tail <= TAIL_MOST
        is_dead = np.isnan(rows.view(np.float32)[:, 4])
        assert is_dead.sum() == dead == is_dead[: count - tail].sum()
        live = rows[~is_dead, ENTRY].tolist()
        for at in np.flatnonzero(~is_dead).tolist():
            assert ids[at] == self.ids[int(rows[at, ENTRY])]
            self.record(rows[at])
        assert len(set(live)) == len(live)
        return set(live)

    def record(self, row: NDArray[np.int32]) -> None:
        entry = int(row[ENTRY])
        terms = self.terms(entry)
        shown = [word for word in (row[WORD_A] & NO_WORD, row[WORD_B]) if word != NO_WORD]
        assert sorted(shown) == terms[:2]
        assert bool(row[WORD_A] & MORE) == (len(terms) > 2)
        assert bool(row[WORD_A] & FORBIDS) == bool(self.clauses.forbidden[entry])
        same = np.int32(SHAPED | SHARED)
        assert row[WORD_A] & same == self.expected[entry][WORD_A] & same
        assert row[SLOT] == self.clauses.slot[entry]
        assert (row[4:8] == self.expected[entry][4:8]).all()

    def touched(self, node: int, entry: int) -> set[int]:
        """The children that the closed bounds of the entry touch."""
        west, south, east, north = self.expected[entry][4:8].view(np.float32).tolist()
        x, y = self.quadtree.places[node, MIDDLE_X], self.quadtree.places[node, MIDDLE_Y]
        columns = {0} if east < x else {1} if west >= x else {0, 1}
        rows = {0} if north < y else {1} if south >= y else {0, 1}
        return {2 * row + column for row in rows for column in columns}

    def words(self, node: int, column: int) -> list[int]:
        start, count = self.quadtree.nodes[node, column : column + 2].tolist()
        words: list[int] = self.quadtree.tokens[start : start + count].tolist()
        return words

    def terms(self, entry: int) -> list[int]:
        start = int(self.clauses.start[entry])
        terms: list[int] = self.clauses.terms[
            start : start + int(self.clauses.required[entry])
        ].tolist()
        return terms
