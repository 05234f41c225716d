"""What every flat index of the room keeps: ids, words, clauses, regions, in slots and entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import SubscriptionBatch
from nearcast.batches.expression_column import ExpressionColumn
from nearcast.boolean._clauses import Clauses
from nearcast.boolean._store_kernels import (
    chained_entries,
    count_terms,
    mark_terms,
    pack_terms,
    rank_terms,
    write_terms,
)
from nearcast.boolean.id_table import IdTable
from nearcast.growing_array import GrowingArray
from nearcast.model import ANY, Space, Subscription
from nearcast.space.region_column import BOX, EVERYWHERE, RegionColumn
from nearcast.storage import part
from nearcast.text import Clause, Expression, TermOrder
from nearcast.text.string_table import StringTable, Words

MOST_CLAUSE_WORDS = 2**16 - 1  # counts are uint16
MOST_ENTRIES = 2**26 - 1  # a leaf may have to count them all
MOST_KEYWORDS = 2**27 - 1  # distinct ones: records have no more bits
MOST_TERMS = 2**31 - 1  # of all clauses together: where one begins is an int32
FEW_CLAUSE_WORDS = 64  # an ordinary subscription: one clause with no more
PLENTY = 2**20  # ordinary subscriptions at the least for which a roomy store has room
FARTHEST_BOUND = 1e37
FEW_WORDS = 1024  # not worth forgetting
MOST_WORDS_A_USED_ONE = 4 / 3  # a word takes about 50 bytes, a subscription a hundred
_NONE = -1


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries to be placed in an index or taken out of it, with what an index asks about them.

    - `entry`: int32[n], their numbers
    - `slot`: int32[n], the subscriptions they belong to
    - `bounds`: float32[n, 4], the rectangle of each, rounded outward
    - `is_shaped`: bool[n], do the bounds alone not tell whether a place is in the region?
    - `is_shared`: bool[n], does the subscription have other entries as well?
    """

    entry: NDArray[np.int32]
    slot: NDArray[np.int32]
    bounds: NDArray[np.float32]
    is_shaped: NDArray[np.bool_]
    is_shared: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.entry)


class Chains(NamedTuple):
    """Which entries a subscription has.

    - `first`: int32[slots], the first of a slot, -1 for none
    - `following`: int32[E], the next entry of the same slot, -1 after the last
    """

    first: NDArray[np.int32]
    following: NDArray[np.int32]


