"""Lists that a step has changed, as columns: arrays all the way, because there may be very many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.id_table import IdTable
from nearcast.model import Id
from nearcast.topk._flat.message_ids import MessageIds
from nearcast.topk._flat.subscriptions import HELD, START, STEP, K, Subscriptions
from nearcast.topk._flat.touched import LISTS, Touched
from nearcast.topk.list_change import ListChanges, ids_as_arrow, starts

_Ints = NDArray[np.int64]


def changed_lists(
    touched: Touched,
    subscriptions: Subscriptions,
    rows: Any,
    subscription_ids: IdTable,
    message_ids: MessageIds,
    gone: dict[int, Id],
) -> ListChanges:
    """Those of the touched lists that are others than they were.  O(lists).

    `rows` has `seq` and `score`; `gone` the ids of the arrivals that have left the window.
    """
    count = int(touched.ends[LISTS])
    slots = touched.slot[:count]
    before = np.diff(touched.start[: count + 1])
    head = subscriptions.head[slots]
    after = np.minimum(head[:, K], head[:, HELD]).astype(np.int64)
    old = _runs(touched.start[:count], before)
    new = _runs(head[:, START].astype(np.int64) * STEP, after)
    chosen = _differ(touched.seq[old], before, rows.seq[new], after)
    old_chosen, new_chosen = np.repeat(chosen, before), np.repeat(chosen, after)
    old, new = old[old_chosen], new[new_chosen]
    before, after, slots = before[chosen], after[chosen], slots[chosen]

    # A list and an arrival as one number, so that one search compares all lists with theirs.
    old_pairs = _pairs(touched.seq[old], before)
    new_pairs = _pairs(rows.seq[new], after)
    is_new = ~np.isin(new_pairs, old_pairs)
    has_left = ~np.isin(old_pairs, new_pairs)
    left_counts = np.bincount(
        np.repeat(np.arange(len(before)), before)[has_left], None, len(before)
    )
    left = touched.seq[old[has_left]].tolist()
    return ListChanges(
        subscription_ids.ids_of(slots),
        starts(after),
        message_ids.ids_of(rows.seq[new]) if len(new) else pa.array([], pa.int64()),
        rows.score[new],
        is_new,
        starts(left_counts),
        ids_as_arrow(gone[seq] if seq in gone else message_ids.id_of(seq) for seq in left),
    )


def _runs(first: NDArray[Any], lengths: _Ints) -> _Ints:
    """The numbers first[i], first[i] + 1, … of all runs, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(first - (ends - lengths), lengths)


def _pairs(seqs: NDArray[np.int32], lengths: _Ints) -> _Ints:
    return np.repeat(np.arange(len(lengths)), lengths) << 32 | seqs.astype(np.int64)


def _differ(
    old: NDArray[np.int32], before: _Ints, new: NDArray[np.int32], after: _Ints
) -> NDArray[np.bool_]:
    """Which lists have other arrivals, or as many in another order?"""
    differ: NDArray[np.bool_] = before != after
    alike = ~differ
    number = np.repeat(np.arange(len(before)), before)[np.repeat(alike, before)]
    differ[number[old[np.repeat(alike, before)] != new[np.repeat(alike, after)]]] = True
    return differ
