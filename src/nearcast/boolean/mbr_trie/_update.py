"""Entries that come and go one at a time (section 3.1), and tidying up after them."""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    run_count,
    run_reference,
    run_room,
    run_start,
    settle_record,
)
from nearcast.boolean._run_pool import GARBAGE as POOL_GARBAGE
from nearcast.boolean._run_pool import append_record
from nearcast.boolean.mbr_trie._build import ALL_PROVEN, enclose
from nearcast.boolean.mbr_trie._layout import (
    CHANGES,
    COUNT,
    ENTRIES,
    FIRST,
    GAP,
    GARBAGE,
    NODES,
    RUN_COUNT,
    RUN_START,
    TOP,
    Trie,
    block_room,
    copy_node,
    find_child,
    reserve,
)
from nearcast.inner import inner

# New words rank last, so that sets with them tend to be the last below their parent: those are
# put close together, to leave room for the next.
LATE_STEP = 1 << 16


@njit(cache=True, nogil=True)
def id_between(before, after, is_last):
    """An ID for a new word set between two others, or 0 when there is none left."""
    if after - before < 2:
        return np.int64(0)
    half = (after - before) // 2
    if after == TOP:
        return before + min(half, GAP)
    return before + (min(half, LATE_STEP) if is_last else half)


@inner
def find_path(trie, words, path):
    """Follow the words as far as there are nodes: (how many, the ID their set has or would have).

    `path` gets the nodes, the root first.  The ID is 0 when the gap for it is used up.
    """
    keys, rows, spans = trie.keys, trie.rows, trie.spans
    before, after = np.int64(0), np.int64(TOP)
    node, depth = np.int64(0), 0
    path[0] = 0
    while depth < len(words):
        first, count = np.int64(rows[node, FIRST]), np.int64(rows[node, COUNT])
        if rows[node, RUN_COUNT] or node == 0:
            before = spans[node, 0]
        if count == 0:
            return depth, id_between(before, after, True)
        child = find_child(keys, first, first + count, words[depth])
        if child > first:
            before = spans[child - 1, 1]
        if child == first + count:
            return depth, id_between(before, after, True)
        if keys[child] != words[depth]:
            return depth, id_between(before, spans[child, 0], False)
        if child + 1 < first + count:
            after = spans[child + 1, 0]
        depth += 1
        node = child
        path[depth] = node
    if rows[node, RUN_COUNT] or node == 0 or spans[node, 0] < spans[rows[node, FIRST], 0]:
        return depth, spans[node, 0]  # its own, or that of a set that has gone
    return depth, id_between(before, spans[rows[node, FIRST], 0], False)


@inner
def add_child(trie, parent, word):
    """A new child in its place among the others: (trie, the child).  O(children)."""
    first, count = np.int64(trie.rows[parent, FIRST]), np.int64(trie.rows[parent, COUNT])
    child = find_child(trie.keys, first, first + count, word) if count else first
    room = block_room(count)
    if count == room:
        wider = block_room(count + 1)
        trie = reserve(trie, wider)
        moved = trie.used[NODES]
        trie.used[NODES] += wider
        trie.used[GARBAGE] += room
        move(trie, first, child, moved)
        move(trie, child, first + count, moved + child - first + 1)
        child += moved - first
        trie.rows[parent, FIRST] = moved
    else:
        move(trie, child, first + count, child + 1)
    trie.rows[parent, COUNT] = count + 1
    trie.keys[child] = word
    trie.rows[child, :4] = 0
    boxes = trie.rows.view(np.float32)
    boxes[child, 4:6], boxes[child, 6:8] = np.inf, -np.inf
    return trie, child


@inner
def move(trie, begin, end, to):
    """Copy the nodes begin:end to another place, which may overlap."""
    step = -1 if to > begin else 1
    at = end - 1 if to > begin else begin
    for _ in range(end - begin):
        copy_node(trie, at, trie, at + to - begin)
        at += step


