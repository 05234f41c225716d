"""The invariants of the quadtrees, in plain Python: slow, and sharing nothing with the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearcast.moving._flat.messages import WORDS, WORDS_AT, Messages
from nearcast.moving.word_quadtrees._layout import (
    BELOW,
    EMPTY,
    FANOUT,
    FREE_NODE,
    FREE_PIECES,
    LONGEST_RUN,
    MERGED,
    NODE,
    NODES,
    ONE,
    POSTINGS,
    Quadtrees,
    child_of,
    run_at,
    run_length,
)
from nearcast.moving.word_quadtrees._update import where


def check_trees(trees: Quadtrees, frame: Any, messages: Messages, live: Any) -> None:
    """Each message in the trees of its words, each piece of memory with one owner."""
    expected: dict[tuple[int, int], set[int]] = {}
    for slot in live.tolist():
        size, posting = where(frame, messages, slot)
        begin = messages.head[slot, WORDS_AT]
        words = messages.words[begin : begin + messages.head[slot, WORDS]].tolist()
        for row in (0, *(word + 1 for word in words)):
            expected.setdefault((row, size), set()).add(posting)
    owned = np.zeros(trees.used[POSTINGS], np.int64)
    owned[0] = 1
    nodes = np.zeros(trees.used[NODES], np.int64)
    nodes[0] = 1
    for row, size in zip(*np.nonzero(trees.root), strict=True):
        found = _below(trees, int(trees.root[row, size]), 0, owned, nodes)
        assert len(found) == len(set(found))
        assert set(found) == expected.pop((int(row), int(size)))
    assert not expected
    for number in range(6):
        at = int(trees.used[FREE_PIECES + number])
        while at:
            owned[at : at + 2 ** (number + 1)] += 1
            at = int(trees.postings[at])
    row = int(trees.used[FREE_NODE])
    while row:
        nodes[row] += 1
        row = int(trees.nodes[row, 0])
    assert (owned == 1).all()
    assert (nodes == 1).all()


def _below(trees: Quadtrees, reference: int, level: int, owned: Any, nodes: Any) -> list[int]:
    kind = reference & 3
    if kind == ONE:
        return [reference >> 2]
    if kind != NODE:
        start, count = run_at(reference), run_length(reference)
        assert 2 <= count <= LONGEST_RUN
        size = 2
        while size < count:
            size *= 2
        owned[start : start + size] += 1
        found: list[int] = trees.postings[start : start + count].tolist()
        return found
    row = reference >> 2
    nodes[row] += 1
    found = []
    for child in range(FANOUT):
        below = int(trees.nodes[row, child])
        if below != EMPTY:
            postings = _below(trees, below, level + 1, owned, nodes)
            assert all(child_of(posting, level) == child for posting in postings)
            found += postings
    assert len(found) == trees.nodes[row, BELOW]
    assert len(found) > MERGED
    return found
