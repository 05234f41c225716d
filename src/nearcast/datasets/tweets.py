"""An endless stream of synthetic tweets that any machine regenerates from a seed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.datasets._alias_kernels import alias_table
from nearcast.datasets._tweet_kernels import fill, lengths
from nearcast.datasets._words_in_use import words_in_use
from nearcast.datasets.pseudo_words import pseudo_words
from nearcast.model import Box

_CITIES = 400


@dataclass(frozen=True)
class Tweets:
    """Short messages with a Zipf vocabulary and clustered places, made as they are asked for.

    Word frequencies fall as 1 / rank over `vocabulary` pseudo-words. A part of the words belongs to
    a city or to the news of the moment, so that both what is said where and what is said when
    vary. Nine places in ten lie around one of 400 cities of very different sizes, the others
    anywhere in `bounds`; the area of `bounds` is "the space" of which subscriptions take a share.
    Tweet `n` depends on the seed and `n` alone, has the id `n` and comes `n` seconds after the
    first one, give or take a second.

    Parameters
    ----------
    seed: another seed is another stream
    vocabulary: how many different words there are
    shortest, longest: words a tweet, uniformly between the two

    >>> stream = Tweets(seed=7, vocabulary=1000)
    >>> batch = stream.batch(3)
    >>> batch.message(2) == stream.take([2]).message(0)
    True
    """

    seed: int = 0
    vocabulary: int = 1_700_000
    shortest: int = 5
    longest: int = 13
    bounds: Box = Box(-125.0, 24.0, -66.0, 50.0)

    def __post_init__(self) -> None:
        if self.vocabulary < 1:
            raise ValueError(f"vocabulary {self.vocabulary} is not positive; give at least 1 word")
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                f"a tweet cannot have {self.shortest} to {self.longest} words; "
                "give 1 <= shortest <= longest"
            )

    def batch(self, count: int, *, first: int = 0) -> MessageBatch:
        """`count` tweets in a row, from number `first` on."""
        return self.take(np.arange(first, first + count))

    def take(self, rows: Any) -> MessageBatch:
        """The tweets with these numbers, in this order, as columns."""
        row = np.ascontiguousarray(rows, np.int64)
        if row.size and row.min() < 0:
            raise ValueError(f"tweet {row.min()} does not exist; numbers start at 0")
        word_start = np.empty(row.size + 1, np.int64)
        lengths(self.seed, row, self.shortest, self.longest, word_start)
        words = np.empty(word_start[-1], np.int32)
        at = np.empty((row.size, 2), np.float64)
        time = np.empty(row.size, np.float64)
        box = np.array(
            [self.bounds.west, self.bounds.south, self.bounds.east, self.bounds.north], np.float64
        )
        chances = (*self._urban, *self._zipf)
        fill(self.seed, row, word_start, words, at, time, box, self._cities, *chances)
        ranks, codes = words_in_use(words, self.vocabulary)
        return MessageBatch(
            ids=pa.array(row),
            lexicon=pseudo_words(ranks),
            word_start=word_start,
            words=codes,
            at=np.concatenate([at, at], axis=1),
            is_box=np.zeros(row.size, np.bool_),
            time=time,
            expires=np.full(row.size, np.nan),
        )

    @cached_property
    def _zipf(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        return alias_table(1.0 / np.arange(1.0, self.vocabulary + 1.0))

    @cached_property
    def _urban(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        # Zipf with a flat start, as the sizes of a continent's cities are: the largest has 7%.
        return alias_table(1.0 / np.arange(2.5, _CITIES + 2.5))

    @cached_property
    def _cities(self) -> NDArray[np.float64]:
        """Longitude, latitude and the spread along each, a city a row."""
        draw = np.random.Generator(np.random.PCG64(self.seed))
        width = self.bounds.east - self.bounds.west
        height = self.bounds.north - self.bounds.south
        place = draw.random((_CITIES, 2)) * (width, height) + (self.bounds.west, self.bounds.south)
        # From a town to a metropolitan area; squaring makes most of them small.
        spread = (0.002 + 0.02 * draw.random(_CITIES) ** 2)[:, None] * (width, width)
        return np.concatenate([place, spread], axis=1)
