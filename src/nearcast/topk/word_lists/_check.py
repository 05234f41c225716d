"""Do the arrays of `WordLists` agree with each other?  For tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearcast.topk.word_lists._buffers import Buffers, most_entries
from nearcast.topk.word_lists._postings import THETA, Postings
from nearcast.topk.word_lists._wanted import Distances, Wanted, lower_threshold, score_of
from nearcast.topk.word_lists._window import LIVE, NEXT, OLDEST, Messages, Rings


def check_arrays(
    buffers: Buffers,
    postings: Postings,
    wanted: Wanted,
    messages: Messages,
    rings: Rings,
    idf: NDArray[np.float64],
    space: Distances,
    slots: NDArray[Any],
) -> None:
    """Assert what the module docstrings of the kernels promise."""
    window = _check_messages(messages, rings)
    live = set(slots.tolist())
    assert int(postings.held.sum()) == sum(int(wanted.words[slot]) for slot in live)
    for slot in live:
        _check_postings(postings, wanted, slot, buffers)
        _check_row(buffers, wanted, messages, idf, space, slot, window)


def _check_messages(messages: Messages, rings: Rings) -> list[int]:
    oldest, following = int(messages.ends[OLDEST]), int(messages.ends[NEXT])
    mask, ring = len(messages.lon) - 1, len(messages.word) - 1
    held: dict[int, list[int]] = {}
    live = []
    for seq in range(oldest, following):
        m = seq & mask
        if messages.live[m]:
            live.append(seq)
        for j in range(int(messages.words[m])):
            word = int(messages.word[(int(messages.first[m]) + j) & ring])
            held.setdefault(word, []).append(seq)
    assert len(live) == int(messages.ends[LIVE])
    for word in range(len(rings.start)):
        count, room = int(rings.held[word]), int(rings.room[word])
        at = int(rings.start[word]) + ((int(rings.head[word]) + np.arange(count)) & (room - 1))
        assert rings.seq[at].tolist() == held.get(word, []), word
    return live


def _check_postings(postings: Postings, wanted: Wanted, slot: int, buffers: Buffers) -> None:
    first = int(wanted.first[slot])
    for t in range(first, first + int(wanted.words[slot])):
        word, position = int(wanted.word[t]), int(wanted.where[t])
        assert position < postings.held[word] <= postings.room[word]
        at = int(postings.start[word]) + position
        assert postings.slot[at] == slot
        assert postings.data[THETA, at] == lower_threshold(buffers.theta[slot])


def _check_row(
    buffers: Buffers,
    wanted: Wanted,
    messages: Messages,
    idf: NDArray[np.float64],
    space: Distances,
    slot: int,
    window: list[int],
) -> None:
    """Sorted, and nothing is missing but what is below the threshold or dominated."""
    at, count, k = int(buffers.start[slot]), int(buffers.held[slot]), int(wanted.k[slot])
    theta = float(buffers.theta[slot])
    assert count <= buffers.room[slot] <= most_entries(k) + 8
    row = list(
        zip(
            buffers.score[at : at + count].tolist(),
            buffers.seq[at : at + count].tolist(),
            strict=True,
        )
    )
    assert row == sorted(row, reverse=True)
    assert theta == 0.0 or count >= k
    mask, ring = len(messages.lon) - 1, len(messages.word) - 1
    mine = set(wanted.word[int(wanted.first[slot]) :][: int(wanted.words[slot])].tolist())
    known = {seq: score for score, seq in row}
    for seq in window:
        m = seq & mask
        places = (int(messages.first[m]) + np.arange(int(messages.words[m]))) & ring
        word = messages.word[places]
        if mine.isdisjoint(word.tolist()):
            assert seq not in known
            continue
        weight = messages.times[places] * idf[word] / messages.length[m]
        score = score_of(wanted, slot, messages.lon[m], messages.lat[m], word, weight, space)
        if seq in known:
            assert known.pop(seq) == score >= theta
        elif score >= theta:
            assert sum(s >= score and other > seq for s, other in row) >= k
    assert not known
