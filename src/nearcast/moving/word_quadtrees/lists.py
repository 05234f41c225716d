"""Live messages by word and by place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean.rarest_word_tree._frame import Frame, frame_of
from nearcast.moving._flat.messages import Messages
from nearcast.moving._flat.sides import Found, Movers, Sides
from nearcast.moving.word_quadtrees._check import check_trees
from nearcast.moving.word_quadtrees._layout import NODES, POSTINGS, SIZES, Quadtrees, no_quadtrees
from nearcast.moving.word_quadtrees._search import differences
from nearcast.moving.word_quadtrees._update import (
    has_range,
    insert_messages,
    middles_of,
    remove_messages,
)

FEW = 64  # messages, for which it does not matter where steps are


class QuadtreesOfWords:
    """A quadtree of messages for each word, over steps that are fine where messages are many.

    Where messages are many is decided anew when there are twice as many as at the last time, or
    when four times as many have come.
    """

    def __init__(self) -> None:
        self._trees = no_quadtrees(0)
        self._frame = frame_of(np.empty((0, 4), np.float32))
        self._framed = 0  # live messages when the frame was chosen
        self._arrived = 0  # since then

    def is_worn(self, live: int) -> bool:
        """Is it time for `make_anew`?"""
        return live > FEW + 2 * self._framed or self._arrived > FEW + 4 * max(live, self._framed)

    def make_anew(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Choose the steps anew, and insert all messages again.  O(their words)."""
        self._frame = frame_of(middles_of(messages, live))
        sizes = SIZES if has_range(messages, live) else 1
        self._trees = no_quadtrees(len(self._trees.root) - 1, sizes)
        self._trees = insert_messages(self._trees, self._frame, messages, live)
        self._framed, self._arrived = len(live), 0

    def insert(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Add messages.  O(words x depth) each, amortised."""
        root = self._trees.root
        if root.shape[1] < SIZES and has_range(messages, slots):
            wider = np.zeros((len(root), SIZES), np.int64)
            wider[:, :1] = root
            self._trees = self._trees._replace(root=wider)
        self._trees = insert_messages(self._trees, self._frame, messages, slots)
        self._arrived += len(slots)

    def remove(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Take messages out.  O(words x depth) each."""
        self._trees = remove_messages(self._trees, self._frame, messages, slots)

    def differences(self, messages: Messages, movers: Movers, old: Sides, new: Sides) -> Found:
        """What subscriptions lose and gain when they move from the old sides to the new ones."""
        rows, signs, slots, candidates = differences(
            self._trees, self._frame, messages, movers.clauses, movers.chains, movers.number_of,
            movers.slots, old.regions, old.rows, old.covers, new.regions, new.rows, new.covers,
            movers.is_earth,
        )  # fmt: skip
        return Found(rows, signs, slots, int(candidates))

    def have_words(self, words: int) -> None:
        """Have a place for so many words."""
        root = self._trees.root
        if words + 1 > len(root):
            longer = np.zeros((words + 1 + words // 4, root.shape[1]), np.int64)
            longer[: len(root)] = root
            self._trees = self._trees._replace(root=longer)

    def keep_words(self, kept: NDArray[np.int64]) -> None:
        """Of the words these are kept, and have new numbers in this order."""
        root = self._trees.root
        self._trees = self._trees._replace(root=root[np.append(0, kept + 1)])

    @property
    def nbytes(self) -> int:
        """Memory of the arrays, spare room included."""
        return sum(array.nbytes for array in self._trees)

    def check(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Assert that each message is in the trees of its words, and nowhere else."""
        check_trees(self._trees, self._frame, messages, live)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        trees, used = self._trees, self._trees.used
        return {
            "root": trees.root,
            "nodes": trees.nodes[: used[NODES]],
            "postings": trees.postings[: used[POSTINGS]],
            "used": used,
            "knots_x": self._frame.knots_x,
            "knots_y": self._frame.knots_y,
            "counts": np.array([self._framed, self._arrived]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> QuadtreesOfWords:
        """The lists whose `arrays()` these are; they are taken over, not copied."""
        lists = cls()
        lists._trees = Quadtrees(*(arrays[name] for name in Quadtrees._fields))
        lists._frame = Frame.of_knots(arrays["knots_x"], arrays["knots_y"])
        lists._framed, lists._arrived = arrays["counts"].tolist()
        return lists
