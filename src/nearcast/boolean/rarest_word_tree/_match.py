"""Matching a batch of messages.  The arrays are drawn in `_layout`, `_words` and `_verify`.

A line answers for its four lanes at once. Box borders have 15 bits of 16, so that in
(place | TOPS) - borders no lane borrows from its neighbour, and the top bit of each lane says
whether the place is at or beyond that border; four such differences, and-ed, are the lanes that
the place meets. With the place drawn in by the rounding of bounds and by one step, the same tells
which lanes it meets for certain; the others are asked of the exact region.

For each rectangle of a message: look up the lists of its words, walk nodes and inner blocks breadth
first, and then look at the leaves. Memory is asked for at each step before it is needed.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    FORBIDS,
    MORE,
    NO_WORD,
    RUN,
    SHAPED,
    SHARED,
    run_count,
    run_reference,
    run_start,
)
from nearcast.boolean._verify import ROUNDING, SMALLEST, distinct_slots, grown
from nearcast.boolean._words import clause_holds, empty_set, fill_set, has_word
from nearcast.boolean.rarest_word_tree._frame import (
    NOWHERE_ABOVE,
    steps_apart,
    steps_of_point,
)
from nearcast.boolean.rarest_word_tree._layout import (
    BLOCK,
    CHILD_COUNT,
    CHILDREN_AT,
    HEIGHT,
    LANES,
    MOST_LANES,
    NODE,
    NUMBER,
    SECOND_OF_PAIR,
    TREE,
    WORD,
    find_child,
)
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import region_meets

PLAIN = np.uint64(NO_WORD << 32 | NO_WORD)  # two lanes without a word to check
TOPS = np.uint64(0x8000_8000_8000_8000)
EACH = np.uint64(0x0001_0001_0001_0001)


@njit(cache=True, nogil=True, inline="always")
def in_each(step):
    """A step in all four lanes."""
    return np.uint64(step) * EACH


@inner
def place_lanes(frame, rects, rect):
    """A place in all lanes: as it is, for pruning; and drawn in, for what is certain."""
    x0, y0, x1, y1 = rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
    margin_x = ROUNDING * max(abs(x0), abs(x1)) + SMALLEST
    margin_y = ROUNDING * max(abs(y0), abs(y1)) + SMALLEST
    knots_x, knots_y = frame.knots_x, frame.knots_y
    west, south = steps_of_point(frame, x0, y0)
    east, north = west, south
    if x1 != x0 or y1 != y0:
        east, north = steps_of_point(frame, x1, y1)
    sure_west = steps_apart(knots_x, x0, west, margin_x)[1] + 1
    sure_east = steps_apart(knots_x, x1, east, margin_x)[0] - 1
    sure_south = steps_apart(knots_y, y0, south, margin_y)[1] + 1
    sure_north = steps_apart(knots_y, y1, north, margin_y)[0] - 1
    return (
        in_each(east) | TOPS,
        in_each(north) | TOPS,
        in_each(west),
        in_each(south),
        in_each(max(0, sure_east)) | TOPS,
        in_each(max(0, sure_north)) | TOPS,
        in_each(min(NOWHERE_ABOVE, sure_west)),
        in_each(min(NOWHERE_ABOVE, sure_south)),
    )


@njit(cache=True, nogil=True, inline="always")
def lanes_met(lines, line, most_x, most_y, least_x, least_y):
    """The top bit of each lane whose box the place meets."""
    return (
        (most_x - lines[line, 0])
        & (most_y - lines[line, 1])
        & ((lines[line, 2] | TOPS) - least_x)
        & ((lines[line, 3] | TOPS) - least_y)
        & TOPS
    )


@njit(cache=True, nogil=True, inline="always")
def lanes_taken(lines, line, own):
    """How many of a run's own lanes are not free: a free one ends nowhere."""
    taken = (((lines[line, 2] | TOPS) - EACH) & own) >> np.uint64(15)
    return np.int64((taken * EACH) >> np.uint64(48))


@njit(cache=True, nogil=True, inline="always")
def is_met(met, lane):
    return np.int64(met >> np.uint64(16 * lane + 15)) & 1


@njit(cache=True, nogil=True, inline="always")
def words_are_there(word_set, shift, word):
    """Does the message have the keywords that a lane names?"""
    named = word & NO_WORD
    if word < 0:
        return has_word(word_set, shift, named // SECOND_OF_PAIR) and has_word(
            word_set, shift, named % SECOND_OF_PAIR
        )
    return named == NO_WORD or has_word(word_set, shift, named)


@inner
def any_clause_holds(clauses, chains, slot, word_set, shift):
    """Does one of a subscription's clauses hold?"""
    entry = chains.first[slot]
    while entry >= 0:
        if clause_holds(clauses, entry, word_set, shift):
            return True
        entry = chains.following[entry]
    return False


