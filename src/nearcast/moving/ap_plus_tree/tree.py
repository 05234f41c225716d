"""An AP-Tree whose subscriptions move and whose nodes hold messages."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._records import records_of
from nearcast.boolean.ap_tree._layout import ENTRIES
from nearcast.boolean.ap_tree.tree import BULK_SHARE, APTree
from nearcast.boolean.subscription_store import Entries
from nearcast.moving._flat.message_store import MessageStore
from nearcast.moving._flat.messages import Messages
from nearcast.moving._flat.movable import Movable, one_covers
from nearcast.moving._flat.sides import Found, Movers, Sides
from nearcast.moving._flat.words import NumberedWords
from nearcast.moving.ap_plus_tree._check import check_lists
from nearcast.moving.ap_plus_tree._lists import HELD, INNER, no_lists
from nearcast.moving.ap_plus_tree._paths import insert_messages
from nearcast.moving.ap_plus_tree._search import list_differences
from nearcast.moving.ap_plus_tree._update import PUT_IN, TAKEN_OUT, change_entries
from nearcast.space import RegionColumn

FEW = 256  # postings that are not worth sweeping


class TreeWithMessages(Movable, APTree):
    """The tree and its m-lists.

    When the whole tree is built again, or written to a file, its lists are void, and made again
    from the live messages when they are next needed.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._begin_lists()

    def _begin_lists(self) -> None:
        self.lists = no_lists(0)
        self.are_void = True
        self.relocations = 0
        # How subscriptions move, and how often messages come: what the cost model weighs.
        self._moves, self._way, self.arrivals = 0, 0.0, 0
        self.live = 0  # messages

    def rebuild(self) -> None:
        """Order the keywords by what is live now and build the whole tree again.

        What moved since the last time tells how fast and how often subscriptions will move. Live
        messages count as those that come: a move looks through lists as a message does through
        entries, and both gain by the same divisions.
        """
        if self._moves:
            arrivals = max(1, self.arrivals) * len(self._store) / self._moves
            self._settings = self._settings._replace(
                messages_per_move=arrivals + self.live, stride=self._way / self._moves
            )
        self._moves, self._way, self.arrivals = 0, 0.0, 0
        super().rebuild()
        self.are_void = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree without its messages; positions are others afterwards."""
        super().save(path)
        self.are_void = True

    def relocate(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        """Subscriptions have other regions now (Algorithm 6, as far as the tree is concerned)."""
        store = self._store
        before = store.entries_of(slots)
        counts = np.bincount(_rows_of(before, slots), minlength=len(slots))
        store.regions.put(slots, regions)
        after = store.with_bounds(before.entry, np.repeat(one_covers(regions), counts, axis=0))
        self._note_moves(before.bounds, after.bounds)
        self._update(records_of(before), records_of(after), TAKEN_OUT | PUT_IN)
        self._tidy()

    def _note_moves(self, old: NDArray[np.float32], new: NDArray[np.float32]) -> None:
        with np.errstate(invalid="ignore", over="ignore"):  # of regions without an end
            centres = [bounds[:, :2] / 2 + bounds[:, 2:] / 2 for bounds in (old, new)]
            way = np.hypot(*(centres[1] - centres[0]).T.astype(np.float64))
        somewhere = np.isfinite(way)
        self._way += float(way[somewhere].sum())
        self._moves += int(somewhere.sum())

    def _change(self, entries: Entries, *, adding: bool) -> None:
        present = int(self._tree.used[ENTRIES])
        if len(entries) > max(self._settings.leaf_capacity, BULK_SHARE * present):
            self._is_root_due = True
        records = records_of(entries)
        self._update(records, records, PUT_IN if adding else TAKEN_OUT)

    def _update(self, old: NDArray[np.int32], new: NDArray[np.int32], what: int) -> None:
        if self._is_root_due:
            return  # everything is about to be built again
        self._tree, self.lists, self._is_root_due, relocated = change_entries(
            self._tree, self.lists, self._store.clauses, self._statistics, self._settings,
            old, new, self._world(), what,
        )  # fmt: skip
        self.relocations += int(relocated)

    def _arrange_from(self, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        super()._arrange_from(settings, arrays)
        self._begin_lists()

    # ------------------------------------------------------------------ messages

    def put(
        self, messages: Messages, rank_of: NDArray[np.int32], slots: NDArray[np.int64], copies: int
    ) -> None:
        """Messages go to the lists at the nodes where subscriptions that want them would be."""
        self.lists = insert_messages(self._tree, self.lists, messages, rank_of, slots, copies)

    def empty_lists(self) -> None:
        """Forget all messages; the lists fit the tree again."""
        self.lists = no_lists(len(self._tree.children))
        self.are_void = False

    def differences(self, messages: Messages, movers: Movers, old: Sides, new: Sides) -> Found:
        """What subscriptions lose and gain when they move from the old sides to the new ones."""
        rows, signs, slots, candidates = list_differences(
            self._tree, self.lists, self._world(), messages, movers.clauses, movers.chains,
            movers.number_of, movers.slots, old.regions, old.rows, old.all_covers(),
            new.regions, new.rows, new.all_covers(), movers.is_earth,
        )  # fmt: skip
        return Found(rows, signs, slots, int(candidates))

    def check_messages(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Assert that every live message is in some list, and that no chunk has two owners."""
        if not self.are_void:
            check_lists(self._tree, self.lists, messages, live)


