"""A whole trie at once, level by level, and its numbering.  The arrays are drawn in `_layout`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import ENTRY, run_room, settle_record
from nearcast.boolean._run_pool import RunPool, claim_records
from nearcast.boolean._verify import grown
from nearcast.boolean.mbr_trie._layout import (
    COUNT,
    ENTRIES,
    FIRST,
    GAP,
    NODES,
    RUN_COUNT,
    RUN_START,
    Trie,
    block_room,
    empty_trie,
    reserve,
)

ALL_PROVEN = -1  # every bit of `proven`


def build(clauses: Clauses, records: NDArray[np.int32], pool: RunPool) -> tuple[Trie, RunPool]:
    """A trie of the records' entries, whose runs are put into the pool.

    A level sorts the entries that reach it by the node they come from and their next word.
    O(words log entries).
    """
    trie = empty_trie()
    trie.used[ENTRIES] = len(records)
    entries = records[:, ENTRY]
    at, parent = np.arange(len(records)), np.zeros(len(records), np.int64)
    ended, ended_at = [], []
    depth = 0
    while len(at):
        goes_on = clauses.required[entries[at]] > depth
        ended.append(at[~goes_on])
        ended_at.append(parent[~goes_on])
        at, parent = at[goes_on], parent[goes_on]
        word = clauses.terms[clauses.start[entries[at]] + depth]
        by_word = np.argsort((parent << 32) | word, kind="stable")
        at, parent, word = at[by_word], parent[by_word], word[by_word]
        trie, parent = add_level(trie, parent, word)
        depth += 1
    if ended:
        order, node = np.concatenate(ended), np.concatenate(ended_at)
        pool = write_runs(trie, pool, clauses, records, order, node)
    fit_boxes(trie, pool.records)
    renumber(trie)
    return trie, pool


@njit(cache=True, nogil=True)
def add_level(trie, parent, word):
    """Make the children that different pairs of (parent, word) stand for, pairs being sorted.

    Returns the trie and the child of each pair.  O(pairs).
    """
    child = np.empty(len(word), np.int64)
    begin = 0
    while begin < len(word):
        node = parent[begin]
        end, children = begin, 0
        while end < len(word) and parent[end] == node:
            children += end == begin or word[end] != word[end - 1]
            end += 1
        room = block_room(children)
        trie = reserve(trie, room)
        at = trie.used[NODES]
        trie.used[NODES] += room
        trie.rows[node, FIRST], trie.rows[node, COUNT] = at, children
        at -= 1
        for i in range(begin, end):
            if i == begin or word[i] != word[i - 1]:
                at += 1
                trie.keys[at] = word[i]
            child[i] = at
        begin = end
    return trie, child


@njit(cache=True, nogil=True)
def write_runs(trie, pool, clauses, records, order, node):
    """Copy records[order[i]] to the run of node[i]; equal nodes follow each other.  O(n)."""
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and node[end] == node[begin]:
            end += 1
        pool, start = claim_records(pool, run_room(end - begin))
        for i in range(begin, end):
            record = pool.records[start + i - begin]
            record[:] = records[order[i]]
            settle_record(clauses, record, ALL_PROVEN)
        trie.rows[node[begin], RUN_START] = start
        trie.rows[node[begin], RUN_COUNT] = end - begin
        begin = end
    return pool


@njit(cache=True, nogil=True)
def fit_boxes(trie, records):
    """Make each box as small as it can be; children come after their parents.  O(trie)."""
    boxes, bounds = trie.rows.view(np.float32), records.view(np.float32)
    for node in range(trie.used[NODES] - 1, -1, -1):
        box, row = boxes[node], trie.rows[node]
        box[4:6], box[6:8] = np.inf, -np.inf
        for r in range(row[RUN_START], row[RUN_START] + row[RUN_COUNT]):
            enclose(box, bounds[r])
        for child in range(row[FIRST], row[FIRST] + row[COUNT]):
            enclose(box, boxes[child])


@njit(cache=True, nogil=True, inline="always")
def enclose(box, other):
    """Grow the box in columns 4-7 so that it holds the other's."""
    box[4], box[5] = min(box[4], other[4]), min(box[5], other[5])
    box[6], box[7] = max(box[6], other[6]), max(box[7], other[7])


@njit(cache=True, nogil=True)
def renumber(trie):
    """Number the word sets anew, GAP apart, the root's own first: (old IDs, new IDs).

    Both ascend; spans become tight.  O(trie).
    """
    rows, spans = trie.rows, trie.spans
    old, new = np.empty(1024, np.int64), np.empty(1024, np.int64)
    path, step = np.empty(64, np.int64), np.empty(64, np.int64)
    path[0], step[0] = 0, 0
    depth, sets, number = 0, 0, 0
    while depth >= 0:
        node = path[depth]
        if step[depth] == 0:
            if rows[node, RUN_COUNT] or node == 0:
                number += GAP
                if sets == len(old):
                    old, new = grown(old, sets + 1), grown(new, sets + 1)
                old[sets], new[sets] = spans[node, 0], number
                sets += 1
                spans[node, 0] = number
            else:
                spans[node, 0] = number + GAP
        if step[depth] == rows[node, COUNT]:
            spans[node, 1] = number
            depth -= 1
            continue
        child = rows[node, FIRST] + step[depth]
        step[depth] += 1
        depth += 1
        if depth == len(path):
            path, step = grown(path, depth + 1), grown(step, depth + 1)
        path[depth], step[depth] = child, 0
    return old[:sets], new[:sets]
