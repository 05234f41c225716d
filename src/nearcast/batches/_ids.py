"""The ids of a batch: an Arrow column of 64-bit integers or of strings, each id once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from nearcast.batches.rejects import Rejects


def ids_to_arrow(ids: Sequence[int | str], rejects: Rejects) -> pa.Array:
    """Ids of objects as a column: int64 when the first is an integer, else large_string."""
    kind = str if ids and isinstance(ids[0], str) else int
    odd = [row for row, id in enumerate(ids) if not isinstance(id, kind)]
    for row in odd:
        rejects.add(
            row,
            f"the id is not of the kind of the first one, {ids[0]!r}; "
            "a batch has integers or strings as ids, not both",
        )
    if odd:
        return pa.array([str(id) for id in ids], pa.large_string())
    return pa.array(ids, pa.int64() if kind is int else pa.large_string())


def joined_ids(columns: Sequence[pa.Array]) -> pa.Array:
    """The ids of several batches in one column; batches without rows fit any kind of id."""
    if not columns:
        raise ValueError("there is no batch to join; give at least one")
    filled = [column for column in columns if len(column)] or [columns[0]]
    types = {column.type for column in filled}
    if len(types) > 1:
        raise ValueError(
            "batches with integer ids and batches with string ids cannot be joined; "
            "make all ids strings"
        )
    return pa.concat_arrays(filled)


def check_ids(ids: pa.Array, rejects: Rejects) -> None:
    """Reject every row whose id an earlier row has."""
    if ids.type not in (pa.int64(), pa.large_string()):
        raise TypeError(f"ids must be int64 or large_string, not {ids.type}")
    if pa.types.is_int64(ids.type) and not ids.null_count:
        numbers = ids.to_numpy()
        if bool(np.all(numbers[1:] > numbers[:-1])):
            return
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) + ids.null_count == len(ids):
        return
    valid = np.flatnonzero(ids.is_valid().to_numpy(zero_copy_only=False))
    codes = encoded.indices.drop_null().to_numpy()
    first = np.unique(codes, return_index=True)[1]  # codes count by first occurrence
    again = np.ones(len(codes), bool)
    again[first] = False
    for row, code in zip(valid[again].tolist(), codes[again].tolist(), strict=True):
        rejects.add(
            row,
            f"id {ids[row].as_py()!r} is that of row {valid[first[code]]} too; "
            "ids must be unique within a batch",
        )
