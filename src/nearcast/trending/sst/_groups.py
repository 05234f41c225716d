"""Documents of a term in groups of one neighbourhood (section 3.3 of the paper).

    box    float64[G, 7]  the corner LOW (3) and the corner HIGH (3) of the group's spots; MASS, the
                          weights of its documents: Apop of Eq. 12, relative to the landmark
    next   int32[G]       the next group of the same term, or the next vacant group; -1 for none
    first  int32[V, 2]    by term: its FIRST group, -1 for none; HELD, how many documents they have
    counts int64[2]       GROUPS ever made; VACANT, the first vacant one

No group is longer across than `group_width` (Tdist). When a term has lost documents its groups are
made again.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner
from nearcast.trending._nearby import documents as columns_of
from nearcast.trending._nearby.documents import START, WEIGHT, larger

LOW, HIGH, MASS = 0, 3, 6
FIRST, HELD = range(2)
GROUPS, VACANT = range(2)


class Groups(NamedTuple):
    """The arrays; see the module docstring."""

    box: NDArray[np.float64]
    next: NDArray[np.int32]
    first: NDArray[np.int32]
    counts: NDArray[np.int64]


def no_groups() -> Groups:
    """The arrays of none."""
    return Groups(
        np.empty((16, 7), np.float64),
        np.empty(16, np.int32),
        np.empty((0, 2), np.int32),
        np.array([0, -1], np.int64),
    )


@inner
def diagonal_with(box, x, y, z):
    """How long a group would be across with one more document."""
    dx = max(box[HIGH], x) - min(box[LOW], x)
    dy = max(box[HIGH + 1], y) - min(box[LOW + 1], y)
    dz = max(box[HIGH + 2], z) - min(box[LOW + 2], z)
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@inner
def add_to_group(groups, term, x, y, z, weight, group_width):
    """Algorithm 2 (GCOC): into the group that stays the smallest, or a new one.  O(groups)."""
    best, shortest = np.int64(-1), group_width
    g = np.int64(groups.first[term, FIRST])
    while g >= 0:
        across = diagonal_with(groups.box[g], x, y, z)
        if across < shortest or (across == shortest and best < 0):
            best, shortest = g, across
        g = np.int64(groups.next[g])
    groups.first[term, HELD] += 1
    if best < 0:
        best = groups.counts[VACANT]
        if best >= 0:
            groups.counts[VACANT] = groups.next[best]
        else:
            best = groups.counts[GROUPS]
            groups.counts[GROUPS] = best + 1
            if best == len(groups.next):
                groups = Groups(
                    larger(groups.box, 2 * best), larger(groups.next, 2 * best), groups.first,
                    groups.counts,
                )  # fmt: skip
        groups.next[best] = groups.first[term, FIRST]
        groups.first[term, FIRST] = best
        groups.box[best, LOW:HIGH] = np.inf
        groups.box[best, HIGH:MASS] = -np.inf
        groups.box[best, MASS] = 0.0
    box = groups.box[best]
    box[LOW], box[HIGH] = min(box[LOW], x), max(box[HIGH], x)
    box[LOW + 1], box[HIGH + 1] = min(box[LOW + 1], y), max(box[HIGH + 1], y)
    box[LOW + 2], box[HIGH + 2] = min(box[LOW + 2], z), max(box[HIGH + 2], z)
    box[MASS] += weight
    return groups


@inner
def drop_groups(groups, term):
    """The term has no group."""
    g = np.int64(groups.first[term, FIRST])
    while g >= 0:
        following = np.int64(groups.next[g])
        groups.next[g] = groups.counts[VACANT]
        groups.counts[VACANT] = g
        g = following
    groups.first[term, FIRST], groups.first[term, HELD] = -1, 0


@inner
def follow_documents(groups, term, documents, group_width):
    """The groups of a term that was just said, or has lost documents, have them all."""
    start, held = documents.lists[term, START], documents.lists[term, columns_of.HELD]
    begin = start + held - 1
    if groups.first[term, HELD] != held - 1:
        drop_groups(groups, term)
        begin = start
    for p in range(begin, start + held):
        place = documents.place[documents.doc[p]]
        groups = add_to_group(
            groups, term, place[columns_of.X], place[columns_of.Y], place[columns_of.Z],
            documents.times[p] * place[WEIGHT], group_width,
        )  # fmt: skip
    return groups
