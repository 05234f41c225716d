"""Lists that a step has changed, as columns: arrays all the way, because there may be very many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.boolean.id_table import IdTable
from nearcast.list_differences import come_and_gone, copied_runs, which_differ
from nearcast.model import Id
from nearcast.topk._flat.message_ids import MessageIds
from nearcast.topk._flat.subscriptions import HELD, START, STEP, K, Subscriptions
from nearcast.topk._flat.touched import LISTS, Touched
from nearcast.topk.list_change import ListChanges, ids_as_arrow, joined_ids, starts
from nearcast.topk.parts import PartChanges, Parts

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
    was, old_start = copied_runs(touched.seq, old, before), starts(before)
    now, new_start = copied_runs(rows.seq, new, after), starts(after)
    is_new, has_left = come_and_gone(was, old_start, now, new_start)
    return ListChanges(
        subscription_ids.ids_of(slots),
        new_start,
        message_ids.ids_of(now) if len(now) else pa.array([], pa.int64()),
        copied_runs(rows.score, new, after),
        is_new,
        np.append(0, np.cumsum(has_left))[old_start],
        _ids_of(was[has_left], message_ids, gone),
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
    was, now = copied_runs(touched.seq, old, before), copied_runs(rows.seq, new, after)
    old_scores = copied_runs(touched.score, old, before)
    new_scores = copied_runs(rows.score, new, after)
    names = _ids_of(was, message_ids, gone)
    return PartChanges(
        subscription_ids.ids_of(slots),
        Parts(starts(before), names, old_scores, numbers_of(was)),
        Parts(starts(after), message_ids.ids_of(now), new_scores, numbers_of(now)),
    )


def _ids_of(seqs: NDArray[np.int32], message_ids: MessageIds, gone: dict[int, Id]) -> pa.Array:
    """The ids of messages, some of which are in the window no more."""
    left = np.sort(np.fromiter(gone, np.int64, len(gone)))
    place = np.searchsorted(left, seqs)
    is_gone = np.append(left, -1)[place] == seqs
    place[~is_gone] = len(left) + np.arange(len(seqs) - is_gone.sum())
    names = [ids_as_arrow(gone[seq] for seq in left.tolist()), message_ids.ids_of(seqs[~is_gone])]
    return joined_ids(names).take(pa.array(place))


def _changed(
    touched: Touched, subscriptions: Subscriptions, rows: Any
) -> tuple[NDArray[np.int32], _Ints, _Ints, _Ints, _Ints]:
    """The slots of lists that are others than they were; how long they were, and where in `touched`
    what they had begins; how long they are, and where in `rows` what they have begins."""
    count = int(touched.ends[LISTS])
    slots = touched.slot[:count]
    old, before = touched.start[:count], np.diff(touched.start[: count + 1])
    head = subscriptions.head[slots]
    new = head[:, START].astype(np.int64) * STEP
    after = np.minimum(head[:, K], head[:, HELD]).astype(np.int64)
    chosen = which_differ(touched.seq, old, before, rows.seq, new, after)
    return slots[chosen], before[chosen], old[chosen], after[chosen], new[chosen]
