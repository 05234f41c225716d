"""Matching a batch of messages.  The arrays are drawn in `_layout`, `_words` and `_verify`.

For each rectangle of a message: look up the lists of its words, walk nodes and inner blocks breadth
first, and then look at the leaves. Memory is asked for at each step before it is needed. Steps keep
the order of coordinates, so only where a border lies in the same step as the place has the exact
region to be asked.

Which boxes a place meets and which words are there is anybody's guess, so neither is a branch: what
may count is written down, and counts if the next one is written after it.
"""

from typing import Any

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
    run_start,
)
from nearcast.boolean._verify import distinct_slots, grown
from nearcast.boolean._words import any_word, clause_holds, clear_words, has_word, take_words
from nearcast.boolean.rarest_word_tree._frame import steps_of_point
from nearcast.boolean.rarest_word_tree._lanes import (
    boxes_met,
    four_boxes_met,
    four_lanes_equal,
    keep_four_lanes,
    keep_lanes,
    lanes_equal,
    lanes_in,
)
from nearcast.boolean.rarest_word_tree._layout import (
    CHILD_COUNT,
    CHILDREN_AT,
    HALF_BLOCK,
    HEIGHT,
    INTS,
    LANES,
    MOST_LANES,
    NODE,
    SECOND_OF_PAIR,
    SHORTS,
    TREE,
    find_child,
    ints_of,
    prefetch_block,
    shorts_of,
)
from nearcast.inner import inner, melting
from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import region_meets

NOT_PLAIN = SHAPED | FORBIDS | MORE
MOST_LEVELS = 16  # of an R-tree, more than there are
PAIR_SHIFT = 12

assert 1 << PAIR_SHIFT == SECOND_OF_PAIR


@njit(cache=True, nogil=True, inline="always")
def words_are_there(bits, word):
    """Does the message have the keywords that a lane names?  It has what stands for none."""
    named, is_pair = np.int64(word) & NO_WORD, np.int64(word < 0)
    first = min(named >> (PAIR_SHIFT * is_pair), any_word(bits))
    second = named & (SECOND_OF_PAIR - 1) if is_pair else first
    return has_word(bits, first) & has_word(bits, second)


def _settling(width: int, boxes_met: Any, lanes_equal: Any, keep_lanes: Any) -> Any:
    """What looks at `width` lanes that lie together."""

    @melting
    def settle(shorts, ints, start, met, place, found, total, hard, hard_total, open_total):
        """Of the lanes that a place meets, find those that nothing is left to be asked of.

        The others: numbers and words to hard[0] and hard[1], or, where only the exact region knows
        whether the place meets it, to hard[2] and hard[3]. Tells the new totals, and whether what
        was found may be found again.
        """
        east, north, west, south = place
        numbers, words = INTS * start + 2 * width, INTS * start + 3 * width
        sure = boxes_met(shorts, SHORTS * start, east - 1, north - 1, west + 1, south + 1)
        shared = met & sure & lanes_equal(ints, words, SHARED | NO_WORD)
        easy = met & sure & lanes_equal(ints, words, NO_WORD) | shared
        keep_lanes(ints, numbers, easy, found, total)
        left = met & sure & ~easy
        keep_lanes(ints, numbers, left, hard[0], hard_total)
        keep_lanes(ints, words, left, hard[1], hard_total)
        unsure = met & ~sure
        keep_lanes(ints, numbers, unsure, hard[2], open_total)
        keep_lanes(ints, words, unsure, hard[3], open_total)
        return (
            total + lanes_in(easy),
            hard_total + lanes_in(left),
            open_total + lanes_in(unsure),
            shared != 0,
        )

    return settle


_settle_line = _settling(LANES, four_boxes_met, four_lanes_equal, keep_four_lanes)
_settle_block = _settling(MOST_LANES, boxes_met, lanes_equal, keep_lanes)


