"""Whom may a message concern?  Three ways: IGPT, IPT and CIQ, over the same lists.

IGPT and IPT have one list for each word and cell of the quadtree; IGPT divides it by alpha and
skips whole parts and cells. CIQ has the cells of a pyramid and merges the lists of a message's
cells by subscription. What they return are candidates: the exact score decides.

Algorithm 1 of the paper adds up what a subscription and a message share, word by word, and skips
postings on the way; a sum that lacks a skipped word would make Theorem 2 skip too much. Here a
subscription is judged at the first of its postings that is not skipped, and is scored exactly
from there. If an earlier word was skipped, that word has already proven it out of reach.
"""

import numpy as np
from numba import njit

from nearcast.inner import inner
from nearcast.topk._flat.subscriptions import ALPHA as PLACE_ALPHA
from nearcast.topk._flat.subscriptions import FIRST, LAT, LON, SEEN, WORDS
from nearcast.topk._flat.subscriptions import THETA as PLACE_THETA
from nearcast.topk.skype._bounds import (
    alike_unseen,
    falls_short,
    group_falls_short,
    lowered,
    most_from,
    nearness_between,
    rounded_down,
    rounded_up,
    starred,
    sums_from,
)
from nearcast.topk.skype._cells import (
    CELLS,
    divide_cell,
    join_cell,
    leaf_of,
    leave_cell,
    members_of,
    note_threshold,
)
from nearcast.topk.skype._lists import (
    ALPHA,
    INSIDE,
    MOST,
    MOST_ALPHA,
    REST_MOST,
    STAR,
    SUM,
    THETA,
    WEIGHT,
    cell_of,
    drop_posting,
    find_head,
    find_posting,
    label_of,
    swap_postings,
    with_head,
)
from nearcast.topk.skype._places import place_of, ways_to_boxes
from nearcast.topk.skype._pyramid import cells_of, number_of, step_of

IGPT, IPT, CIQ = range(3)
COLUMNS = (9, 6, 1)


# ------------------------------------------------------------------ subscriptions come and go


@njit(cache=True, nogil=True)
def part_of(alpha, cuts):
    """The part of a list that an alpha belongs to."""
    part = 0
    while part < len(cuts) and alpha >= cuts[part]:
        part += 1
    return part


@inner
def refresh_bounds(lists, head, last):
    """What postings say of those after them, from `last` on to the first.  O(postings)."""
    first, end = lists.first[head], lists.first[head] + lists.size[head]
    data = lists.data
    for at in range(last, first - 1, -1):
        most = max(data[at, WEIGHT], data[at, REST_MOST])
        _, star = starred(np.float64(data[at, ALPHA]), 0.0)
        most_alpha = rounded_up(star)
        if at + 1 < end:
            most, most_alpha = (
                max(most, data[at + 1, MOST]),
                max(most_alpha, data[at + 1, MOST_ALPHA]),
            )
        data[at, MOST], data[at, MOST_ALPHA] = most, most_alpha
    for i in range(3):
        lists.bound[i, head] = data[first, STAR + i]


@inner
def sort_in(lists, head, at):
    """One posting of a list of IGPT has another threshold: its place, and the bounds."""
    first, last = lists.first[head], lists.first[head] + lists.size[head] - 1
    begin = at
    while at > first and lists.data[at - 1, STAR] > lists.data[at, STAR]:
        swap_postings(lists, at, at - 1)
        at -= 1
    while at < last and lists.data[at + 1, STAR] < lists.data[at, STAR]:
        swap_postings(lists, at, at + 1)
        at += 1
    refresh_bounds(lists, head, max(begin, at))


@inner
def write_threshold(lists, at, alpha, theta, kind):
    """A posting knows a threshold."""
    low = lowered(theta)
    lists.data[at, THETA] = rounded_down(low)
    if kind == IGPT:
        # Of the alpha that the posting has: near 1 the rounded one is far from it, when divided.
        star, _ = starred(np.float64(np.float32(alpha)), low)
        lists.data[at, STAR] = rounded_down(star)


@inner
def put_in_cell(lists, cells, subscriptions, slot, kind, cuts):
    """Enter a subscription, which is in a cell, in the lists of its words there: the lists."""
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    alpha, cell = subscriptions.place[slot, PLACE_ALPHA], cells.cell[slot]
    weight = subscriptions.weight[first : first + count]
    sums, most = sums_from(weight), most_from(weight)
    for t in range(count):
        label = label_of(subscriptions.word[first + t], cell, part_of(alpha, cuts))
        lists, head = with_head(lists, label)
        at = lists.first[head] + lists.size[head]
        lists.size[head] += 1
        lists.slot[at] = slot
        lists.data[at, WEIGHT] = rounded_up(weight[t])
        lists.data[at, SUM] = rounded_up(sums[t])
        lists.data[at, REST_MOST] = rounded_up(most[t + 1])
        lists.data[at, INSIDE] = rounded_down(cells.inside[slot])
        lists.data[at, ALPHA] = alpha
        write_threshold(lists, at, alpha, subscriptions.place[slot, PLACE_THETA], kind)
        if kind == IGPT:
            sort_in(lists, head, at)
    return lists