@njit(cache=True, nogil=True)
def match_messages(
    tree, frame, clauses, chains, regions, is_earth, have, have_start, rects, rect_start,
    first, last, room,
):  # fmt: skip
    """Slots that messages first:last reach: (found, found_end, candidates looked at).

    `room`: slots to begin with
    """
    lines, nodes, root = tree.lines, tree.nodes, tree.root
    ints = lines.view(np.int32)
    kind, shape, ring_start, polygon_start, vertices = regions
    word_set = empty_set(have_start)
    queue = np.empty((256, 2), np.int64)  # nodes, and where smaller words of the message end
    blocks = np.empty((256, 2), np.int64)  # blocks, and how far above the leaves they are
    leaves = np.empty(1024, np.int64)  # runs
    near = np.empty(MOST_LANES, np.int64)  # lanes: line << 3 | lane << 1 | is it met for certain?
    clause_later = np.empty(64, np.int64)  # the same
    found = np.empty(room, np.int32)
    found_end = np.empty(last - first, np.int64)
    total, candidates = 0, 0
    for message in range(first, last):
        begin = total
        word_begin, word_end = have_start[message - first], have_start[message - first + 1]
        shift = fill_set(word_set, have, word_begin, word_end)
        if message + 1 < last:
            for i in range(word_end, have_start[message - first + 2]):
                prefetch_row(root, have[i] + 1)
        repeats = rect_start[message + 1] - rect_start[message] > 1
        for rect in range(rect_start[message], rect_start[message + 1]):
            place = place_lanes(frame, rects, rect)
            most_x, most_y, least_x, least_y = place[0], place[1], place[2], place[3]
            sure_most_x, sure_most_y = place[4], place[5]
            sure_least_x, sure_least_y = place[6], place[7]

            # The lists of the words; the one before the first word is for entries without any.
            leaf_total, queued, block_total, later = 0, 0, 0, 0
            if word_end - word_begin + 1 > len(leaves):
                leaves = grown(leaves, word_end - word_begin + 1)
            for i in range(word_begin - 1, word_end):
                reference = root[0] if i < word_begin else root[have[i] + 1]
                if reference & 3 == RUN:
                    leaves[leaf_total] = reference
                    leaf_total += 1
                    prefetch_row(lines, run_start(reference) // LANES)
                elif reference & 3 == NODE:
                    if queued == len(queue):
                        queue = wider(queue, queued + 1)
                    queue[queued, 0], queue[queued, 1] = reference >> 2, i
                    queued += 1
                    prefetch_row(nodes, reference >> 2)

            # Nodes: their R-trees, and their children for other words of the message.
            visited = 0
            while visited < queued:
                row, smaller_end = queue[visited]
                visited += 1
                if nodes[row, TREE]:
                    if block_total == len(blocks):
                        blocks = wider(blocks, block_total + 1)
                    blocks[block_total, 0] = nodes[row, TREE]
                    blocks[block_total, 1] = nodes[row, HEIGHT]
                    block_total += 1
                    prefetch_block(lines, nodes[row, TREE])
                children = nodes[row, CHILD_COUNT]
                if children == 0 or smaller_end <= word_begin:
                    continue
                at = nodes[row, CHILDREN_AT]
                most = min(children, smaller_end - word_begin)
                if leaf_total + most > len(leaves):
                    leaves = grown(leaves, leaf_total + most)
                if queued + most > len(queue):
                    queue = wider(queue, queued + most)
                # By whichever is fewer, the words or the children.
                by_words = (smaller_end - word_begin) * 8 < children
                steps = smaller_end - word_begin if by_words else children
                for step in range(steps):
                    if by_words:
                        position = word_begin + step
                        place_of_child = find_child(tree, row, have[position])
                        if place_of_child < 0:
                            continue
                    else:
                        place_of_child = at + step
                        position = find_word(
                            word_set, shift, have, word_begin, smaller_end,
                            tree.child_word[place_of_child],
                        )  # fmt: skip
                        if position < 0:
                            continue
                    reference = tree.child[place_of_child]
                    if reference & 3 == RUN:
                        leaves[leaf_total] = reference
                        leaf_total += 1
                        prefetch_row(lines, run_start(reference) // LANES)
                    elif reference & 3 == NODE:
                        queue[queued, 0], queue[queued, 1] = reference >> 2, position
                        queued += 1
                        prefetch_row(nodes, reference >> 2)

            # Inner blocks, breadth first.
            visited = 0
            while visited < block_total:
                block, height = blocks[visited]
                visited += 1
                if height == 0:
                    if leaf_total == len(leaves):
                        leaves = grown(leaves, leaf_total + 1)
                    leaves[leaf_total] = run_reference(block, MOST_LANES)
                    leaf_total += 1
                    continue
                blocks_before, leaves_before = block_total, leaf_total
                if block_total + MOST_LANES > len(blocks):
                    blocks = wider(blocks, block_total + MOST_LANES)
                if leaf_total + MOST_LANES > len(leaves):
                    leaves = grown(leaves, leaf_total + MOST_LANES)
                for line in range(block // LANES, block // LANES + BLOCK):
                    met = lanes_met(lines, line, most_x, most_y, least_x, least_y)
                    if met == 0:
                        continue
                    for lane in range(LANES):
                        child = np.int64(ints[line, NUMBER + lane])
                        hit = is_met(met, lane)
                        if height == 1:
                            leaves[leaf_total] = run_reference(child, MOST_LANES)
                            leaf_total += hit
                        else:
                            blocks[block_total, 0], blocks[block_total, 1] = child, height - 1
                            block_total += hit

                for i in range(blocks_before, block_total):
                    prefetch_block(lines, blocks[i, 0])
                for i in range(leaves_before, leaf_total):
                    prefetch_block(lines, run_start(leaves[i]))

            # Leaves. Lines that have nothing left to check are settled without a branch, because
            # which lanes are met is anybody's guess; lanes of other lines are put aside.
            for leaf in range(leaf_total):
                start, count = run_start(leaves[leaf]) // LANES, run_count(leaves[leaf])
                # A run of one or two shares its line with other lists.
                own = TOPS
                if count < 3:
                    own = (TOPS >> np.uint64(64 - 16 * count)) << np.uint64(
                        16 * (run_start(leaves[leaf]) % LANES)
                    )
                if total + MOST_LANES > len(found):
                    found = grown(found, total + MOST_LANES)
                aside = 0
                for line in range(start, start + (count + LANES - 1) // LANES):
                    candidates += lanes_taken(lines, line, own)
                    met = own & lanes_met(lines, line, most_x, most_y, least_x, least_y)
                    if met == 0:
                        continue
                    sure = own & lanes_met(
                        lines, line, sure_most_x, sure_most_y, sure_least_x, sure_least_y
                    )
                    if met == sure and lines[line, 6] == PLAIN and lines[line, 7] == PLAIN:
                        for lane in range(LANES):
                            found[total] = ints[line, NUMBER + lane]
                            total += is_met(met, lane)
                        continue
                    for lane in range(LANES):
                        near[aside] = line << 3 | lane << 1 | is_met(sure, lane)
                        aside += is_met(met, lane)
                for i in range(aside):
                    line, lane = near[i] >> 3, (near[i] >> 1) & 3
                    word, slot = ints[line, WORD + lane], ints[line, NUMBER + lane]
                    if not words_are_there(word_set, shift, word):
                        continue
                    if word & (MORE | FORBIDS):
                        if later == len(clause_later):
                            clause_later = grown(clause_later, later + 1)
                        clause_later[later] = near[i]
                        later += 1
                        prefetch_row(chains.first, slot)
                        continue
                    if (word & SHAPED or not near[i] & 1) and not region_meets(
                        kind, shape, ring_start, polygon_start, vertices,
                        slot, is_earth, rects, rect, rect + 1,
                    ):  # fmt: skip
                        continue
                    repeats |= (word & SHARED) != 0
                    found[total] = slot
                    total += 1

            # Clauses with more words than a lane has: far away, so all are asked for at once.
            _prefetch_clauses(clauses, chains, ints, clause_later[:later])
            if total + later > len(found):
                found = grown(found, total + later)
            for i in range(later):
                line, lane = clause_later[i] >> 3, (clause_later[i] >> 1) & 3
                word, slot = ints[line, WORD + lane], ints[line, NUMBER + lane]
                if any_clause_holds(
                    clauses, chains, slot, word_set, shift
                ) and (
                    (clause_later[i] & 1 and not word & SHAPED)
                    or region_meets(
                        kind, shape, ring_start, polygon_start, vertices,
                        slot, is_earth, rects, rect, rect + 1,
                    )
                ):  # fmt: skip
                    repeats |= (word & SHARED) != 0
                    found[total] = slot
                    total += 1
        if repeats:
            total = distinct_slots(found, begin, total)
        found_end[message - first] = total
    return found[:total], found_end, candidates


@njit(cache=True, nogil=True, inline="always")
def prefetch_block(lines, block):
    for line in range(block // LANES, block // LANES + BLOCK):
        prefetch_row(lines, line)


@inner
def _prefetch_clauses(clauses, chains, ints, lanes):
    """Ask for the first clause of each lane's subscription, one step of the way after another."""
    for i in range(len(lanes)):
        entry = chains.first[ints[lanes[i] >> 3, NUMBER + ((lanes[i] >> 1) & 3)]]
        prefetch_row(clauses.start, entry)
        prefetch_row(clauses.required, entry)
        prefetch_row(clauses.forbidden, entry)
    for i in range(len(lanes)):
        entry = chains.first[ints[lanes[i] >> 3, NUMBER + ((lanes[i] >> 1) & 3)]]
        prefetch_row(clauses.terms, clauses.start[entry])


@inner
def wider(rows, needed):
    more = np.empty((max(needed, 2 * len(rows)), 2), np.int64)
    more[: len(rows)] = rows
    return more


@inner
def find_word(word_set, shift, have, begin, end, word):
    """Where among the message's words have[begin:end] is this one, or -1."""
    if not has_word(word_set, shift, word):
        return -1
    at = begin + np.searchsorted(have[begin:end], word)
    return at if at < end else -1
