"""An AP-Tree put together by hand, so that a test can have the very tree of a figure.

Leaf("a", "b")                                    subscriptions a and b
Cuts(0, {("w1", "w1"): ..., ("w2", "w3"): ...})   a k-node at offset 0; `dummy` is what has no word
Cells([0], [0], {(column, row): ...})             an s-node with these lines; `dummy` contains it
"""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from nearcast.batches import MessageBatch
from nearcast.boolean import APTree
from nearcast.boolean._records import (
    SLOT,
    records_of,
)
from nearcast.boolean.ap_tree._build import (
    new_node,
    write_leaf,
)
from nearcast.boolean.ap_tree._layout import (
    EDGES,
    ENTRIES,
    KEYS,
    KEYWORD_NODE,
    ROOT,
    SPATIAL_NODE,
    WEIGHT,
    WEIGHT_BUILT,
    empty_tree,
    reserve,
)
from nearcast.text.order import TermOrder


class Leaf:
    def __init__(self, *ids):
        self.ids = list(ids)


@dataclass
class Cuts:
    offset: int
    cuts: dict
    dummy: object = field(default_factory=Leaf)


@dataclass
class Cells:
    xs: list
    ys: list
    cells: dict
    dummy: object = field(default_factory=Leaf)


@dataclass
class Alphabetical(TermOrder):
    """The words of an index in the order of the alphabet, as the papers' w1, w2, w3."""

    words: list

    def order(self, frequency):
        return np.argsort(self.words, kind="stable")


def in_alphabetical_order(batch, **options):
    """An index of the batch's subscriptions whose keywords are in the order of the alphabet."""
    index = APTree(space=batch.space, order=Alphabetical(batch.lexicon.to_pylist()), **options)
    index.insert_batch(batch)
    index.rebuild()
    return index


def hang_by_hand(index, description):
    """Give the index the described tree instead of its own."""
    expected = records_of(index._store.all_entries())
    hand = _Hand(index, expected)
    hand.tree.used[ENTRIES] = len(expected)
    hand.hang(description, -1, 0)
    index._tree = hand.tree
    return index


class _Hand:
    def __init__(self, index, expected):
        self.store = index._store
        self.expected = expected
        self.tree = empty_tree()
        words = index._store.words_by_rank().to_pylist()
        self.rank = {word: rank for rank, word in enumerate(words)}

    def hang(self, what, position, proven):
        """Write what is described below `position`; returns how many entries it holds."""
        match what:
            case Leaf():
                arena = self.records(what)
                self.tree = write_leaf(
                    self.tree, self.store.clauses, arena, 0, len(arena), proven, position
                )
            case Cuts():
                self.cuts(what, position, proven)
            case Cells():
                self.cells(what, position, proven)
        return len(self.records(what))

    def records(self, what):
        """The distinct records below."""
        ids = _ids_below(what)
        slots = self.store.ids.find(pa.array(ids)) if ids else np.empty(0, np.int32)
        return self.expected[np.isin(self.expected[:, SLOT], slots)]

    def cuts(self, what, position, proven):
        cuts = len(what.cuts)
        self.tree = reserve(self.tree, 1, 2 * cuts, 0, cuts + 2, 0)
        start = int(self.tree.used[KEYS])
        self.tree.used[KEYS] += 2 * cuts
        ranges = [(self.rank[low], self.rank[high]) for low, high in what.cuts]
        self.tree.keys[start : start + 2 * cuts] = np.ravel(ranges)
        first = new_node(
            self.tree, KEYWORD_NODE, start, cuts, 0, cuts + 2, what.offset, 0, position
        )
        weights = []
        for i, ((low, high), below) in enumerate(zip(ranges, what.cuts.values(), strict=True)):
            known = proven | (1 << what.offset) if low == high else proven
            weights.append(self.hang(below, first + i, known))
        weights += [0, self.hang(what.dummy, first + cuts + 1, proven)]
        self.weigh(position, first, weights)

    def cells(self, what, position, proven):
        columns, rows = len(what.xs) + 1, len(what.ys) + 1
        lines = [*what.xs, *what.ys]
        self.tree = reserve(self.tree, 1, 0, len(lines), columns * rows + 1, 0)
        start = int(self.tree.used[EDGES])
        self.tree.used[EDGES] += len(lines)
        self.tree.edges[start : start + len(lines)] = lines
        first = new_node(
            self.tree, SPATIAL_NODE, start, columns, rows, columns * rows + 1, 0, 0, position
        )
        weights = [
            self.hang(what.cells.get((column, row), Leaf()), first + row * columns + column, proven)
            for row in range(rows)
            for column in range(columns)
        ]
        weights.append(self.hang(what.dummy, first + columns * rows, proven))
        self.weigh(position, first, weights)

    def weigh(self, position, first, weights):
        self.tree.weights[first : first + len(weights)] = np.array(weights)[:, None]
        reference = self.tree.used[ROOT] if position < 0 else self.tree.children[position]
        self.tree.nodes[reference >> 2, [WEIGHT, WEIGHT_BUILT]] = sum(weights)


def _ids_below(what):
    match what:
        case Leaf(ids=ids):
            return ids
        case Cuts(cuts=parts, dummy=dummy) | Cells(cells=parts, dummy=dummy):
            return [id_ for part in [*parts.values(), dummy] for id_ in _ids_below(part)]


def match(index, *messages):
    return index.match_batch(MessageBatch.from_messages(messages, space=index.space))
