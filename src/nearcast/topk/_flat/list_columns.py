"""Lists that a step has changed, as columns: arrays all the way, because there may be very many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.id_table import IdTable
from nearcast.model import Id
from nearcast.topk._flat.message_ids import MessageIds
from nearcast.topk._flat.subscriptions import HELD, START, STEP, K, Subscriptions
from nearcast.topk._flat.touched import LISTS, Touched
from nearcast.topk.list_change import ListChanges, ids_as_arrow, joined_ids, starts
from nearcast.topk.parts import PartChanges, Parts, differ, pairs, runs

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
    slots, before, old, after, new = _changed(touched, subscriptions, rows)
    old_pairs = pairs(touched.seq[old].astype(np.int64), before)
    new_pairs = pairs(rows.seq[new].astype(np.int64), after)
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


def part_changes(
    touched: Touched,
    subscriptions: Subscriptions,
    rows: Any,
    subscription_ids: IdTable,
    message_ids: MessageIds,
    gone: dict[int, Id],
    numbers_of: Callable[[NDArray[np.int32]], _Ints],
) -> PartChanges:
    """As `changed_lists`, with what lists were, and messages by their numbers in a stream.

    `numbers_of` tells them for arrivals, those that have left too.
    """
    slots, before, old, after, new = _changed(touched, subscriptions, rows)
    was, now = touched.seq[old], rows.seq[new]
    names = _ids_of(was, message_ids, gone)
    return PartChanges(
        subscription_ids.ids_of(slots),
        Parts(starts(before), names, touched.score[old], numbers_of(was)),
        Parts(starts(after), message_ids.ids_of(now), rows.score[new], numbers_of(now)),
    )


def _ids_of(seqs: NDArray[np.int32], message_ids: MessageIds, gone: dict[int, Id]) -> pa.Array:
    """The ids of messages, some of which are in the window no more."""
    arrivals, place = np.unique(seqs, return_inverse=True)
    is_gone = np.isin(arrivals, np.fromiter(gone, np.int64, len(gone)))
    order = np.argsort(~is_gone, kind="stable")  # those that are gone come first
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    left = ids_as_arrow(gone[seq] for seq in arrivals[is_gone].tolist())
    return joined_ids([left, message_ids.ids_of(arrivals[~is_gone])]).take(pa.array(rank[place]))


def _changed(
    touched: Touched, subscriptions: Subscriptions, rows: Any
) -> tuple[NDArray[np.int32], _Ints, _Ints, _Ints, _Ints]:
    """The slots of lists that are others than they were; how long they were, and where in `touched`
    what they had is; how long they are, and where in `rows` what they have is."""
    count = int(touched.ends[LISTS])
    slots = touched.slot[:count]
    before = np.diff(touched.start[: count + 1])
    head = subscriptions.head[slots]
    after = np.minimum(head[:, K], head[:, HELD]).astype(np.int64)
    old = runs(touched.start[:count], before)
    new = runs(head[:, START].astype(np.int64) * STEP, after)
    chosen = differ(touched.seq[old], before, rows.seq[new], after)
    return (
        slots[chosen],
        before[chosen],
        old[np.repeat(chosen, before)],
        after[chosen],
        new[np.repeat(chosen, after)],
    )
