"""The terms of the documents that count, and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nearcast.text.string_table import StringTable
from nearcast.trending.term_rules import TermRules

NO_TERM = -1


class Vocabulary:
    """Numbers for terms, and none for words that are no terms.

    >>> vocabulary = Vocabulary(TermRules())
    >>> vocabulary.counted(("rain", "and", "rain", "bus"))
    (array([0, 1], dtype=int32), array([2, 1], dtype=int32))
    >>> vocabulary.term(1), len(vocabulary)
    ('bus', 2)
    """

    def __init__(self, rules: TermRules, table: StringTable | None = None) -> None:
        self._rules = rules
        self._table = StringTable() if table is None else table
        self._stop_words = pa.array(sorted(rules.stop_words), pa.large_string())

    def __len__(self) -> int:
        return len(self._table)

    def term(self, number: int) -> str:
        """The term with this number."""
        return self._table.word(number)

    def terms(self, numbers: NDArray[np.integer[Any]]) -> pa.LargeStringArray:
        """The terms with these numbers."""
        return self._table.to_arrow(numbers)

    def counted(self, words: tuple[str, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The terms of one document, each once, and how often it says them."""
        counts = Counter(self._rules.terms(words))
        return self._table.add([*counts]), np.array([*counts.values()], np.int32)

    def numbers(self, lexicon: pa.LargeStringArray) -> NDArray[np.int32]:
        """The number of each of many different words, `NO_TERM` for those that do not count."""
        long_enough = pc.greater_equal(pc.utf8_length(lexicon), self._rules.shortest)
        is_term = pc.and_(long_enough, pc.invert(pc.is_in(lexicon, self._stop_words)))
        numbers = np.full(len(lexicon), NO_TERM, np.int32)
        numbers[is_term.to_numpy(zero_copy_only=False)] = self._table.add(lexicon.filter(is_term))
        return numbers

    def keep(self, numbers: NDArray[np.integer[Any]]) -> None:
        """Forget all terms but these, which are numbered 0, 1, 2, … in this order from now on."""
        kept = self._table.to_arrow(numbers)
        self._table = StringTable()
        self._table.add(kept)

    def spelling(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Bytes of all terms, and where each begins; bytes are in the order of code points."""
        arrays = self._table.arrays()
        return arrays["data"], arrays["start"]  # type: ignore[return-value]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as views, for saving."""
        return self._table.arrays()

    @classmethod
    def from_arrays(cls, rules: TermRules, arrays: Mapping[str, NDArray[Any]]) -> Vocabulary:
        """The vocabulary whose `arrays()` these are."""
        return cls(rules, StringTable.from_arrays(arrays))