@inner
def take_from_cell(lists, cells, subscriptions, slot, cuts):
    """Take a subscription out of the lists of its cell."""
    first = subscriptions.head[slot, FIRST]
    part = part_of(subscriptions.place[slot, PLACE_ALPHA], cuts)
    for t in range(first, first + subscriptions.head[slot, WORDS]):
        head = find_head(lists, label_of(subscriptions.word[t], cells.cell[slot], part))
        at = find_posting(lists, head, slot)
        is_last = lists.size[head] == 1
        begin = at - lists.first[head]
        lists = drop_posting(lists, head, at)
        if not is_last and lists.data.shape[1] > STAR:
            last = min(begin, lists.size[head] - 1)
            refresh_bounds(lists, head, lists.first[head] + last)
    return lists


@inner
def put(lists, cells, pyramid, subscriptions, slot, how, space):
    """A subscription is found from now on: (lists, cells)."""
    lon, lat = subscriptions.place[slot, LON], subscriptions.place[slot, LAT]
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    if how.kind == CIQ:
        for cell in cells_of(pyramid, slot, how.levels, lon, lat, space):
            for t in range(first, first + count):
                lists, head = with_head(lists, label_of(subscriptions.word[t], cell, 0))
                at = lists.first[head] + lists.size[head]
                lists.size[head] += 1
                lists.slot[at] = slot
                lists.data[at, WEIGHT] = rounded_up(subscriptions.weight[t])
                while at > lists.first[head] and lists.slot[at - 1] > slot:
                    swap_postings(lists, at, at - 1)
                    at -= 1
        return lists, cells
    cell = leaf_of(cells, lon, lat)
    join_cell(cells, cell, slot, lon, lat, space)
    lists = put_in_cell(lists, cells, subscriptions, slot, how.kind, how.cuts)
    note_threshold(cells, slot, subscriptions)
    if cells.held[cell] > how.capacity:
        lists, cells = divide(lists, cells, subscriptions, cell, how, space)
    return lists, cells


@inner
def divide(lists, cells, subscriptions, cell, how, space):
    """A cell has too many: four of it, and its lists with them: (lists, cells)."""
    while cell >= 0:
        members, divided = members_of(cells, cell), cells.ends[CELLS]
        lons, lats = subscriptions.place[:, LON][members], subscriptions.place[:, LAT][members]
        if are_together(lons) and are_together(lats):
            break
        for slot in members:
            lists = take_from_cell(lists, cells, subscriptions, slot, how.cuts)
        cells = divide_cell(cells, cell, subscriptions, space)
        for slot in members:
            lists = put_in_cell(lists, cells, subscriptions, slot, how.kind, how.cuts)
            note_threshold(cells, slot, subscriptions)
        quarters = (cell, divided, divided + 1, divided + 2)
        cell = -1
        for each in quarters:
            if cells.held[each] > how.capacity:
                cell = each  # no other: there was one too many before
    return lists, cells


@inner
def are_together(values):
    """Are all of them equal?"""
    return values.min() == values.max()


@njit(cache=True, nogil=True)
def take(lists, cells, pyramid, subscriptions, slot, how, space):
    """A subscription is found no longer: the lists."""
    if how.kind != CIQ:
        lists = take_from_cell(lists, cells, subscriptions, slot, how.cuts)
        leave_cell(cells, slot)
        return lists
    first, count = subscriptions.head[slot, FIRST], subscriptions.head[slot, WORDS]
    lon, lat = subscriptions.place[slot, LON], subscriptions.place[slot, LAT]
    for cell in cells_of(pyramid, slot, how.levels, lon, lat, space):
        for t in range(first, first + count):
            head = find_head(lists, label_of(subscriptions.word[t], cell, 0))
            begin, end = lists.first[head], lists.first[head] + lists.size[head]
            at = begin + np.searchsorted(lists.slot[begin:end], slot)
            lists = drop_posting(lists, head, at)
    return lists


@inner
def tell(lists, cells, subscriptions, slot, how):
    """A subscription has another threshold; those of CIQ are looked up where they are needed."""
    if how.kind == CIQ:
        return
    first, alpha = subscriptions.head[slot, FIRST], subscriptions.place[slot, PLACE_ALPHA]
    part = part_of(alpha, how.cuts)
    for t in range(first, first + subscriptions.head[slot, WORDS]):
        head = find_head(lists, label_of(subscriptions.word[t], cells.cell[slot], part))
        at = find_posting(lists, head, slot)
        write_threshold(lists, at, alpha, subscriptions.place[slot, PLACE_THETA], how.kind)
        if how.kind == IGPT:
            sort_in(lists, head, at)
    if how.kind == IGPT:
        note_threshold(cells, slot, subscriptions)


# ------------------------------------------------------------------ a message comes


