"""Hashes of ids and words, the same in every process, on every machine, in every release."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.pipeline.partitioning._hash_kernels import hash_numbers, hash_strings

Hashes: TypeAlias = NDArray[np.uint64]


def hash_ids(labels: pa.Array) -> Hashes:
    """uint64[n]: one hash for each id, integer or string.  O(bytes), no object per row.

    The number 7 and the string "7" are different ids and have different hashes.

    >>> hash_ids(pa.array([7, 8])).tolist()
    [7191089600892374487, 11409396526365357622]
    >>> hash_ids(pa.array(["7"])).tolist()
    [14936469269602084759]
    """
    if labels.null_count:
        raise ValueError(f"{labels.null_count} of {len(labels)} ids are null; drop them first")
    if pa.types.is_integer(labels.type):
        return hash_numbers(_read_only(labels.cast(pa.int64()).to_numpy()))
    if pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type):
        return hash_words(labels.cast(pa.large_string()))
    raise TypeError(f"ids must be integers or strings, not {labels.type}")


def hash_words(words: pa.LargeStringArray) -> Hashes:
    """uint64[n]: one hash for each string, of its UTF-8 bytes.  O(bytes)."""
    if not len(words):
        return np.empty(0, np.uint64)
    _, offsets, data = words.buffers()
    starts = np.frombuffer(offsets, np.int64)[words.offset : words.offset + len(words) + 1]
    return hash_strings(_read_only(np.frombuffer(data or b"", np.uint8)), _read_only(starts))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that is read-only even where the memory is not, so that one compiled kernel serves."""
    view = array.view()
    view.flags.writeable = False
    return view