def _rows_of(entries: Entries, slots: NDArray[np.int32]) -> NDArray[np.int64]:
    """Which of the slots each entry belongs to; entries come in the order of the slots."""
    row = np.empty(int(slots.max(initial=-1)) + 1, np.int64)
    row[slots] = np.arange(len(slots))
    return row[entries.slot]


class ListsInTree:
    """The m-lists of a tree, as an index of messages.

    Messages that are gone stay in the lists until half as many are gone as are live (lazy
    deletion); then the lists are made again. So they are when a sixteenth of the postings is at
    inner nodes, because what was a leaf when they came is none any more, and all who pass there
    look at them.
    """

    def __init__(
        self,
        tree: TreeWithMessages,
        store: MessageStore,
        words: NumberedWords,
        most_copies: int,
        gone: int = 0,
    ) -> None:
        self._tree = tree
        self._store = store
        self._words = words
        self._most_copies = most_copies
        self._gone = gone

    def is_worn(self, live: int) -> bool:
        """Is it time for `make_anew`?"""
        used = self._tree.lists.used
        return (
            self._tree.are_void
            or self._gone > FEW + live // 2
            or int(used[INNER]) > FEW + int(used[HELD]) // 16
        )

    def make_anew(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Sweep: put the live messages where they would go today, and forget all others."""
        self._words.follow(self._tree.store)
        self._tree.empty_lists()
        self._tree.put(messages, self._words.rank_of, live, self._most_copies)
        self._gone = 0

    def insert(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Messages go down the tree, as in matching."""
        self._tree.arrivals += len(slots)
        self._tree.live = len(self._store)
        self._tree.put(messages, self._words.rank_of, slots, self._most_copies)

    def remove(self, messages: Messages, slots: NDArray[np.int64]) -> None:
        """Messages are gone: their postings are passed over from now on."""
        self._gone += len(slots)

    def differences(self, messages: Messages, movers: Movers, old: Sides, new: Sides) -> Found:
        """What subscriptions lose and gain when they move from the old sides to the new ones."""
        if self.is_worn(len(self._store)):
            self.make_anew(messages, self._store.live())
        return self._tree.differences(messages, movers, old, new)

    def have_words(self, words: int) -> None:
        """Lists are by rank, not by number."""

    def keep_words(self, kept: NDArray[np.int64]) -> None:
        """Lists are by rank, not by number."""

    @property
    def nbytes(self) -> int:
        """Memory of the lists, spare room included."""
        return sum(array.nbytes for array in self._tree.lists)

    def check(self, messages: Messages, live: NDArray[np.int64]) -> None:
        """Assert that every live message is in some list, and that no chunk has two owners."""
        self._tree.check_messages(messages, live)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing: lists are made of the messages again."""
        return {}
