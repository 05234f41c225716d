"""Documents come and are forgotten: Algorithm 10 of the paper, over groups of regions.

Of a group there are three kinds of owners in the table of scores: what a term has in the inner box,
which is common to all members; what it has for each member besides; and the largest of the latter,
so that their sum bounds what any member has (Theorem 4).
"""

import numpy as np
from numba import njit

from nearcast.inner import inner, leaf, melting
from nearcast.space._kernels import region_meets
from nearcast.trending._cycles import UPDATING, WHOLE, begins, ends
from nearcast.trending._regions.documents import (
    LIVE,
    RECTS,
    drop_document,
)
from nearcast.trending._regions.places import ALL_TERMS, EVERYWHERE, MARGIN, WIDE, column
from nearcast.trending._regions.postings import (
    MOST_RECTS,
    is_in_region,
    load_rects,
    refill,
)
from nearcast.trending._regions.remembered import (
    begin_step,
    changed_lists,
    has_room,
    remember,
    with_room,
)
from nearcast.trending._regions.rows import HELD, LEVEL, enter, is_before, least, rise
from nearcast.trending._regions.runs import COUNT, HIGH, NONE, START, number_at
from nearcast.trending._regions.said import (
    BASE,
    mark_terms,
    may_lack,
    said_by,
    take_away,
    unmark_terms,
)
from nearcast.trending._regions.steps import document_comes, first_base, next_document
from nearcast.trending._regions.table import cell_key, run_of
from nearcast.trending.grouped_tables._groups import (
    USED,
    found_group,
    groups_to_visit,
    has_point,
    most_alike,
    with_member,
    without_member,
)
from nearcast.trending.term_tables._scores import change, halve_scores, score_of
from nearcast.trending.term_tables._scores import with_room as scores_with_room

CANDIDATES, UPDATED, COMPUTED, REFILLED = 0, 1, 2, 3
OWN, COMMON, LARGEST = 0, 1, 2
KINDS = 2  # bits
NOT_SEEN, FILTERED = -1, -2


@leaf
def owner(number, kind):
    """Who has scores: a subscription, or what is common to a group, or its largest."""
    return (number << KINDS) | kind


@njit(cache=True, nogil=True)
def process(
    rows, slots, regions, is_earth, levels, grouping, archive, scores, terms, sums, remembered,
    spelling, columns, nows, clock, horizon, counts, changed, is_one_step,
):  # fmt: skip
    """Take documents one after the other; with times but no documents, only time passes.

    Returns the archive, the scores and what is remembered of the last step; `changed` has how many
    lists each step has changed. Where `is_one_step`, all documents are one step, and nothing is
    counted.
    """
    rects, other_rects = np.empty((MOST_RECTS, 4)), np.empty((MOST_RECTS, 4))
    groups, pool = grouping.groups, grouping.runs.pool
    for step in range(len(nows)):
        began = begins(counts)
        if step == 0 or not is_one_step:
            begin_step(remembered)
        comes = document_comes(columns, step, nows[step] - horizon)
        base = first_base(clock, nows[step], horizon)
        while True:
            archive, number, sign, base, epochs = next_document(
                archive, rows, slots, levels, terms, columns, step, nows[step], horizon, clock,
                base, comes, False,
            )  # fmt: skip
            if epochs > 0:
                halve_scores(scores, epochs)
                halve_groups(groups, epochs)
            if number == NONE:
                break
            comes = comes and sign < 0
            said = said_by(archive, number, clock[BASE])
            count = load_rects(archive, number, rects)
            is_wide = archive.documents.run[number, RECTS] != NONE
            mark_terms(terms, said, sign)
            found = groups_to_visit(grouping, rects[0, 0], rects[0, 1], is_wide)
            for group in found:
                if not is_wide and not has_point(groups.outer, group, rects[0, 0], rects[0, 1]):
                    continue
                run = groups.members[group]
                place = grouping.runs.head[run, START]
                end = place + grouping.runs.head[run, COUNT]
                counts[CANDIDATES] += end - place
                scores = scores_with_room(scores, (end - place + 2) * len(said.term))
                in_common = not is_wide and has_point(groups.inner, group, rects[0, 0], rects[0, 1])
                if in_common and not count_in_common(sign, group, said, groups, scores):
                    continue
                n = place
                while n < end:
                    n = update_rows(
                        sign, group, n, place, end, pool, in_common, said, groups, rows, regions,
                        is_earth, levels, archive, scores, terms, sums, remembered, spelling,
                        clock[BASE], counts, rects, count, other_rects,
                    )  # fmt: skip
                    if n < end:
                        remembered = with_room(remembered, rows, pool[n])
                if sign < 0 and not in_common:
                    find_largest(group, place, end, pool, said, scores)
                groups.floor[group] = lowest_list(place, end, pool, rows)
            unmark_terms(terms, said)
            if sign < 0:
                drop_document(archive, number)
        if not is_one_step:
            changed[step] = changed_lists(remembered, rows)
        ends(counts, WHOLE, began)
    return archive, scores, remembered


