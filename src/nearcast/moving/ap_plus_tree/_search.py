"""What changes when a subscription moves (VLDB Journal 2017, Algorithm 6).

Of each clause, the positions on its ways over the old rectangle and over the new one. Where both
regions have the same part of a node, nothing can change (case 1). All other lists are looked
through, and what is in one region alone is told: nodes that only the old region has (case 2), both
have in part (case 3), only the new one has (case 4).
"""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.moving._flat.verify import NOTHING, holds_earlier, longer, meets, message_holds
from nearcast.moving.ap_plus_tree._lists import COUNT, NEXT, POSTINGS, is_live
from nearcast.moving.ap_plus_tree._paths import entry_paths
from nearcast.space._kernels import BOX


@njit(cache=True, nogil=True)
def list_differences(
    tree, lists, world, messages, clauses, chains, number_of, slots,
    old, old_row, old_cover, new, new_row, new_cover, is_earth,
):  # fmt: skip
    """What changes for some subscriptions: (row, sign, message slot) of each, candidates."""
    rows, signs = np.empty(1024, np.int64), np.empty(1024, np.int8)
    found = np.empty(1024, np.int32)
    total, candidates = 0, 0
    paths, regions = np.empty((64, 2), np.int64), np.empty((64, 4), np.float64)
    new_paths, new_regions = np.empty((64, 2), np.int64), np.empty((64, 4), np.float64)
    wanted = np.empty(64, np.int64)
    for i in range(len(slots)):
        begin = total
        entry = chains.first[slots[i]]
        first_entry = entry
        while entry >= 0:
            start, required = clauses.start[entry], np.int64(clauses.required[entry])
            forbidden = np.int64(clauses.forbidden[entry])
            if required + forbidden > len(wanted):
                wanted = np.empty(2 * (required + forbidden), np.int64)
            for k in range(required + forbidden):
                wanted[k] = number_of[clauses.terms[start + k]]
            old_count, new_count = 0, 0
            if old_row[i] != NOTHING:
                paths, regions, old_count = entry_paths(
                    tree, clauses, entry, old_cover[i], world, paths, regions
                )
            if new_row[i] != NOTHING:
                new_paths, new_regions, new_count = entry_paths(
                    tree, clauses, entry, new_cover[i], world, new_paths, new_regions
                )
            for k in range(old_count + new_count):
                position = paths[k, 0] if k < old_count else new_paths[k - old_count, 0]
                at = lists.first[position + 1]
                if at == 0:
                    continue
                if k < old_count:
                    if _has_same_part(regions[k], old, old_row[i], new, new_row[i]):
                        continue
                elif _is_among(paths, old_count, position):
                    continue
                while at:
                    for c in range(POSTINGS, POSTINGS + lists.chunks[at, COUNT]):
                        posting = lists.chunks[at, c]
                        candidates += 1
                        if not is_live(messages, posting):
                            continue
                        slot = posting >> 32
                        if not message_holds(messages, slot, wanted, required, forbidden):
                            continue
                        was = old_row[i] != NOTHING and meets(
                            old, old_row[i], is_earth, messages, slot
                        )
                        is_now = new_row[i] != NOTHING and meets(
                            new, new_row[i], is_earth, messages, slot
                        )
                        if was == is_now:
                            continue
                        if entry != first_entry and holds_earlier(
                            messages, slot, clauses, chains, number_of, first_entry, entry
                        ):
                            continue
                        if total == len(found):
                            rows, signs = longer(rows, 2 * total), longer(signs, 2 * total)
                            found = longer(found, 2 * total)
                        rows[total], signs[total], found[total] = i, 1 if is_now else -1, slot
                        total += 1
                    at = lists.chunks[at, NEXT]
            entry = chains.following[entry]
        total = distinct_from(signs, found, begin, total)
    return rows[:total], signs[:total], found[:total], candidates


@inner
def _has_same_part(region, old, old_row, new, new_row):
    """Do two boxes have the same part of a node's region (case 1)?"""
    if old_row == NOTHING or new_row == NOTHING:
        return False
    if old[0][old_row] != BOX or new[0][new_row] != BOX:
        return False
    one, other = old[1][old_row], new[1][new_row]
    if one[0] > one[2] or other[0] > other[2]:
        return False
    return (
        max(one[0], region[0]) == max(other[0], region[0])
        and max(one[1], region[1]) == max(other[1], region[1])
        and min(one[2], region[2]) == min(other[2], region[2])
        and min(one[3], region[3]) == min(other[3], region[3])
    )


@inner
def _is_among(paths, count, position):
    at = 0
    while at < count and paths[at, 0] != position:
        at += 1
    return at < count


@inner
def distinct_from(signs, found, begin, total):
    """Leave one of each message that a row has found several times; returns the new total."""
    if total - begin < 2:
        return total
    pairs = np.sort(found[begin:total].astype(np.int64) * 4 + signs[begin:total])
    kept = begin
    for k in range(len(pairs)):
        if k == 0 or pairs[k] != pairs[k - 1]:
            found[kept] = (pairs[k] + 1) >> 2
            signs[kept] = 1 if pairs[k] & 3 == 1 else -1
            kept += 1
    return kept
