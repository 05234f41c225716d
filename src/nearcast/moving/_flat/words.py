"""The words of messages and of subscriptions, with their ranks in the index of the latter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.subscription_store import SubscriptionStore
from nearcast.growing_array import GrowingArray
from nearcast.storage import part
from nearcast.text.string_table import StringTable, Words

FEW = 1024  # words that are not worth forgetting
_NONE = -1


class NumberedWords:
    """A number for each word, which it keeps until words that nobody has any more are forgotten.

    - `rank_of`: int32[words], the rank of each in the index of subscriptions, -1 for none
    - `number_of`: int32[ranks], the way back
    """

    def __init__(self) -> None:
        self._table = StringTable()
        self._rank_of = GrowingArray(np.empty(0, np.int32))
        self._number_of = GrowingArray(np.empty(0, np.int32))
        self._orders = 0
        self._when_counted = 0

    def __len__(self) -> int:
        return len(self._table)

    @property
    def rank_of(self) -> NDArray[np.int32]:
        return self._rank_of.used

    @property
    def number_of(self) -> NDArray[np.int32]:
        return self._number_of.used

    def numbers(self, words: Words) -> NDArray[np.int32]:
        """The numbers of words; new ones are entered.  O(bytes)."""
        numbers = self._table.add(words)
        fresh = len(self._table) - len(self._rank_of.used)
        if fresh:
            self._rank_of.extend(np.full(fresh, _NONE, np.int32))
        return numbers

    def follow(self, store: SubscriptionStore, lexicon: pa.LargeStringArray | None = None) -> None:
        """Know the ranks that the store has now; only `lexicon` may have new words."""
        if store.orders == self._orders and store.words == len(self._number_of.used):
            return
        if store.orders == self._orders and lexicon is not None:
            numbers, ranks = self.numbers(lexicon), store.ranks_of(lexicon)
            fresh = store.words - len(self._number_of.used)
            self._number_of.extend(np.full(fresh, _NONE, np.int32))
            self._number_of.used[ranks] = numbers
            self._rank_of.used[numbers] = ranks
            return
        numbers = self.numbers(store.words_by_rank())
        self._number_of = GrowingArray(numbers)
        self._rank_of.used[:] = _NONE
        self._rank_of.used[numbers] = np.arange(len(numbers), dtype=np.int32)
        self._orders = store.orders

    def may_have_unused(self) -> bool:
        """Are there so many more words than when they were last counted that it is time again?"""
        return len(self) > FEW + self._when_counted + self._when_counted // 2

    def keep(self, in_use: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Forget words that neither messages (`in_use`) nor subscriptions have, if they are many.

        Returns the numbers of those that are kept; they are numbered anew in this order.
        """
        kept = np.flatnonzero(in_use | (self._rank_of.used >= 0))
        self._when_counted = len(kept)
        if len(self) <= FEW + len(kept) + len(kept) // 2:
            return None
        words = self._table.to_arrow(kept)
        self._table = StringTable()
        self._table.add(words)
        self._rank_of = GrowingArray(self._rank_of.used[kept])
        ranked = np.flatnonzero(self._rank_of.used >= 0)
        self._number_of.used[self._rank_of.used[ranked]] = ranked
        return kept

    def check(self, store: SubscriptionStore) -> None:
        """Assert that ranks and numbers are those of the store's words."""
        assert len(self._rank_of.used) == len(self._table)
        words = store.words_by_rank()
        assert self._table.to_arrow(self._number_of.used).to_pylist() == words.to_pylist()
        ranked = np.flatnonzero(self._rank_of.used >= 0)
        assert sorted(ranked.tolist()) == sorted(self._number_of.used.tolist())
        assert (self._number_of.used[self._rank_of.used[ranked]] == ranked).all()

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self._table.nbytes + self._rank_of.used.nbytes + self._number_of.used.nbytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        return {
            "rank_of": self._rank_of.used,
            "number_of": self._number_of.used,
            "when_counted": np.array([self._when_counted]),
            **{f"table/{name}": array for name, array in self._table.arrays().items()},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> NumberedWords:
        """The words whose `arrays()` these are; a loaded store counts its orders from 0 again."""
        words = cls()
        words._table = StringTable.from_arrays(part(arrays, "table/"))
        words._rank_of = GrowingArray(arrays["rank_of"])
        words._number_of = GrowingArray(arrays["number_of"])
        words._when_counted = int(arrays["when_counted"][0])
        return words