@leaf
def halve_groups(groups, epochs):
    """So many epochs have passed: units are larger.  O(groups)."""
    epochs = min(epochs, np.int64(62))
    rounding_up = (np.int64(1) << epochs) - 1
    for group in range(groups.ends[USED]):
        groups.outside[group] = (groups.outside[group] + rounding_up) >> epochs
        groups.floor[group] >>= epochs  # -1 stays


@leaf
def count_in_common(sign, group, said, groups, scores):
    """Count what is said in the inner box: is there a term that may matter to a member?

    A term that cannot (Theorem 4) is marked as filtered.
    """
    matters = False
    for i in range(len(said.term)):
        term = np.int64(said.term[i])
        common = change(scores, owner(group, COMMON), term, sign * said.amount[i])
        said.seen[i] = NOT_SEEN
        if sign > 0:
            most = common + score_of(scores, owner(group, LARGEST), term)
            if most < groups.floor[group]:
                groups.outside[group] = max(groups.outside[group], most)
                said.seen[i] = FILTERED
                continue
        matters = True
    return matters


@leaf
def update_rows(
    sign, group, n, place, end, pool, in_common, said, groups, rows, regions, is_earth, levels,
    archive, scores, terms, sums, remembered, spelling, base, counts, rects, count, other_rects,
):  # fmt: skip
    """Go on with members until there is no room to remember the next one: where that is."""
    while n < end:
        if not has_room(remembered, rows, pool[n]):
            return n
        update_row(
            sign, group, pool[n], place, end, pool, in_common, said, groups, rows, regions,
            is_earth, levels, archive, scores, terms, sums, remembered, spelling, base, counts,
            rects, count, other_rects,
        )  # fmt: skip
        n += 1
    return n


@melting
def update_row(
    sign, group, slot, place, end, pool, in_common, said, groups, rows, regions, is_earth, levels,
    archive, scores, terms, sums, remembered, spelling, base, counts, rects, count, other_rects,
):  # fmt: skip
    """One member of a group: is the document in its region, and what does that change?"""
    if not in_common and not region_meets(
        regions.kind, regions.shape, regions.ring_start, regions.polygon_start,
        regions.vertices, slot, is_earth, rects, np.int64(0), count,
    ):  # fmt: skip
        return
    began = begins(counts)
    if not in_common:
        for i in range(len(said.term)):
            term = np.int64(said.term[i])
            own = change(scores, owner(slot, OWN), term, sign * said.amount[i])
            said.seen[i] = NOT_SEEN
            if sign > 0:
                largest = score_of(scores, owner(group, LARGEST), term)
                if own > largest:
                    change(scores, owner(group, LARGEST), term, own - largest)
    counts[UPDATED] += 1
    if sign > 0:
        add(counts[UPDATED], group, slot, said, rows, scores, terms, remembered, spelling)
        ends(counts, UPDATING, began)
        return
    fell = take_away(slot, said, rows, terms, remembered, spelling)
    if fell and may_lack(rows, slot, max(rows.outside[slot], groups.outside[group])):
        # Each member keeps for itself what was kept for all, so that those refilled are rid of it.
        for n in range(place, end):
            rows.outside[pool[n]] = max(rows.outside[pool[n]], groups.outside[group])
        groups.outside[group] = 0
        counts[REFILLED] += 1
        refill(rows, slot, levels, archive, regions, is_earth, base, sums, other_rects, spelling)
    ends(counts, UPDATING, began)


@melting
def add(hit, group, slot, said, rows, scores, terms, remembered, spelling):
    """Add to the terms of the list, and see whether others come into it."""
    at = rows.start[slot]
    for place in range(rows.head[slot, HELD]):
        mark = terms.mark[rows.term[at + place]]
        if mark > 0:
            rows.score[at + place] += said.amount[mark - 1]
            said.seen[mark - 1] = hit
            if place > 0 and is_before(
                rows.score[at + place], rows.term[at + place],
                rows.score[at + place - 1], rows.term[at + place - 1], spelling,
            ):  # fmt: skip
                remember(remembered, rows, slot)
                rise(rows, at, np.int64(place), spelling)
    for i in range(len(said.term)):
        if said.seen[i] == hit or said.seen[i] == FILTERED:
            continue
        term = np.int64(said.term[i])
        score = score_of(scores, owner(slot, OWN), term)
        score += score_of(scores, owner(group, COMMON), term)
        if score >= least(rows, slot):
            remember(remembered, rows, slot)
        enter(rows, slot, said.term[i], score, spelling)


