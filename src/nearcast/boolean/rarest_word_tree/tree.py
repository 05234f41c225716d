"""The default index: lists by the rarest keyword, sixteen subscriptions compared at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.batches._ragged_kernels import gather
from nearcast.boolean._records import FORBIDS, SHAPED, SHARED
from nearcast.boolean.flat_index import FlatIndex
from nearcast.boolean.found import Found, Slots, in_chunks
from nearcast.boolean.history import MessageHistory
from nearcast.boolean.rarest_word_tree._build import build_all
from nearcast.boolean.rarest_word_tree._check import check_tree
from nearcast.boolean.rarest_word_tree._choice import better_by_place
from nearcast.boolean.rarest_word_tree._frame import Frame, frame_of, places_of, steps_of
from nearcast.boolean.rarest_word_tree._layout import (
    BY_PLACE,
    CHILDREN,
    ENTRIES,
    LANES,
    LINES,
    LOST_CHILDREN,
    NODES,
    Tree,
    empty_tree,
)
from nearcast.boolean.rarest_word_tree._match import match_messages
from nearcast.boolean.rarest_word_tree._pack import BOX, ENTRY, FLAGS, SLOT
from nearcast.boolean.rarest_word_tree._update import (
    insert_all,
    remove_all,
    with_packed_children,
)
from nearcast.boolean.subscription_store import Entries
from nearcast.model import Space
from nearcast.space.region_column import BOX as BOX_REGION
from nearcast.text.order import Tf

FEW_MESSAGES = 64  # are matched in the order in which they come
NEAR_BYTES = 1 << 24
"""Lines that are no more than this stay near anyway, in whichever order messages are matched."""
WORDS_TO_ONE = 3.0
"""A message has about so many words for each one of a subscription; where there is no history."""
BULK_SHARE = 0.25
"""So many changes, as a share of the entries there, are cheaper to build in than to make singly."""
CHANGES_BETWEEN_ORDERS = 2.0
"""After so many changes, as a share of the entries, which words are rare is decided anew."""


class RarestWordTree(FlatIndex):
    """Each clause in the list of its rarest keyword; long lists by further keywords and by place.

    A list of up to 16 entries is a few cache lines. A longer one is a node: entries that share
    their next rarest keyword with many others go to a child of their own, the others into an R-tree
    packed by place and size. A block of sixteen entries has all that is needed to settle most of
    them: their boxes in 15-bit steps, their slots, and the next keyword; four comparisons settle
    all sixteen boxes. Nothing is stored twice, so matching never has to look for repeats.

    Costs, for n entries: matching, one look-up for each word of a message and, in each long list,
    the leaves that its place meets; a change, O(log n), amortised; memory, about 22 bytes an entry
    beside the store.

    Parameters
    ----------
    space: what coordinates mean
    history: messages that stand for those to come; without them subscriptions do

    >>> from nearcast.model import Box, Message, Point, Subscription
    >>> index = RarestWordTree()
    >>> index.insert(Subscription("deals", "ipad AND (discount OR sale)", Box(0, 0, 10, 10)))
    >>> index.match(Message(1, text="iPad sale!", at=Point(10, 5)))
    ['deals']
    >>> index.remove("deals")
    >>> len(index)
    0
    """

    def __init__(self, *, space: Space = Space.EARTH, history: MessageBatch | None = None) -> None:
        super().__init__(space)
        self._history = MessageHistory.of(history, space) if history is not None else None
        self._chance = np.empty(0, np.float32)
        self._frame = frame_of(np.empty((0, 4), np.float32))
        self._tree = empty_tree(self._frame.steps)
        self._changes = 0
        self._is_rebuild_due = False

    def rebuild(self) -> None:
        """Decide anew which words are rare and where borders are many, and build everything again.

        O(n log n).  Done by itself after large batches and many changes.
        """
        self._catch_up()
        self._store.order_words(Tf())
        self._chance = self._chances()
        entries = self._store.all_entries()
        self._frame = frame_of(entries.bounds)
        self._tree = empty_tree(self._frame.steps)
        self._make_room()
        arena = self._arena(entries)
        self._tree.root[1 : len(self._chance) + 1][self._better_by_place(arena)] = BY_PLACE
        self._tree = build_all(self._tree, self._store.clauses, self._chance, arena)
        self._settle()
        self._tree.used[ENTRIES] = len(entries)
        self._changes = 0
        self._is_rebuild_due = False

    def check(self) -> None:
        """Assert that every entry is where a message would look for it, and nowhere else."""
        self._catch_up()
        check_tree(
            self._tree,
            self._store.clauses,
            self._store.chains,
            self._arena(self._store.all_entries()),
        )

    # ------------------------------------------------------------------ for FlatIndex

    def _place(self, entries: Entries) -> None:
        self._note_changes(len(entries))
        if self._is_rebuild_due:
            return
        self._make_room()
        store = self._store
        self._tree = insert_all(
            self._tree, store.clauses, self._chance, store.chains, self._arena(entries)
        )
        self._tree.used[ENTRIES] += len(entries)

    def _withdraw(self, entries: Entries) -> None:
        self._note_changes(len(entries))
        if self._is_rebuild_due:
            return
        store = self._store
        self._tree = remove_all(
            self._tree, store.clauses, self._chance, store.chains, entries.entry
        )
        self._tree.used[ENTRIES] -= len(entries)

    def _tidy(self) -> None:
        if self._is_rebuild_due or self._store.has_many_unused_words():
            self.rebuild()
        used = self._tree.used
        if used[LOST_CHILDREN] > 1024 + used[CHILDREN] // 2:
            self._tree = with_packed_children(self._tree)

    def _matcher(
        self,
        words: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
    ) -> Callable[[int, int], list[Found]]:
        index = (
            self._tree,
            self._frame,
            self._store.clauses,
            self._store.regions.kernel_arrays(),
            self.space is Space.EARTH,
        )

        def match(
            words: NDArray[np.int32],
            word_start: NDArray[np.int64],
            rects: NDArray[np.float64],
            rect_start: NDArray[Any],
            first: int,
            last: int,
            room: int,
        ) -> Slots:
            bits = self._word_bits.lend(self._store.words)
            slot_bits = self._slot_bits.lend(self._store.slots)
            found: Slots = match_messages(
                *index, bits, slot_bits, words, word_start, rects, rect_start, first, last, room
            )
            self._word_bits.take_back(bits)
            self._slot_bits.take_back(slot_bits)
            return found

        def match_rows(first: int, last: int) -> list[Found]:
            if last - first < FEW_MESSAGES or self._tree.lines.nbytes <= NEAR_BYTES:
                return in_chunks(partial(match, words, word_start, rects, rect_start), first, last)
            # Neighbours one after the other: what one has looked at is near for the next.
            places = places_of(self._frame, rects, rect_start, first, last)
            order = first + np.argsort(places, kind="stable")
            own_start, own = gather(word_start, words, order)
            own_rect_start, own_rows = gather(rect_start, np.arange(len(rects)), order)
            own_rects = rects[own_rows]
            match_own = partial(match, own, own_start, own_rects, own_rect_start)
            chunks = in_chunks(match_own, 0, len(order))
            return [chunk._replace(rows=order[chunk.rows]) for chunk in chunks]

        return match_rows

    def _nodes_and_copies(self) -> tuple[int, float]:
        used = self._tree.used
        return int(used[NODES]) - 1, LANES * float(used[LINES]) / max(1, int(used[ENTRIES]))

    def _arrangement(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        tree, used = self._tree, self._tree.used
        arrays: dict[str, NDArray[Any]] = {
            "lines": tree.lines[: used[LINES]],
            "root": tree.root[: self._store.words + 1],
            "nodes": tree.nodes[: used[NODES]],
            "child_word": tree.child_word[: used[CHILDREN]],
            "child": tree.child[: used[CHILDREN]],
            "where": tree.where[: len(self._store.clauses.slot)],
            "used": used,
            "knots_x": self._frame.knots_x,
            "knots_y": self._frame.knots_y,
            "chance": self._chance,
        }
        if self._history:
            arrays |= {f"history/{name}": a for name, a in self._history.arrays().items()}
        return {"changes": self._changes}, arrays

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._frame = Frame.of_knots(arrays["knots_x"], arrays["knots_y"])
        self._tree = Tree(*(arrays[name] for name in Tree._fields))
        self._chance = arrays["chance"]
        history = storage.part(arrays, "history/")
        self._history = MessageHistory.from_arrays(history) if history else None
        self._changes = settings["changes"]
        self._is_rebuild_due = False

    # ------------------------------------------------------------------ private

    def _note_changes(self, count: int) -> None:
        self._changes += count
        present = int(self._tree.used[ENTRIES])
        if (
            count > max(LANES, BULK_SHARE * present)
            or self._changes > 1024 + CHANGES_BETWEEN_ORDERS * present
        ):
            self._is_rebuild_due = True

    def _make_room(self) -> None:
        """`root` for all words and `where` for all entries, with room for more to come."""
        tree = self._tree
        root = _long_enough(tree.root, self._store.words + 1, 0)
        where = _long_enough(tree.where, len(self._store.clauses.slot), -1)
        self._tree = tree._replace(root=root, where=where)

    def _settle(self) -> None:
        """Move the lines to memory that NumPy got: in large pages, where the system has them."""
        lines = self._tree.lines[: self._tree.used[LINES]]
        room = np.empty(lines.size + lines.size // 16 + 8 * 64, np.uint64)
        begin = -(room.ctypes.data // 8) % 8
        settled = room[begin : begin + (len(room) - begin) // 8 * 8].reshape(-1, 8)
        settled[: len(lines)] = lines
        self._tree = self._tree._replace(lines=settled)

    def _arena(self, entries: Entries) -> NDArray[np.int32]:
        """Entries as `_pack` has them."""
        arena = np.zeros((len(entries), 8), np.int32)
        arena[:, ENTRY] = entries.entry
        arena[:, SLOT] = entries.slot
        forbids = self._store.clauses.forbidden[entries.entry] > 0
        arena[:, FLAGS] = (
            SHAPED * entries.is_shaped + SHARED * entries.is_shared + FORBIDS * forbids
        )
        kind, shape = self._store.regions.kernel_arrays()[:2]
        is_box = (kind[entries.slot] == BOX_REGION) & ~entries.is_shaped
        steps_of(
            self._frame, self._world(), entries.bounds, is_box, shape[entries.slot], arena[:, BOX:]
        )
        return arena

    def _chances(self) -> NDArray[np.float32]:
        """How likely a message has each keyword, by rank."""
        if self._history is None:
            chance = np.minimum(1.0, WORDS_TO_ONE * self._store.shares_by_rank())
        else:
            chance = self._history.chances_of(self._store.words_by_rank())
        return chance.astype(np.float32)

    def _better_by_place(self, arena: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each keyword, by rank: are its entries better found by place?"""
        clauses, entry = self._store.clauses, arena[:, ENTRY]
        required = clauses.required[entry].astype(np.int64)
        first = clauses.terms[np.maximum(clauses.start[entry] + required - 1, 0)]
        spread = (0.0, 0.0) if self._history is None else self._history_spread(self._history)
        sides = arena[:, BOX + 2 : BOX + 4] - arena[:, BOX : BOX + 2] + 1
        met = np.minimum(1.0, sides / np.array(self._frame.steps) + spread)
        return better_by_place(
            np.where(required > 0, first, -1), met[:, 0] * met[:, 1], self._chance
        )

    def _history_spread(self, history: MessageHistory) -> tuple[float, float]:
        """The share of the space, in steps, that a message spans from west to east and so on."""
        knots = self._frame.knots_x, self._frame.knots_y
        west_south, east_north = (history.points + sign * history.span / 2 for sign in (-1, 1))
        x, y = (
            float((np.searchsorted(k, e) - np.searchsorted(k, w)).mean()) / max(1, len(k))
            for k, w, e in zip(knots, west_south.T, east_north.T, strict=True)
        )
        return x, y

    def _world(self) -> NDArray[np.float64]:
        if self.space is Space.EARTH:
            return np.array([-180.0, -90.0, 180.0, 90.0])
        return np.array([-np.inf, -np.inf, np.inf, np.inf])


def _long_enough(array: NDArray[Any], length: int, value: int) -> NDArray[Any]:
    if length <= len(array):
        return array
    longer = np.full(length + length // 8, value, array.dtype)
    longer[: len(array)] = array
    return longer
