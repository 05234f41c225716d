"""Do the arrays of the indexes of this package agree with each other?  For tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.topk._flat.check import check_messages
from nearcast.topk._flat.subscriptions import (
    ALPHA,
    FIRST,
    HELD,
    LAT,
    LON,
    START,
    STEP,
    THETA,
    WORDS,
    Distances,
    K,
    Subscriptions,
    score_of,
)
from nearcast.topk._flat.window import LAT as MESSAGE_LAT
from nearcast.topk._flat.window import LON as MESSAGE_LON
from nearcast.topk._flat.window import Messages, Rings, read_words
from nearcast.topk.skype._bounds import lowered, needed_nearness
from nearcast.topk.skype._cells import CELLS, Cells, leaf_of, members_of
from nearcast.topk.skype._disseminate import CIQ, IGPT, part_of
from nearcast.topk.skype._lists import (
    LABELS,
    MOST,
    MOST_ALPHA,
    STAR,
    Lists,
    find_head,
    label_of,
)
from nearcast.topk.skype._lists import THETA as LIST_THETA
from nearcast.topk.skype._process import How
from nearcast.topk.skype._pyramid import Pyramid, cells_of
from nearcast.topk.skype._reevaluate import KMAX, most_kept
from nearcast.topk.skype._rows import KNOWS_ALL, Rows
from nearcast.topk.skype._takers import Takers


def check_arrays(
    rows: Rows,
    takers: Takers,
    lists: Lists,
    cells: Cells,
    pyramid: Pyramid,
    how: How,
    subscriptions: Subscriptions,
    messages: Messages,
    rings: Rings,
    idf: NDArray[np.float64],
    space: Distances,
    slots: NDArray[Any],
) -> None:
    """Assert what the module docstrings of the kernels promise."""
    window = check_messages(messages, rings)
    live = slots.tolist()
    for slot in live:
        _check_row(rows, how, subscriptions, messages, idf, space, slot, window)
        _check_takers(subscriptions, rows, takers, slot)
    if how.kind == CIQ:
        _check_pyramid(lists, pyramid, how, subscriptions, space, live)
    else:
        _check_cells(lists, cells, how, subscriptions, live)
    _check_heads(lists, how)


def _check_row(
    rows: Rows,
    how: How,
    subscriptions: Subscriptions,
    messages: Messages,
    idf: NDArray[np.float64],
    space: Distances,
    slot: int,
    window: list[int],
) -> None:
    """Sorted, and better than all that is missing, but for what is dominated."""
    start, count, room, k = subscriptions.head[slot, : K + 1].tolist()
    at = start * STEP
    scores, seqs = rows.score[at : at + count].tolist(), rows.seq[at : at + count].tolist()
    row = list(zip(scores, seqs, strict=True))
    theta = float(subscriptions.place[slot, THETA])
    assert count <= room
    assert row == sorted(row, reverse=True)
    assert theta == KNOWS_ALL or count >= k
    assert how.policy != KMAX or count <= most_kept(k, how.factor)
    mine = set(_words_of(subscriptions, slot))
    everything = []
    for seq in window:
        m = seq & (len(messages.live) - 1)
        word, weight = read_words(messages, m, idf)
        if mine.isdisjoint(word.tolist()):
            continue
        lon, lat = messages.place[m, MESSAGE_LON], messages.place[m, MESSAGE_LAT]
        score = score_of(subscriptions, slot, lon, lat, word, weight, space)
        everything.append((score, seq))
    assert set(row) <= set(everything)
    for score, seq in set(everything) - set(row):
        dominating = sum(s >= score and other > seq for s, other in everything)
        is_below = theta != KNOWS_ALL and all((score, seq) < each for each in row)
        assert is_below or (how.policy != KMAX and dominating >= k), (score, seq, row)
    if how.policy != KMAX:
        for i in range(count):
            dominating = sum(s >= scores[i] and other > seqs[i] for s, other in everything)
            assert rows.newer[at + i] <= dominating
            assert rows.newer[at + i] < k


def _check_takers(subscriptions: Subscriptions, rows: Rows, takers: Takers, slot: int) -> None:
    at = int(subscriptions.head[slot, START] * STEP)
    for seq in rows.seq[at : at + int(subscriptions.head[slot, HELD])].tolist():
        taker = int(takers.head[seq & (len(takers.head) - 1)])
        while takers.slot[taker] != slot:
            taker = int(takers.following[taker])
            assert taker >= 0, (slot, seq)


def _check_cells(
    lists: Lists, cells: Cells, how: How, subscriptions: Subscriptions, live: list[int]
) -> None:
    count = int(cells.ends[CELLS])
    assert int(cells.held[:count].sum()) == len(live)
    members = [slot for cell in range(count) for slot in members_of(cells, cell).tolist()]
    assert sorted(members) == sorted(live)
    postings = 0
    for slot in live:
        cell, alpha = int(cells.cell[slot]), float(subscriptions.place[slot, ALPHA])
        lon, lat = subscriptions.place[slot, LON], subscriptions.place[slot, LAT]
        assert leaf_of(cells, lon, lat) == cell
        if how.kind == IGPT:
            assert cells.least[cell] <= needed_nearness(alpha, subscriptions.place[slot, THETA])
        part = part_of(alpha, how.cuts)
        for word in _words_of(subscriptions, slot):
            head = int(find_head(lists, label_of(word, cell, part)))
            begin, end = int(lists.first[head]), int(lists.first[head] + lists.size[head])
            [at] = np.flatnonzero(lists.slot[begin:end] == slot)
            assert lists.data[begin + at, LIST_THETA] <= lowered(subscriptions.place[slot, THETA])
            postings += 1
    assert postings == _postings_of(lists)


def _check_pyramid(
    lists: Lists,
    pyramid: Pyramid,
    how: How,
    subscriptions: Subscriptions,
    space: Distances,
    live: list[int],
) -> None:
    postings = 0
    for slot in live:
        lon, lat = subscriptions.place[slot, LON], subscriptions.place[slot, LAT]
        for cell in cells_of(pyramid, slot, how.levels, lon, lat, space).tolist():
            for word in _words_of(subscriptions, slot):
                head = int(find_head(lists, label_of(word, cell, 0)))
                begin, end = int(lists.first[head]), int(lists.first[head] + lists.size[head])
                slots = lists.slot[begin:end].tolist()
                assert slots == sorted(set(slots))
                assert slot in slots
                postings += 1
    assert postings == _postings_of(lists)


def _words_of(subscriptions: Subscriptions, slot: int) -> list[int]:
    first = int(subscriptions.head[slot, FIRST])
    return subscriptions.word[first : first + int(subscriptions.head[slot, WORDS])].tolist()


def _postings_of(lists: Lists) -> int:
    return sum(
        int(lists.size[int(lists.start[word]) : int(lists.start[word] + lists.held[word])].sum())
        for word in np.flatnonzero(lists.held).tolist()
    )


def _check_heads(lists: Lists, how: How) -> None:
    heads = 0
    for word in np.flatnonzero(lists.held).tolist():
        for head in range(int(lists.start[word]), int(lists.start[word] + lists.held[word])):
            heads += 1
            label, count = lists.label[head], int(lists.size[head])
            assert label >> 32 == word
            assert find_head(lists, label) == head
            assert 0 < count <= lists.space[head]
            if how.kind == IGPT:
                data = lists.data[lists.first[head] : lists.first[head] + count]
                assert (np.diff(data[:, STAR]) >= 0).all()
                for column in (MOST, MOST_ALPHA):
                    assert (np.diff(data[:, column]) <= 0).all()
                assert lists.bound[:, head].tolist() == data[0, STAR:].tolist()
    assert heads == int(lists.used[LABELS]) == int((lists.key >= 0).sum())