@leaf
def find_largest(group, place, end, pool, said, scores):
    """What the member with most of a term has of it outside the inner box, for terms that fell."""
    for i in range(len(said.term)):
        term = np.int64(said.term[i])
        most = np.int64(0)
        for n in range(place, end):
            most = max(most, score_of(scores, owner(pool[n], OWN), term))
        known = score_of(scores, owner(group, LARGEST), term)
        change(scores, owner(group, LARGEST), term, most - known)


@leaf
def lowest_list(place, end, pool, rows):
    """The least score with which a list of the group ends, -1 where one has room."""
    lowest = least(rows, pool[place])
    for n in range(place + 1, end):
        lowest = min(lowest, least(rows, pool[n]))
    return lowest


# ------------------------------------------------------------------ subscriptions come and go


@njit(cache=True, nogil=True)
def join(
    grouping, group_of, slots, inside, threshold, rows, regions, is_earth, levels, archive, scores,
    base,
):  # fmt: skip
    """Put subscriptions into groups (Algorithm 9): the grouping and the scores."""
    for slot in slots:
        group = most_alike(grouping, rows, levels, np.int64(slot), inside, threshold)
        if group == NONE:
            grouping, group = found_group(grouping, rows, levels, slot, inside)
        else:
            scores = count_group(
                np.int64(-1), group, grouping, rows, regions, is_earth, levels, archive, scores,
                base,
            )  # fmt: skip
        grouping = with_member(grouping, rows, group, slot, inside)
        group_of[slot] = group
        scores = count_group(
            np.int64(1), group, grouping, rows, regions, is_earth, levels, archive, scores, base
        )
    return grouping, scores


@njit(cache=True, nogil=True)
def leave(
    grouping, group_of, slot, inside, rows, regions, is_earth, levels, archive, scores, base
):  # fmt: skip
    """Take a subscription out of its group: the scores."""
    group = np.int64(group_of[slot])
    scores = count_group(
        np.int64(-1), group, grouping, rows, regions, is_earth, levels, archive, scores, base
    )
    without_member(grouping, group, slot)
    if grouping.groups.outer[group, 0] <= grouping.groups.outer[group, 2]:
        scores = count_group(
            np.int64(1), group, grouping, rows, regions, is_earth, levels, archive, scores, base
        )
    return scores


@inner
def count_group(sign, group, grouping, rows, regions, is_earth, levels, archive, scores, base):
    """The scores with, or without, what is said to the members of a group.

    O(documents of its cells x members): its boxes may be others afterwards.
    """
    groups, runs = grouping.groups, grouping.runs
    place = runs.head[groups.members[group], START]
    end = place + runs.head[groups.members[group], COUNT]
    if archive.documents.ends[LIVE] == 0 or place == end:
        return scores
    level = rows.head[runs.pool[place], LEVEL]
    code, size = levels.code[level], levels.size[level]
    west = east = south = north = np.int64(0)
    if code != EVERYWHERE:
        west = column(groups.outer[group, 0] - MARGIN * size, size)
        south = column(groups.outer[group, 1] - MARGIN * size, size)
        east = column(groups.outer[group, 2] + MARGIN * size, size)
        north = column(groups.outer[group, 3] + MARGIN * size, size)
    zero, everything = np.int64(0), np.int64(ALL_TERMS)
    for x in range(west, east + 1):
        for y in range(south, north + 1):
            one, other = cell_key(np.int64(x), np.int64(y), code, everything)
            scores = _count_run(
                sign, group, run_of(archive.table, one, other), place, end, grouping, regions,
                is_earth, archive, scores, base,
            )  # fmt: skip
    one, other = cell_key(zero, zero, np.int64(WIDE), everything)
    return _count_run(
        sign, group, run_of(archive.table, one, other), place, end, grouping, regions, is_earth,
        archive, scores, base,
    )  # fmt: skip


@inner
def _count_run(
    sign, group, run, place, end, grouping, regions, is_earth, archive, scores, base
):  # fmt: skip
    if run == NONE:
        return scores
    rects = np.empty((MOST_RECTS, 4))
    documents, groups, pool = archive.documents, grouping.groups, grouping.runs.pool
    for n in range(archive.runs.head[run, COUNT]):
        number = number_at(archive.runs, run, n) >> HIGH
        said = said_by(archive, number, base)
        scores = scores_with_room(scores, (end - place + 2) * len(said.term))
        if documents.run[number, RECTS] == NONE and has_point(
            groups.inner, group, documents.place[number, 0], documents.place[number, 1]
        ):
            for i in range(len(said.term)):
                change(scores, owner(group, COMMON), np.int64(said.term[i]), sign * said.amount[i])
            continue
        for member in range(place, end):
            slot = pool[member]
            if is_in_region(archive, number, regions, slot, is_earth, rects):
                for i in range(len(said.term)):
                    change(scores, owner(slot, OWN), np.int64(said.term[i]), sign * said.amount[i])
        find_largest(group, place, end, pool, said, scores)
    return scores