@njit(cache=True, nogil=True)
def match_messages(
    tree, frame, clauses, regions, is_earth, bits, slot_bits, words, word_start, rects,
    rect_start, first, last, room,
):  # fmt: skip
    """Slots that messages first:last reach: (found, found_end, candidates looked at).

    `room`: slots to begin with
    """
    lines, nodes, root = tree.lines, tree.nodes, tree.root
    shorts, ints = shorts_of(lines), ints_of(lines)
    kind, shape, ring_start, polygon_start, vertices = regions
    have = np.empty(64, np.int32)  # words of the message
    queue = np.empty(256, np.int64)  # nodes
    blocks = np.empty((MOST_LEVELS, 1024), np.int32)  # by how far above the leaves they are
    block_total = np.zeros(MOST_LEVELS, np.int64)
    runs = np.empty(1024, np.int64)  # references
    near = np.empty((1024, 2), np.int64)  # lines or blocks, and which of their lanes are met
    hard = np.empty((4, 1024), np.int32)
    found = np.empty(room, np.int32)
    found_end = np.empty(last - first, np.int64)
    total, candidates = 0, 0
    for message in range(first, last):
        begin = total
        word_begin, word_end = word_start[message], word_start[message + 1]
        if word_end - word_begin > len(have):
            have = grown(have, word_end - word_begin)
        known = take_words(bits, words, word_begin, word_end, have)
        if message + 1 < last:
            for i in range(word_end, word_start[message + 2]):
                prefetch_row(root, words[i] + 1)
        repeats = rect_start[message + 1] - rect_start[message] > 1
        for rect in range(rect_start[message], rect_start[message + 1]):
            # The lists of the words; the one before the first word is for entries without any.
            run_total, queued = 0, 0
            if known + 1 > len(runs):
                runs = grown(runs, known + 1)
            if known + 1 > len(queue):
                queue = grown(queue, known + 1)
            for i in range(-1, known):
                reference = root[0] if i < 0 else root[have[i] + 1]
                runs[run_total] = reference
                run_total += reference & 3 == RUN
                queue[queued] = reference >> 2
                queued += reference & 3 == NODE
            for i in range(run_total):
                prefetch_row(lines, run_start(runs[i]) // LANES)
            for i in range(queued):
                prefetch_row(nodes, queue[i])

            west, south = steps_of_point(frame, rects[rect, 0], rects[rect, 1])
            east, north = west, south
            if rects[rect, 2] != rects[rect, 0] or rects[rect, 3] != rects[rect, 1]:
                east, north = steps_of_point(frame, rects[rect, 2], rects[rect, 3])
            place = east, north, west, south

            # Nodes: their R-trees, and their children for other words of the message.
            highest = 0
            visited = 0
            while visited < queued:
                wave = queued
                for i in range(visited, wave):
                    row = queue[i]
                    prefetch_row(tree.child_word, nodes[row, CHILDREN_AT])
                    prefetch_row(tree.child, nodes[row, CHILDREN_AT])
                    prefetch_block(lines, nodes[row, TREE])
                while visited < wave:
                    row = queue[visited]
                    visited += 1
                    block, height = nodes[row, TREE], nodes[row, HEIGHT]
                    if block_total[height] == blocks.shape[1]:
                        blocks = _longer(blocks, block_total[height] + 1)
                    blocks[height, block_total[height]] = block
                    block_total[height] += block > 0
                    highest = max(highest, height)
                    children, at = nodes[row, CHILD_COUNT], nodes[row, CHILDREN_AT]
                    if children == 0:
                        continue
                    most = min(children, known) + 1
                    if run_total + most > len(runs):
                        runs = grown(runs, run_total + most)
                    if queued + most > len(queue):
                        queue = grown(queue, queued + most)
                    runs_before, queued_before = run_total, queued
                    if known * 8 < children:  # by whichever is fewer, the words or the children
                        for i in range(known):
                            found_at = find_child(tree, row, have[i])
                            reference = tree.child[found_at] if found_at >= 0 else 0
                            runs[run_total] = reference
                            run_total += reference & 3 == RUN
                            queue[queued] = reference >> 2
                            queued += reference & 3 == NODE
                    else:
                        for i in range(at, at + children):
                            there = np.int64(has_word(bits, tree.child_word[i]))
                            reference = tree.child[i]
                            runs[run_total] = reference
                            run_total += there & (reference & 3 == RUN)
                            queue[queued] = reference >> 2
                            queued += there & (reference & 3 == NODE)
                    for i in range(runs_before, run_total):
                        prefetch_row(lines, run_start(runs[i]) // LANES)
                    for i in range(queued_before, queued):
                        prefetch_row(nodes, queue[i])

            # Inner blocks, a level after the other.
            for height in range(highest, 0, -1):
                most = block_total[height - 1] + MOST_LANES * block_total[height]
                if most > blocks.shape[1]:
                    blocks = _longer(blocks, most)
                below = block_total[height - 1]
                for i in range(block_total[height]):
                    block = np.int64(blocks[height, i])
                    met = boxes_met(shorts, SHORTS * block, east, north, west, south)
                    keep_lanes(ints, INTS * block + 2 * MOST_LANES, met, blocks[height - 1], below)
                    below += lanes_in(met)
                for i in range(block_total[height - 1], below):
                    prefetch_block(lines, np.int64(blocks[height - 1, i]))
                block_total[height - 1] = below
                block_total[height] = 0

            # Runs.
            leaf_total = block_total[0]
            block_total[0] = 0
            if leaf_total + run_total > blocks.shape[1]:
                blocks = _longer(blocks, leaf_total + run_total)
            if 2 * run_total + leaf_total > len(near):
                near = wider(near, 2 * run_total + leaf_total)
            leaves = blocks[0]
            lines_near = 0
            for i in range(run_total):
                start, count = run_start(runs[i]), run_count(runs[i])
                if count > HALF_BLOCK:
                    leaves[leaf_total] = start
                    leaf_total += 1
                    continue
                candidates += count
                # A run of one or two shares its line with other lists.
                own = ((1 << min(count, LANES)) - 1) << (start % LANES)
                line = start - start % LANES
                met = own & four_boxes_met(shorts, SHORTS * line, east, north, west, south)
                near[lines_near, 0], near[lines_near, 1] = line, met
                lines_near += met != 0
                if count > LANES:
                    line += LANES
                    met = four_boxes_met(shorts, SHORTS * line, east, north, west, south)
                    near[lines_near, 0], near[lines_near, 1] = line, met
                    lines_near += met != 0
            all_near = lines_near
            for i in range(leaf_total):
                block = np.int64(leaves[i])
                candidates += lanes_in(boxes_met(shorts, SHORTS * block, 32766, 32766, 0, 0))
                met = boxes_met(shorts, SHORTS * block, east, north, west, south)
                near[all_near, 0], near[all_near, 1] = block, met
                all_near += met != 0
            for i in range(lines_near, all_near):
                prefetch_row(lines, near[i, 0] // LANES + 3)
            most = MOST_LANES * (all_near + 1)
            if total + most > len(found):
                found = grown(found, total + most)
            if most > hard.shape[1]:
                hard = np.empty((4, 2 * most), np.int32)
            hard_total, open_total = 0, 0
            for i in range(lines_near):
                total, hard_total, open_total, again = _settle_line(
                    shorts, ints, near[i, 0], near[i, 1], place,
                    found, total, hard, hard_total, open_total,
                )  # fmt: skip
                repeats |= again
            for i in range(lines_near, all_near):
                total, hard_total, open_total, again = _settle_block(
                    shorts, ints, near[i, 0], near[i, 1], place,
                    found, total, hard, hard_total, open_total,
                )  # fmt: skip
                repeats |= again

            # Words.
            aside = 0
            for i in range(hard_total):
                number, word = hard[0, i], hard[1, i]
                there = np.int64(words_are_there(bits, word))
                is_plain = np.int64(word & NOT_PLAIN == 0)
                found[total] = number
                total += there & is_plain
                repeats |= (word & SHARED) != 0
                hard[0, aside], hard[1, aside] = number, word
                aside += there & ~is_plain
            # What needs more than a lane says: clauses with more words, which are far away, so all
            # are asked for at once; and exact regions.
            for i in range(open_total):
                number, word = hard[2, i], hard[3, i]
                there = np.int64(words_are_there(bits, word))
                hard[0, aside], hard[1, aside] = number, word | SHAPED
                aside += there
            later = 0
            for i in range(aside):
                number, word = np.int64(hard[0, i]), hard[1, i]
                if word & (MORE | FORBIDS):
                    prefetch_row(clauses.start, number)
                    prefetch_row(clauses.required, number)
                    prefetch_row(clauses.forbidden, number)
                    prefetch_row(clauses.slot, number)
                    hard[0, later], hard[1, later] = number, word
                    later += 1
                    continue
                if word & SHAPED and not region_meets(
                    kind, shape, ring_start, polygon_start, vertices,
                    number, is_earth, rects, rect, rect + 1,
                ):  # fmt: skip
                    continue
                repeats |= (word & SHARED) != 0
                found[total] = number
                total += 1
            for i in range(later):
                prefetch_row(clauses.terms, clauses.start[hard[0, i]])
            for i in range(later):
                entry, word = np.int64(hard[0, i]), hard[1, i]
                slot = clauses.slot[entry]
                if clause_holds(clauses, entry, bits) and (
                    not word & SHAPED
                    or region_meets(
                        kind, shape, ring_start, polygon_start, vertices,
                        slot, is_earth, rects, rect, rect + 1,
                    )
                ):  # fmt: skip
                    repeats |= (word & SHARED) != 0
                    found[total] = slot
                    total += 1
        clear_words(bits, have, known)
        if repeats:
            total = distinct_slots(found, begin, total, slot_bits)
        found_end[message - first] = total
    return found[:total], found_end, candidates


@inner
def wider(rows, needed):
    more = np.empty((max(needed, 2 * len(rows)), 2), np.int64)
    more[: len(rows)] = rows
    return more


@inner
def _longer(rows, needed):
    more = np.empty((len(rows), max(needed, 2 * rows.shape[1])), rows.dtype)
    more[:, : rows.shape[1]] = rows
    return more
