"""The words of a batch: an Arrow array of distinct tokens, and codes that point into it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Codes = npt.NDArray[np.int32]


def without_unused(lexicon: pa.LargeStringArray, *codes: Codes) -> tuple[pa.Array, list[Codes]]:
    """Drop the words no code points at, and renumber the codes.

    >>> lexicon, [codes] = without_unused(pa.array(["a", "b", "c"]), np.array([2, 0, 2], np.int32))
    >>> lexicon.to_pylist(), codes.tolist()
    (['a', 'c'], [1, 0, 1])
    """
    used = np.zeros(len(lexicon), bool)
    for some in codes:
        used[some] = True
    if used.all():
        return lexicon, list(codes)
    renumbered = (np.cumsum(used) - 1).astype(np.int32)
    return lexicon.take(pa.array(np.flatnonzero(used))), [renumbered[some] for some in codes]


def merged(lexicons: Sequence[pa.LargeStringArray]) -> tuple[pa.LargeStringArray, list[Codes]]:
    """One lexicon that holds the words of all, and for each of them its codes in it.

    >>> lexicon, codes = merged([large(["a", "b"]), large(["c", "a"])])
    >>> lexicon.to_pylist(), [some.tolist() for some in codes]
    (['a', 'b', 'c'], [[0, 1], [2, 0]])
    """
    words, codes = distinct_words(pa.concat_arrays(lexicons))
    ends = np.cumsum([len(lexicon) for lexicon in lexicons])
    return words, np.split(codes, ends[:-1])


def check_lexicon(lexicon: pa.LargeStringArray) -> None:
    """Refuse a lexicon that is not an Arrow column of words; that they are distinct is trusted."""
    if lexicon.type != pa.large_string() or lexicon.null_count:
        raise TypeError(f"a lexicon must be large_string without nulls, not {lexicon.type}")


def distinct_words(words: pa.LargeStringArray) -> tuple[pa.LargeStringArray, Codes]:
    """The distinct words by first occurrence, and for each word its number among them."""
    encoded = words.dictionary_encode()
    # A copy: a view of Arrow memory is read-only, and Numba would compile every kernel twice.
    return encoded.dictionary, np.array(encoded.indices, np.int32)


def large(words: Sequence[str]) -> pa.LargeStringArray:
    """Python strings as an Arrow column with 64-bit offsets."""
    return pa.array(words, pa.large_string())
