"""Do the arrays of `WordLists` agree with each other?  For tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.topk._flat import subscriptions as columns
from nearcast.topk._flat import window as message_columns
from nearcast.topk._flat.check import check_messages, words_of
from nearcast.topk._flat.subscriptions import STEP, Distances, Subscriptions, score_of
from nearcast.topk._flat.window import Messages, Rings, unit_weights
from nearcast.topk.word_lists import _postings
from nearcast.topk.word_lists._postings import BLOCK, TOGETHER, Postings, lower_threshold
from nearcast.topk.word_lists._rows import Rows, most_entries
from nearcast.topk.word_lists._scan import may_concern


def check_arrays(
    subscriptions: Subscriptions,
    rows: Rows,
    postings: Postings,
    messages: Messages,
    rings: Rings,
    idf: NDArray[np.float64],
    space: Distances,
    slots: NDArray[Any],
) -> None:
    """Assert what the module docstrings of the kernels promise."""
    window = check_messages(messages, rings)
    live = set(slots.tolist())
    for slot in live:
        _check_postings(subscriptions, postings, slot)
        _check_row(subscriptions, rows, messages, idf, space, slot, window)
    terms = sum(int(subscriptions.head[slot, columns.WORDS]) for slot in live)
    assert terms == _check_lists(postings, live)


def _check_lists(postings: Postings, live: set[int]) -> int:
    """Every posting is of a live subscription, and its block knows of it: how many there are."""
    postings_held = 0
    for start, held, room, _ in postings.lists.tolist():
        assert held <= room
        for at in range(start, start + held):
            if postings.slot[at] < 0:
                assert room > BLOCK
                continue
            postings_held += 1
            assert int(postings.slot[at]) in live
            if room > BLOCK:
                _check_block(postings, at)
    return postings_held


def _check_block(postings: Postings, at: int) -> None:
    """A message that just pleases the posting has its block looked at."""
    x, y, z, alpha, theta, weight, _ = postings.data[at // BLOCK, :, at % BLOCK]
    blocks = postings.block[at // BLOCK // TOGETHER]
    one = np.float32(1.0)
    for share in (0.0, 0.3, 0.9):
        alike = (theta - alpha * (one - np.float32(share))) / max(one - alpha, np.float32(1e-9))
        theirs = np.float32(max(0.0, alike / max(weight, 1e-9)))
        place = (x + np.float32(share), y, z)
        maybe = may_concern(blocks, place, theirs, np.float32(0.0), one, one)
        assert maybe >> (at // BLOCK % TOGETHER) & 1, at


def _check_postings(subscriptions: Subscriptions, postings: Postings, slot: int) -> None:
    head = subscriptions.head[slot]
    first = int(head[columns.FIRST])
    for t in range(first, first + int(head[columns.WORDS])):
        word, position = int(subscriptions.word[t]), int(subscriptions.where[t])
        assert position < postings.lists[word, _postings.HELD]
        at = int(postings.lists[word, _postings.START]) + position
        assert postings.slot[at] == slot
        theta = lower_threshold(subscriptions.place[slot, columns.THETA])
        assert postings.data[at // BLOCK, _postings.THETA, at % BLOCK] == theta


def _check_row(
    subscriptions: Subscriptions,
    rows: Rows,
    messages: Messages,
    idf: NDArray[np.float64],
    space: Distances,
    slot: int,
    window: list[int],
) -> None:
    """Sorted, and nothing is missing but what is below the threshold or dominated."""
    start, count, room, k, first, words = subscriptions.head[slot, :6].tolist()
    theta = float(subscriptions.place[slot, columns.THETA])
    assert count <= room <= most_entries(k) + STEP
    at = start * STEP
    row = list(
        zip(rows.score[at : at + count].tolist(), rows.seq[at : at + count].tolist(), strict=True)
    )
    assert row == sorted(row, reverse=True)
    assert theta == 0.0 or count >= k
    mine = set(subscriptions.word[first : first + words].tolist())
    known = {seq: score for score, seq in row}
    for seq in window:
        m = seq & (len(messages.live) - 1)
        said = words_of(messages, m)
        if mine.isdisjoint(said.tolist()):
            assert seq not in known
            continue
        begins = np.flatnonzero(np.append(True, said[1:] != said[:-1]))
        word = said[begins]
        weight, _ = unit_weights(word, np.diff(np.append(begins, len(said))), idf)
        lon, lat = messages.place[m, message_columns.LON], messages.place[m, message_columns.LAT]
        score = score_of(subscriptions, slot, lon, lat, word, weight, space)
        if seq in known:
            assert known.pop(seq) == score >= theta
        elif score >= theta:
            assert sum(s >= score and other > seq for s, other in row) >= k
    assert not known
