"""Do the arrays of the indexes of this package agree with each other?  For tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.topk.skype._bounds import lowered, needed_nearness
from nearcast.topk.skype._cells import CELLS, Cells, leaf_of, members_of
from nearcast.topk.skype._disseminate import CIQ, IGPT, part_of
from nearcast.topk.skype._lists import (
    LABELS,
    MOST,
    MOST_ALPHA,
    STAR,
    THETA,
    Lists,
    find_head,
    label_of,
)
from nearcast.topk.skype._process import How
from nearcast.topk.skype._pyramid import Pyramid, cells_of
from nearcast.topk.skype._reevaluate import KMAX, most_kept
from nearcast.topk.skype._rows import KNOWS_ALL, Rows
from nearcast.topk.skype._takers import Takers
from nearcast.topk.word_lists._check import _check_messages
from nearcast.topk.word_lists._wanted import Distances, Wanted, score_of
from nearcast.topk.word_lists._window import Messages, Rings


def check_arrays(
    rows: Rows,
    takers: Takers,
    lists: Lists,
    cells: Cells,
    pyramid: Pyramid,
    how: How,
    wanted: Wanted,
    messages: Messages,
    rings: Rings,
    idf: NDArray[np.float64],
    space: Distances,
    slots: NDArray[Any],
) -> None:
    """Assert what the module docstrings of the kernels promise."""
    window = _check_messages(messages, rings)
    live = slots.tolist()
    for slot in live:
        _check_row(rows, how, wanted, messages, idf, space, slot, window)
        _check_takers(rows, takers, slot)
    if how.kind == CIQ:
        _check_pyramid(lists, pyramid, how, wanted, space, live)
    else:
        _check_cells(lists, cells, rows, how, wanted, live)
    _check_heads(lists, how)


def _check_row(
    rows: Rows,
    how: How,
    wanted: Wanted,
    messages: Messages,
    idf: NDArray[np.float64],
    space: Distances,
    slot: int,
    window: list[int],
) -> None:
    """Sorted, and better than all that is missing, but for what is dominated."""
    at, count, k = int(rows.start[slot]), int(rows.held[slot]), int(wanted.k[slot])
    scores, seqs = rows.score[at : at + count].tolist(), rows.seq[at : at + count].tolist()
    row = list(zip(scores, seqs, strict=True))
    theta = float(rows.theta[slot])
    assert count <= rows.room[slot]
    assert row == sorted(row, reverse=True)
    assert theta == KNOWS_ALL or count >= k
    assert how.policy != KMAX or count <= most_kept(k, how.factor)
    mask, ring = len(messages.lon) - 1, len(messages.word) - 1
    mine = set(wanted.word[int(wanted.first[slot]) :][: int(wanted.words[slot])].tolist())
    everything = []
    for seq in window:
        m = seq & mask
        places = (int(messages.first[m]) + np.arange(int(messages.words[m]))) & ring
        word = messages.word[places]
        if mine.isdisjoint(word.tolist()):
            continue
        weight = messages.times[places] * idf[word] / messages.length[m]
        score = score_of(wanted, slot, messages.lon[m], messages.lat[m], word, weight, space)
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


def _check_takers(rows: Rows, takers: Takers, slot: int) -> None:
    at = int(rows.start[slot])
    for seq in rows.seq[at : at + int(rows.held[slot])].tolist():
        taker = int(takers.head[seq & (len(takers.head) - 1)])
        while takers.slot[taker] != slot:
            taker = int(takers.following[taker])
            assert taker >= 0, (slot, seq)


def _check_cells(
    lists: Lists, cells: Cells, rows: Rows, how: How, wanted: Wanted, live: list[int]
) -> None:
    count = int(cells.ends[CELLS])
    assert int(cells.held[:count].sum()) == len(live)
    members = [slot for cell in range(count) for slot in members_of(cells, cell).tolist()]
    assert sorted(members) == sorted(live)
    postings = 0
    for slot in live:
        cell, alpha = int(cells.cell[slot]), float(wanted.alpha[slot])
        assert leaf_of(cells, wanted.lon[slot], wanted.lat[slot]) == cell
        if how.kind == IGPT:
            assert cells.least[cell] <= needed_nearness(alpha, rows.theta[slot])
        part = part_of(alpha, how.cuts)
        first = int(wanted.first[slot])
        for word in wanted.word[first : first + int(wanted.words[slot])].tolist():
            head = int(find_head(lists, label_of(word, cell, part)))
            begin, end = int(lists.first[head]), int(lists.first[head] + lists.size[head])
            [at] = np.flatnonzero(lists.slot[begin:end] == slot)
            assert lists.data[begin + at, THETA] <= lowered(rows.theta[slot])
            postings += 1
    assert postings == _postings_of(lists)


def _check_pyramid(
    lists: Lists, pyramid: Pyramid, how: How, wanted: Wanted, space: Distances, live: list[int]
) -> None:
    postings = 0
    for slot in live:
        first = int(wanted.first[slot])
        words = wanted.word[first : first + int(wanted.words[slot])].tolist()
        lon, lat = wanted.lon[slot], wanted.lat[slot]
        for cell in cells_of(pyramid, slot, how.levels, lon, lat, space).tolist():
            for word in words:
                head = int(find_head(lists, label_of(word, cell, 0)))
                begin, end = int(lists.first[head]), int(lists.first[head] + lists.size[head])
                slots = lists.slot[begin:end].tolist()
                assert slots == sorted(set(slots))
                assert slot in slots
                postings += 1
    assert postings == _postings_of(lists)


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