class SubscriptionStore:
    """Live subscriptions in flat arrays.

    A subscription has a *slot*; each of its clauses, over each rectangle of its region's cover, is
    an *entry* (see `_clauses`). Keywords are ranks in the index's order: rank 0 comes first. Words
    that arrive after the order was last decided come last.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.ids = IdTable()
        self.regions = RegionColumn.empty(space)
        self._vocabulary = StringTable()
        self._rank_of = GrowingArray(np.empty(0, np.int32))  # by number in the vocabulary
        self._first_entry = GrowingArray(np.empty(0, np.int32))  # by slot
        self._next_entry = GrowingArray(np.empty(0, np.int32))  # by entry, of the same slot
        self._slot = GrowingArray(np.empty(0, np.int32))
        self._start = GrowingArray(np.empty(0, np.int32))
        self._required = GrowingArray(np.empty(0, np.uint16))
        self._forbidden = GrowingArray(np.empty(0, np.uint16))
        self._terms = GrowingArray(np.empty(0, np.int32))
        self._vacant = GrowingArray(np.empty(0, np.int32))
        self._unused_terms = 0
        self._words_when_counted = 0
        self.orders = 0  # how often words were ranked anew, since the store was made or loaded
        self._update_room()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def clauses(self) -> Clauses:
        """The arrays kernels read."""
        return Clauses(
            self._slot.used,
            self._start.used,
            self._required.used,
            self._forbidden.used,
            self._terms.used,
        )

    @property
    def chains(self) -> Chains:
        """The entries of each slot, for kernels."""
        return Chains(self._first_entry.used, self._next_entry.used)

    @property
    def words(self) -> int:
        """How many distinct words subscriptions have ever used."""
        return len(self._vocabulary)

    @property
    def slots(self) -> int:
        """How many slots there are, those of subscriptions that have gone included."""
        return len(self._first_entry.used)

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return sum(array.nbytes for array in self.arrays().values())

    # ------------------------------------------------------------------ coming and going

    def check_sizes(self, longest: int, terms: int, new_words: int, new_clauses: int) -> None:
        """Refuse what the arrays cannot count, before anything is changed."""
        entries = len(self._slot.used) + 2 * new_clauses  # a cover has two rectangles at most
        if entries > MOST_ENTRIES:
            raise ValueError(
                f"{new_clauses} more clauses are too many; an index holds at most {MOST_ENTRIES}: "
                "divide the subscriptions among several"
            )
        if longest > MOST_CLAUSE_WORDS:
            raise ValueError(
                f"a clause of {longest} words is too long; the most is {MOST_CLAUSE_WORDS}"
            )
        if len(self._terms.used) + 2 * terms > MOST_TERMS:
            raise ValueError(
                f"{new_clauses} more clauses with {terms} words are too many; an index holds at "
                f"most {MOST_TERMS} words: divide the subscriptions among several"
            )
        if self.words + new_words > MOST_KEYWORDS:
            raise ValueError(
                f"{new_words} more words are too many; an index knows at most {MOST_KEYWORDS}, "
                f"and has {self.words}"
            )

    def _update_room(self) -> None:
        """Are all counts so far from their limits that one more ordinary one needs no look?"""
        self.is_roomy = (
            len(self._slot.used) + 2 * PLENTY <= MOST_ENTRIES
            and len(self._terms.used) + 2 * PLENTY * FEW_CLAUSE_WORDS <= MOST_TERMS
            and self.words + PLENTY * FEW_CLAUSE_WORDS <= MOST_KEYWORDS
        )

    def add(self, batch: SubscriptionBatch) -> Entries:
        """Store a batch of new ids; returns its entries.  O(size of the batch)."""
        rank = self._ranks(batch.lexicon)
        row, bounds = self._covers(batch.regions)
        clauses_of_row = np.diff(batch.clause_start)
        repeat = clauses_of_row[row]
        row_of_entry = np.repeat(row, repeat)
        cover_of_entry = np.repeat(np.arange(len(row)), repeat)
        # The clauses of a row follow each other: count up from its first one.
        first = np.cumsum(repeat) - repeat
        clause = (
            np.arange(len(row_of_entry))
            - np.repeat(first, repeat)
            + batch.clause_start[row_of_entry]
        )
        required = np.diff(batch.required_start)[clause]
        forbidden = np.diff(batch.forbidden_start)[clause]

        slots = self.ids.add(batch.ids)
        self._put_regions(slots, batch.regions)
        entries = self._claim_entries(len(clause))
        sizes = required + forbidden
        start = len(self._terms.used) + np.cumsum(sizes) - sizes
        terms = np.empty(int(sizes.sum()), np.int32)
        write_terms(
            clause, batch.required_start, batch.required,
            batch.forbidden_start, batch.forbidden, rank, terms,
        )  # fmt: skip
        self._terms.extend(terms)
        self._slot.used[entries] = slots[row_of_entry]
        self._start.used[entries] = start
        self._required.used[entries] = required
        self._forbidden.used[entries] = forbidden
        self._link(slots, row_of_entry, entries)
        self._update_room()
        return self._entries(entries, bounds[cover_of_entry])

    def entries_of(self, slots: NDArray[Any]) -> Entries:
        """The entries of some subscriptions, as `add` returned them.  O(entries)."""
        numbers, counts = chained_entries(self._first_entry.used, self._next_entry.used, slots)
        row, bounds = self._covers(self.regions.take(slots))
        # `add` numbers the entries of a slot cover by cover.
        covers = np.bincount(row, minlength=len(slots))
        return self._entries(numbers, np.repeat(bounds, (counts // covers)[row], axis=0))

    def all_entries(self) -> Entries:
        """Every live entry, for building an index anew.  O(size)."""
        return self.entries_of(self.ids.live_slots())

    def remove(self, slots: NDArray[Any]) -> None:
        """Forget subscriptions; the index has taken their entries out already.  O(entries)."""
        numbers, _ = chained_entries(self._first_entry.used, self._next_entry.used, slots)
        self._unused_terms += int(
            self._required.used[numbers].sum(dtype=np.int64)
            + self._forbidden.used[numbers].sum(dtype=np.int64)
        )
        self._slot.used[numbers] = _NONE
        self._vacant.extend(numbers)
        self._first_entry.used[slots] = _NONE
        self.ids.remove(slots)
        self.regions.put(slots, RegionColumn.everywhere(len(slots), self.space))
        if self._unused_terms > 1024 + len(self._terms.used) // 8:
            total = len(self._terms.used) - self._unused_terms
            self._terms = GrowingArray(pack_terms(self.clauses, total))
            self._unused_terms = 0

    # ------------------------------------------------------------------ words

    def order_words(self, order: TermOrder) -> None:
        """Rank all words anew by how often live entries require them.  O(size).

        Words nobody uses any more are forgotten here, when there are many.
        """
        self.orders += 1
        frequency = self._frequency_by_rank()
        old_rank = self._rank_of.used
        kept = self._words_in_use()
        if self.words > FEW_WORDS + MOST_WORDS_A_USED_ONE * len(kept):
            words = self._vocabulary.to_arrow(kept)
            self._vocabulary = StringTable()
            self._vocabulary.add(words)
            old_rank = old_rank[kept]
        by_word = order.order(frequency[old_rank])
        rank = np.empty(self.words, np.int32)
        rank[by_word] = np.arange(self.words, dtype=np.int32)
        new_rank = np.full(len(frequency), _NONE, np.int32)
        new_rank[old_rank] = rank
        rank_terms(self.clauses, new_rank)
        self._rank_of = GrowingArray(rank)

    def has_many_unused_words(self) -> bool:
        """Is it time for `order_words` to forget some?  Counts only when many words are new."""
        if self.words <= FEW_WORDS + MOST_WORDS_A_USED_ONE * self._words_when_counted:
            return False
        in_use = len(self._words_in_use())
        self._words_when_counted = in_use
        return self.words > FEW_WORDS + MOST_WORDS_A_USED_ONE * in_use

    def shares_by_rank(self) -> NDArray[np.float64]:
        """The share of subscriptions that require each word, by rank.  O(size)."""
        return self._frequency_by_rank() / max(1, len(self))

    def words_by_rank(self) -> pa.LargeStringArray:
        """All words, the first in the order first."""
        return self._vocabulary.to_arrow(np.argsort(self._rank_of.used))

    def ranks_of(self, words: Words) -> NDArray[np.int32]:
        """The rank of each word, -1 for words no subscription uses.  O(bytes)."""
        numbers = self._vocabulary.find(words)
        rank = np.full(len(numbers), _NONE, np.int32)
        known = numbers >= 0
        rank[known] = self._rank_of.used[numbers[known]]
        return rank

    # ------------------------------------------------------------------ looking things up

    def subscription(self, slot: int) -> Subscription:
        """The subscription in a slot as an object, in minimal form.  O(vocabulary) a word."""
        word_of = {}
        clauses = set()
        numbers, _ = chained_entries(
            self._first_entry.used, self._next_entry.used, np.array([slot])
        )
        for entry in numbers.tolist():
            begin = int(self._start.used[entry])
            middle = begin + int(self._required.used[entry])
            end = middle + int(self._forbidden.used[entry])
            terms = self._terms.used[begin:end]
            for rank in terms.tolist():
                if rank not in word_of:
                    number = int(np.flatnonzero(self._rank_of.used == rank)[0])
                    word_of[rank] = self._vocabulary.word(number)
            words = [word_of[rank] for rank in terms.tolist()]
            count = middle - begin
            clauses.add(Clause(frozenset(words[:count]), frozenset(words[count:])))
        anything = not any(clause.required for clause in clauses)
        expression = Expression(tuple(clauses))
        return Subscription(
            self.ids.id_of(slot), ANY if anything else expression, self.regions.region(slot)
        )

    def expressions_of(self, slots: NDArray[Any]) -> ExpressionColumn:
        """What the subscriptions in these slots want, as columns.  O(vocabulary + size)."""
        numbers, counts = chained_entries(self._first_entry.used, self._next_entry.used, slots)
        row, _ = self._covers(self.regions.take(slots))
        covers = np.bincount(row, minlength=len(slots))
        # `add` numbers the entries of a slot cover by cover: the first one has all clauses.
        clause_start = _starts(counts // np.maximum(covers, 1))
        clauses = np.diff(clause_start)
        skipped = _starts(counts)[:-1] - clause_start[:-1]
        entries = numbers[np.arange(clause_start[-1]) + np.repeat(skipped, clauses)]
        sizes = self._required.used[entries].astype(np.int64)
        others = self._forbidden.used[entries].astype(np.int64)
        begin = self._start.used[entries]
        every = ExpressionColumn(
            self.words_by_rank(),
            clause_start,
            _starts(sizes),
            self._terms.used[_ranges(begin, sizes)],
            _starts(others),
            self._terms.used[_ranges(begin + sizes, others)],
        )
        return every.take(np.arange(len(slots)))

    # ------------------------------------------------------------------ saving

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        parts: dict[str, NDArray[Any]] = {
            "rank_of": self._rank_of.used,
            "first_entry": self._first_entry.used,
            "next_entry": self._next_entry.used,
            "slot": self._slot.used,
            "start": self._start.used,
            "required": self._required.used,
            "forbidden": self._forbidden.used,
            "terms": self._terms.used,
            "vacant": self._vacant.used,
            "unused_terms": np.array([self._unused_terms]),
        }
        for name, array in self.ids.arrays().items():
            parts[f"ids/{name}"] = array
        for name, array in self.regions.arrays().items():
            parts[f"regions/{name}"] = array
        for name, array in self._vocabulary.arrays().items():
            parts[f"vocabulary/{name}"] = array
        return parts

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], space: Space) -> Self:
        """The store whose `arrays()` these are; they are taken over, not copied."""
        store = cls(space)
        store.ids = IdTable.from_arrays(part(arrays, "ids/"))
        store.regions = RegionColumn.from_arrays(part(arrays, "regions/"), space)
        store._vocabulary = StringTable.from_arrays(part(arrays, "vocabulary/"))
        store._rank_of = GrowingArray(arrays["rank_of"])
        store._first_entry = GrowingArray(arrays["first_entry"])
        store._next_entry = GrowingArray(arrays["next_entry"])
        store._slot = GrowingArray(arrays["slot"])
        store._start = GrowingArray(arrays["start"])
        store._required = GrowingArray(arrays["required"])
        store._forbidden = GrowingArray(arrays["forbidden"])
        store._terms = GrowingArray(arrays["terms"])
        store._vacant = GrowingArray(arrays["vacant"])
        store._unused_terms = int(arrays["unused_terms"][0])
        store._update_room()
        return store

    # ------------------------------------------------------------------ private

    def _covers(self, regions: RegionColumn) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The rectangles of which entries are made; see `RegionColumn.covers`."""
        return regions.covers()

    def _words_in_use(self) -> NDArray[np.int64]:
        """The numbers of the words that live entries require or forbid.  O(size)."""
        in_use = np.zeros(self.words, bool)
        mark_terms(self.clauses, in_use)
        return np.flatnonzero(in_use[self._rank_of.used])

    def _frequency_by_rank(self) -> NDArray[np.int64]:
        frequency = np.zeros(self.words, np.int64)
        count_terms(self.clauses, frequency)
        return frequency

    def _ranks(self, lexicon: pa.LargeStringArray) -> NDArray[np.int32]:
        numbers = self._vocabulary.add(lexicon)
        ranked = len(self._rank_of.used)
        self._rank_of.extend(np.arange(ranked, len(self._vocabulary), dtype=np.int32))
        return self._rank_of.used[numbers]

    def _put_regions(self, slots: NDArray[np.int32], regions: RegionColumn) -> None:
        """Vacant slots come first in `slots`; the others are new, at the end."""
        again = int((slots < len(self.regions)).sum())
        if again:
            self.regions.put(slots[:again], regions.take(np.arange(again)))
            regions = regions.take(np.arange(again, len(slots)))
        self.regions.append(regions)
        self._first_entry.extend(np.full(len(slots) - again, _NONE, np.int32))

    def _claim_entries(self, count: int) -> NDArray[np.int32]:
        again = np.sort(self._vacant.shrink(min(count, len(self._vacant.used))))
        begin, fresh = len(self._slot.used), count - len(again)
        for column in (self._slot, self._start, self._required, self._forbidden, self._next_entry):
            column.extend(np.zeros(fresh, column.used.dtype))
        return np.concatenate([again, np.arange(begin, begin + fresh, dtype=np.int32)])

    def _link(
        self, slots: NDArray[np.int32], row: NDArray[np.int32], entries: NDArray[np.int32]
    ) -> None:
        """Chain the entries of each slot; entries of a row follow each other."""
        if len(entries) == 0:
            return
        begins = np.ones(len(row), bool)
        begins[1:] = row[1:] != row[:-1]
        following = np.append(entries[1:], _NONE)
        following[np.append(begins[1:], True)] = _NONE
        self._next_entry.used[entries] = following
        self._first_entry.used[slots[row[begins]]] = entries[begins]

    def _entries(self, numbers: NDArray[np.int32], bounds: NDArray[np.float32]) -> Entries:
        slots = self._slot.used[numbers]
        kind = self.regions.kernel_arrays()[0][slots]
        first = self._first_entry.used[slots]
        shared = (first != numbers) | (self._next_entry.used[first] != _NONE)
        shaped = (kind != BOX) & (kind != EVERYWHERE)
        # So far out float32 bounds say nothing of where the float64 border is.
        shaped |= (kind == BOX) & (np.abs(bounds) > FARTHEST_BOUND).any(axis=1)
        return Entries(numbers, slots, bounds, shaped, shared)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where rows of these sizes begin, one after the other, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ranges(begin: NDArray[Any], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """All of begin[i] to begin[i] + sizes[i], for one i after the other."""
    start = _starts(sizes)
    return np.arange(start[-1]) + np.repeat(begin - start[:-1], sizes)