@njit(cache=True, nogil=True)
def add_all(trie, pool, clauses, records, ids, begin):
    """Add records[begin:]: (trie, pool, how many records are in).

    Stops where a gap between IDs is used up: the caller renumbers and goes on.  ids[i] is set to
    the ID of the i-th record's word set.  O(words log children) for each.
    """
    path = np.empty(64, np.int64)
    for i in range(begin, len(records)):
        entry = records[i, ENTRY]
        start, count = clauses.start[entry], np.int64(clauses.required[entry])
        words = clauses.terms[start : start + count]
        if count + 1 > len(path):
            path = np.empty(count + 1, np.int64)
        depth, number = find_path(trie, words, path)
        if number == 0:
            return trie, pool, i
        while depth < count:
            trie, child = add_child(trie, path[depth], words[depth])
            depth += 1
            path[depth] = child
            trie.spans[child] = number
        bounds = records[i].view(np.float32)
        for node in path[: count + 1]:
            enclose(trie.rows.view(np.float32)[node], bounds)
            trie.spans[node, 0] = min(trie.spans[node, 0], number)
            trie.spans[node, 1] = max(trie.spans[node, 1], number)
        row = trie.rows[path[count]]
        reference = np.int64(EMPTY)
        if row[RUN_COUNT]:
            reference = run_reference(np.int64(row[RUN_START]), np.int64(row[RUN_COUNT]))
        pool, reference = append_record(pool, reference, records[i])
        row[RUN_START], row[RUN_COUNT] = run_start(reference), run_count(reference)
        settle_record(clauses, pool.records[row[RUN_START] + row[RUN_COUNT] - 1], ALL_PROVEN)
        ids[i] = number
        trie.used[ENTRIES] += 1
        trie.used[CHANGES] += 1
    return trie, pool, len(records)


@njit(cache=True, nogil=True)
def drop_all(trie, pool, clauses, records, ids):
    """Take the records' entries out, and the nodes that are left with nothing.

    ids[i] is set to the ID of the i-th record's word set.  O(words log children + run) for each.
    """
    path = np.empty(64, np.int64)
    for i in range(len(records)):
        entry = records[i, ENTRY]
        start, count = clauses.start[entry], np.int64(clauses.required[entry])
        if count + 1 > len(path):
            path = np.empty(count + 1, np.int64)
        depth, ids[i] = find_path(trie, clauses.terms[start : start + count], path)
        row = trie.rows[path[depth]]
        at, last = row[RUN_START], row[RUN_START] + row[RUN_COUNT] - 1
        while pool.records[at, ENTRY] != entry:
            at += 1
        pool.records[at] = pool.records[last]
        pool.used[POOL_GARBAGE] += run_room(row[RUN_COUNT]) - run_room(row[RUN_COUNT] - 1)
        row[RUN_COUNT] -= 1
        while depth and not trie.rows[path[depth], RUN_COUNT] and not trie.rows[path[depth], COUNT]:
            drop_child(trie, path[depth - 1], path[depth])
            depth -= 1
        trie.used[ENTRIES] -= 1
        trie.used[CHANGES] += 1


@inner
def drop_child(trie, parent, child):
    """Take a node without anything below out of its block.  O(children)."""
    first, count = np.int64(trie.rows[parent, FIRST]), np.int64(trie.rows[parent, COUNT])
    move(trie, child + 1, first + count, child)
    trie.used[GARBAGE] += block_room(count) - block_room(count - 1)
    trie.rows[parent, COUNT] = count - 1


@njit(cache=True, nogil=True)
def pack(trie):
    """The same trie level by level, in arrays of the size it needs.  O(trie)."""
    total = trie.used[NODES] - trie.used[GARBAGE]
    new = Trie(
        np.zeros(total, np.int32),
        np.zeros((total, 8), np.int32),
        np.zeros((total, 2), np.int64),
        trie.used.copy(),
    )
    new.used[GARBAGE] = 0
    copy_node(trie, 0, new, 0)
    end, node = 1, 0
    while node < end:
        # Positions that no child has yet are skipped: their count is 0.
        first, count = np.int64(new.rows[node, FIRST]), np.int64(new.rows[node, COUNT])
        if count:
            for i in range(count):
                copy_node(trie, first + i, new, end + i)
            new.rows[node, FIRST] = end
            end += block_room(count)
        node += 1
    new.used[NODES] = end
    return new
