"""An R-tree put together by hand, so that a test can have the very tree of a figure.

["q1", "q2"]                  a leaf with these subscriptions
[["q1", "q2"], ["q3"]]        a node with such leaves; nodes of nodes as well, all equally deep
"""

import numpy as np
import pyarrow as pa

from nearcast.boolean._records import SLOT, records_of
from nearcast.boolean.r_tree._build import write_record
from nearcast.boolean.r_tree._divide import box_around
from nearcast.boolean.r_tree._layout import (
    COUNT,
    ENTRIES,
    HEIGHT,
    ROOT,
    attach,
    empty_tree,
    new_leaf,
    new_node,
)
from nearcast.boolean.r_tree._lists import LONE, WORD, list_node


def hang_by_hand(index, description):
    """Give the index the described tree instead of its own."""
    expected = records_of(index._store.all_entries())
    hand = _Hand(index, expected)
    hand.tree.used[ENTRIES] = len(expected)
    root = int(hand.tree.used[ROOT])
    hand.tree.nodes[root, HEIGHT] = _height(description)
    hand.fill(root, description)
    index._tree = hand.tree
    return index


def token_sets(index, node):
    """The words listed for each child of a node."""
    words = index._store.words_by_rank().to_pylist()
    start, room = index._tree.nodes[node, 4:6]
    rows = [row for row in index._tree.lists[start : start + room] if row[LONE:].any()]
    return [
        {words[row[WORD]] for row in rows if (row[LONE:] >> child & 1).any()}
        for child in range(index._tree.nodes[node, COUNT])
    ]


class _Hand:
    def __init__(self, index, expected):
        self.store, self.settings = index._store, index._settings
        self.expected = expected
        self.tree = empty_tree(self.settings, len(self.store.clauses.slot))

    def fill(self, node, parts):
        for part in parts:
            rows = self.rows(_ids(part))
            box = box_around(self.expected.view(np.float32)[:, 4:8].copy(), rows)
            if isinstance(part[0], str):
                self.tree, child = new_leaf(self.tree, self.settings)
            else:
                self.tree, child = new_node(self.tree, self.settings, _height(part))
            attach(self.tree, self.settings, node, child, box)
            if isinstance(part[0], str):
                for row in rows:
                    record = self.expected[row]
                    write_record(self.tree, self.store.clauses, self.settings, child, record)
            else:
                self.fill(child, part)
        self.tree = list_node(self.tree, self.store.clauses, self.settings, node)

    def rows(self, ids):
        slots = self.store.ids.find(pa.array(ids))
        return np.flatnonzero(np.isin(self.expected[:, SLOT], slots))


def _height(part):
    return 0 if isinstance(part[0], str) else 1 + _height(part[0])


def _ids(part):
    return part if isinstance(part[0], str) else [id_ for below in part for id_ in _ids(below)]
