"""Is the state of an index for regions consistent?  For tests, slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearcast.trending._regions.documents import LIVE
from nearcast.trending._regions.homes import fill
from nearcast.trending._regions.rows import HELD, ROOM, K, Rows
from nearcast.trending._regions.runs import COUNT, START

if TYPE_CHECKING:
    from nearcast.trending._regions.index import FlatRegions


def check_rows(index: FlatRegions) -> None:
    """Homes have every subscription once; rows are those that the documents give."""
    rows, slots = index._rows, index._ids.live_slots()
    _check_homes(index, slots)
    assert not index._terms.mark.any()
    assert not index._sums.units.any()
    assert (rows.head[slots, K] > 0).all()
    assert (rows.head[slots, HELD] <= rows.head[slots, ROOM]).all()
    assert index._levels.held.sum() == len(slots)
    if index._archive.documents.ends[LIVE] == 0:
        assert (rows.head[slots, HELD] == 0).all()
        assert not index._terms.mass.any()
        return
    anew = Rows._make(array.copy() for array in rows)
    fill(
        anew, slots.astype(np.int32), index._levels, index._archive, index._kernel_regions,
        index._is_earth, index._clock[0], index._sums, index._spelling,
    )  # fmt: skip
    for slot in slots.tolist():
        _check_row(rows, anew, slot)


def _check_homes(index: FlatRegions, slots: np.ndarray) -> None:
    runs, table = index._homes.runs, index._homes.table
    used = table.run[table.run >= 0]
    assert len(used) == table.ends[0]
    there = [
        runs.pool[runs.head[run, START] : runs.head[run, START] + runs.head[run, COUNT]]
        for run in used.tolist()
    ]
    found = np.sort(np.concatenate([*there, np.empty(0, np.int64)]))
    assert found.tolist() == slots.tolist()


def _check_row(rows: Rows, anew: Rows, slot: int) -> None:
    """`anew` has the best terms of the region, as many as the row has room for."""
    found, right = _entries(rows, slot), _entries(anew, slot)
    length = int(rows.head[slot, K])
    assert found[:length] == right[:length]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    exact = dict(right)
    held = {term for term, _ in found}
    assert len(held) == len(found)
    assert all(score == exact.get(term, score) for term, score in found)
    missing = [score for term, score in right if term not in held]
    assert max(missing, default=0) <= rows.outside[slot]


def _entries(rows: Rows, slot: int) -> list[tuple[int, int]]:
    part = slice(int(rows.start[slot]), int(rows.start[slot] + rows.head[slot, HELD]))
    return list(zip(rows.term[part].tolist(), rows.score[part].tolist(), strict=True))
