"""The invariants of m-lists, in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearcast.boolean._records import EMPTY, RUN
from nearcast.boolean.ap_tree._layout import CHILD_START, CHILDREN, ROOT, Tree
from nearcast.boolean.ap_tree._update import children_of
from nearcast.moving._flat.messages import Messages
from nearcast.moving.ap_plus_tree._lists import (
    CHUNKS,
    COUNT,
    FREE,
    HELD,
    LONGEST,
    NEXT,
    POSTINGS,
    MessageLists,
    posting_of,
)


def check_lists(tree: Tree, lists: MessageLists, messages: Messages, live: Any) -> None:
    """Each chunk has one owner, each list a place in the tree, each live message a list."""
    assert len(lists.first) > tree.used[CHILDREN]
    owned = np.zeros(lists.used[CHUNKS], np.int64)
    owned[0] = 1
    held: set[int] = set()
    total = 0
    for position in (-1, *_positions(tree)):
        at = int(lists.first[position + 1])
        postings: list[int] = []
        while at:
            owned[at] += 1
            count = int(lists.chunks[at, COUNT])
            assert 1 <= count <= LONGEST
            postings += lists.chunks[at, POSTINGS : POSTINGS + count].tolist()
            at = int(lists.chunks[at, NEXT])
        total += len(postings)
        held |= set(postings)
    at = int(lists.used[FREE])
    while at:
        owned[at] += 1
        at = int(lists.chunks[at, NEXT])
    assert (owned == 1).all()
    assert total == lists.used[HELD]
    assert {posting_of(messages, slot) for slot in live.tolist()} <= held


def _positions(tree: Tree) -> list[int]:
    """All child positions of the tree."""
    positions: list[int] = []
    waiting = [int(tree.used[ROOT])]
    while waiting:
        reference = waiting.pop()
        if reference & 3 in (EMPTY, RUN):
            continue
        node = tree.nodes[reference >> 2]
        first = int(node[CHILD_START])
        below = range(first, first + int(children_of(node, reference & 3)))
        positions += below
        waiting += [int(tree.children[child]) for child in below]
    return positions
