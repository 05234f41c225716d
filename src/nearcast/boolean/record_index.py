"""An index whose lists hold records: a subclass finds candidates, verifying them is the same."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._verify import verify
from nearcast.boolean._words import known_words
from nearcast.boolean.flat_index import FlatIndex
from nearcast.boolean.found import Found, Slots, in_chunks
from nearcast.model import Space

Runs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""References to records (see `_records`), and where those of each rectangle end among them."""


class RecordIndex(FlatIndex):
    """Matches in two steps: candidates as runs of records, then verification."""

    @property
    @abstractmethod
    def _records(self) -> NDArray[np.int32]:
        """The records that runs refer to."""

    @abstractmethod
    def _candidates(
        self,
        have: NDArray[np.int32],
        have_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
        first: int,
        last: int,
    ) -> Runs:
        """All runs that the messages first:last may reach, for each of their rectangles in turn.

        The arrays are drawn in `_words` and `_verify`. It may run in several threads.
        """

    def _matcher(
        self,
        words: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
    ) -> Callable[[int, int], list[Found]]:
        clauses, regions = self._store.clauses, self._store.regions.kernel_arrays()

        def match_chunk(first: int, last: int, room: int) -> Slots:
            have, have_start = known_words(words, word_start, first, last)
            runs, run_end = self._candidates(have, have_start, rects, rect_start, first, last)
            bits = self._word_bits.lend(self._store.words)
            slot_bits = self._slot_bits.lend(self._store.slots)
            found: Slots = verify(
                self._records, clauses, regions, self.space is Space.EARTH, bits, slot_bits,
                have, have_start, rects, rect_start, first, last, runs, run_end, room,
            )  # fmt: skip
            self._word_bits.take_back(bits)
            self._slot_bits.take_back(slot_bits)
            return found

        return lambda first, last: in_chunks(match_chunk, first, last)