@inner
def reachable(lists, head, their_sum, near):
    """Theorem 4: how many of the first postings of a list have to be looked at.  O(log)."""
    first = lists.first[head]
    low, high = 0, lists.size[head]
    while low < high:
        middle = (low + high) // 2
        at = first + middle
        if group_falls_short(
            lists.data[at, MOST], their_sum, lists.data[at, STAR], lists.data[at, MOST_ALPHA], near
        ):
            high = middle
        else:
            low = middle + 1
    return low


@inner
def candidates_by_cell(lists, cells, subscriptions, word, weight, lon, lat, space, is_grouped, seq):
    """IGPT, or IPT without groups: (subscriptions that a message may concern, postings seen).

    `seq`: the arrival of the message.
    """
    sums, most = sums_from(weight), most_from(weight)
    ways = ways_to_boxes(place_of(lon, lat, space), cells.low, cells.high, space, cells.ends[CELLS])
    if is_grouped:
        for cell in range(len(ways)):
            if cells.least[cell] > max(0.0, 1.0 - ways[cell]):
                ways[cell] = np.inf  # Lemma 6
    found, hits, looks = np.empty(64, np.int32), 0, 0
    slots, data, bound = lists.slot, lists.data, lists.bound
    for j in range(len(word)):
        begin = lists.start[word[j]]
        their, their_sum, their_most = weight[j], sums[j], most[j]
        rest_sum, rest_most = sums[j + 1], most[j + 1]
        for head in range(begin, begin + lists.held[word[j]]):
            way = ways[cell_of(lists.label[head])]
            near = max(0.0, 1.0 - way)
            count = lists.size[head]
            if is_grouped:
                if way == np.inf or group_falls_short(
                    bound[1, head], their_sum, bound[0, head], bound[2, head], near
                ):
                    continue
                if count > 4:
                    count = reachable(lists, head, their_sum, near)
            looks += count
            for at in range(lists.first[head], lists.first[head] + count):
                alpha, theta = np.float64(data[at, ALPHA]), np.float64(data[at, THETA])
                close = nearness_between(way, data[at, INSIDE])
                mine_sum = np.float64(data[at, SUM])
                if falls_short(alpha, close, their_most * mine_sum, theta):
                    continue  # Theorem 1
                mine = np.float64(data[at, WEIGHT])
                unseen = alike_unseen(
                    max(0.0, mine_sum - mine) + 4e-7 * mine_sum, np.float64(data[at, REST_MOST]),
                    rest_sum, rest_most,
                )  # fmt: skip
                if falls_short(alpha, close, mine * their + unseen, theta):
                    continue  # Theorem 2
                slot = slots[at]
                if subscriptions.head[slot, SEEN] == seq:
                    continue
                subscriptions.head[slot, SEEN] = seq
                if hits == len(found):
                    longer = np.empty(2 * hits, np.int32)
                    longer[:hits] = found
                    found = longer
                found[hits] = slot
                hits += 1
    return found[:hits], looks


@inner
def candidates_by_merging(lists, pyramid, subscriptions, word, weight, lon, lat, space, levels):
    """CIQ: (subscriptions that a message may concern, postings seen), a document at a time."""
    frame = pyramid.frame
    column = step_of(lon, frame[0], frame[2], 1 << levels)
    row = step_of(lat, frame[1], frame[3], 1 << levels)
    found, hits, looks = np.empty(64, np.int32), 0, 0
    at, end = np.empty(len(word), np.int64), np.empty(len(word), np.int64)
    theirs = np.empty(len(word))
    for level in range(1, levels + 1):
        x, y = column >> (levels - level), row >> (levels - level)
        cell = number_of(level, x, y)
        which = 4 * (level - 1) + 2 * (x & 1) + (y & 1)
        open_lists = 0
        for j in range(len(word)):
            head = find_head(lists, label_of(word[j], cell, 0))
            if head >= 0:
                at[open_lists] = lists.first[head]
                end[open_lists] = lists.first[head] + lists.size[head]
                theirs[open_lists] = weight[j]
                open_lists += 1
                looks += lists.size[head]
        while open_lists > 0:
            slot = lists.slot[at[0]]
            for i in range(1, open_lists):
                slot = min(slot, lists.slot[at[i]])
            alike = 0.0
            i = 0
            while i < open_lists:
                if lists.slot[at[i]] == slot:
                    alike += lists.data[at[i], WEIGHT] * theirs[i]
                    at[i] += 1
                    if at[i] == end[i]:
                        open_lists -= 1
                        at[i], end[i] = at[open_lists], end[open_lists]
                        theirs[i] = theirs[open_lists]
                        continue
                i += 1
            near = np.float64(pyramid.near[slot, which])
            mine = subscriptions.place[slot]
            if falls_short(mine[PLACE_ALPHA], near, alike, lowered(mine[PLACE_THETA])):
                continue
            if hits == len(found):
                longer = np.empty(2 * hits, np.int32)
                longer[:hits] = found
                found = longer
            found[hits] = slot
            hits += 1
    return found[:hits], looks
