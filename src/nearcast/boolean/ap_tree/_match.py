"""Matching a batch of messages (ICDE 2015, Algorithm 1): walk, candidates, verification.

words       int32[W]       keyword ranks of the batch's words, -1 for words no entry has
word_start  int64[M+1]     message m owns words[word_start[m]:word_start[m+1]]
rects       float64[Q, 4]  the planar rectangles of the messages' places
rect_start  int32[M+1]     message m owns rects[rect_start[m]:rect_start[m+1]]
found       int32[F]       slots of the subscriptions found, message after message
found_end   int64[M]       where message m's slots end in `found`

Containment of a keyword is asked of a 4096-bit filter first and of the sorted words after it,
so that the question stays within a few cache lines whatever the vocabulary.
"""

import numpy as np
from numba import njit

from nearcast.boolean._prefetch import prefetch_row
from nearcast.boolean.ap_tree._layout import (
    CHILD_START,
    EAST,
    EMPTY,
    ENTRY,
    FORBIDS,
    HEIGHT,
    KEY_START,
    KEYWORD_NODE,
    LEAF,
    MORE,
    NO_WORD,
    NORTH,
    ROOT,
    SHAPED,
    SHARED,
    SLOT,
    SOUTH,
    WEST,
    WIDTH,
    WORD_A,
    WORD_B,
    find_cut,
    find_slab,
    leaf_count,
    leaf_start,
)
from nearcast.space._kernels import region_meets

FILTER_WORDS = 64
# A float32 bound lies within this share of the exact one, so a place farther inside is inside.
ROUNDING = 2.4e-7
SMALLEST = 1e-40
# How many leaves ahead memory is asked for, and for how many records of each; after that many the
# hardware has noticed the pattern.
AHEAD = 3
PREFETCHED = 32


@njit(cache=True, nogil=True, inline="always")
def mark(word_filter, word):
    word_filter[(word >> 6) & (FILTER_WORDS - 1)] |= np.uint64(1) << np.uint64(word & 63)


@njit(cache=True, nogil=True, inline="always")
def has_word(word_filter, sorted_words, count, word):
    """Is `word` one of the message's?  O(1) for nearly all that are not."""
    bit = word_filter[(word >> 6) & (FILTER_WORDS - 1)] >> np.uint64(word & 63)
    if not bit & np.uint64(1):
        return False
    low, length = 0, count
    while length > 1:
        half = length >> 1
        low += half * (sorted_words[low + half] <= word)
        length -= half
    return sorted_words[low] == word


@njit(cache=True, nogil=True)
def clause_holds(clauses, entry, word_filter, sorted_words, count):
    """Are all required words there, and none of the forbidden?"""
    start = clauses.start[entry]
    middle = start + clauses.required[entry]
    for i in range(start, middle):
        if not has_word(word_filter, sorted_words, count, clauses.terms[i]):
            return False
    for i in range(middle, middle + clauses.forbidden[entry]):
        if has_word(word_filter, sorted_words, count, clauses.terms[i]):
            return False
    return True


@njit(cache=True, nogil=True)
def sorted_distinct(words, begin, end, out):
    """The known words of one message, ascending, each once; returns how many."""
    count = 0
    for i in range(begin, end):
        if words[i] >= 0:
            out[count] = words[i]
            count += 1
    if count > 32:
        out[:count].sort()
    else:
        for i in range(1, count):
            word = out[i]
            j = i
            while j and out[j - 1] > word:
                out[j] = out[j - 1]
                j -= 1
            out[j] = word
    kept = 0
    for i in range(count):
        if i == 0 or out[i] != out[i - 1]:
            out[kept] = out[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def grown(array, needed):
    wider = np.empty(max(needed, 2 * len(array)), array.dtype)
    wider[: len(array)] = array
    return wider


@njit(cache=True, nogil=True)
def distinct_slots(found, begin, end):
    """Sort found[begin:end] and drop repeats; returns the new end."""
    found[begin:end].sort()
    kept = begin
    for i in range(begin, end):
        if i == begin or found[i] != found[i - 1]:
            found[kept] = found[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def rounded_down(value):
    """The largest float32 that is not above the value."""
    near = np.float32(value)
    return near if near <= value else np.nextafter(near, np.float32(-np.inf))


@njit(cache=True, nogil=True)
def rounded_up(value):
    """The smallest float32 that is not below the value."""
    near = np.float32(value)
    return near if near >= value else np.nextafter(near, np.float32(np.inf))


@njit(cache=True, nogil=True, inline="always")
def prefetch_leaf(records, reference):
    """Have the first lines of a leaf on their way; a line holds two records."""
    start, count = leaf_start(reference), leaf_count(reference)
    for r in range(start, start + min(count, PREFETCHED), 2):
        prefetch_row(records, r)


@njit(cache=True, nogil=True)
def match_messages(
    tree, clauses, regions, is_earth, words, word_start, rects, rect_start, first, last
):
    """Slots that messages first:last reach: (found, found_end, candidates looked at).

    Two steps for each rectangle of a message: walk the inner nodes, breadth first, and note the
    leaves; then verify what the leaves hold. Both ask for memory well before they look at it.
    """
    nodes, keys, edges, children = tree.nodes, tree.keys, tree.edges, tree.children
    records = tree.records
    bounds = records.view(np.float32)
    root = tree.used[ROOT]
    kind, shape, ring_start, polygon_start, vertices = regions

    longest = 1
    for message in range(first, last):
        longest = max(longest, word_start[message + 1] - word_start[message])
    have = np.empty(longest, np.int32)
    word_filter = np.zeros(FILTER_WORDS, np.uint64)
    queue = np.empty(1024, np.int64)  # inner nodes to visit
    queue_from = np.empty(1024, np.int32)  # and the position among the words to go on from
    leaves = np.empty(1024, np.int64)
    near = np.empty(64, np.int64)  # records of a leaf whose bounds the place meets
    found = np.empty(1024, np.int32)
    found_end = np.empty(last - first, np.int64)
    total = 0
    candidates = 0

    for message in range(first, last):
        begin = total
        count = sorted_distinct(words, word_start[message], word_start[message + 1], have)
        for i in range(count):
            mark(word_filter, have[i])
        first_rect, last_rect = rect_start[message], rect_start[message + 1]
        repeats = last_rect - first_rect > 1
        for rect in range(first_rect, last_rect):
            x0, y0, x1, y1 = rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            is_point = x0 == x1 and y0 == y1
            repeats |= not is_point

            visited, queued, leaf_total = 0, 0, 0
            if root & 3 == LEAF:
                leaves[0] = root
                leaf_total = 1
            elif root != EMPTY:
                queue[0] = root
                queue_from[0] = 0
                queued = 1
            while visited < queued:
                node = nodes[queue[visited] >> 2]
                is_keyword_node = queue[visited] & 3 == KEYWORD_NODE
                position = queue_from[visited]
                visited += 1
                child, width, height = node[CHILD_START], node[WIDTH], node[HEIGHT]
                start = node[KEY_START]
                column, row, last_column, last_row = 0, 0, 0, 0
                if is_keyword_node:
                    steps = count - position
                    always = child + width + 1
                else:
                    column = find_slab(edges, start, width - 1, x0)
                    row = find_slab(edges, start + width - 1, height - 1, y0)
                    last_column, last_row = column, row
                    if not is_point:
                        last_column = find_slab(edges, start, width - 1, x1)
                        last_row = find_slab(edges, start + width - 1, height - 1, y1)
                    steps = (last_column - column + 1) * (last_row - row + 1)
                    always = child + width * height
                if queued + steps + 1 > len(queue):
                    queue = grown(queue, queued + steps + 1)
                    queue_from = grown(queue_from, len(queue))
                if leaf_total + steps + 1 > len(leaves):
                    leaves = grown(leaves, leaf_total + steps + 1)

                # The dummy first (step -1), then each cut or cell that is hit, once.
                entered = -1
                rest_entered = False
                c, r = column, row
                for step in range(-1, steps):
                    now_from = position
                    if step < 0:
                        reference = children[always]
                    elif is_keyword_node:
                        now_from = position + step + 1
                        cut = find_cut(keys, start, width, have[position + step])
                        if cut < 0:
                            # Keywords between the cuts share one child, entered once as well.
                            if rest_entered:
                                continue
                            rest_entered = True
                            reference = children[child + width]
                        elif cut == entered:
                            continue
                        else:
                            entered = cut
                            reference = children[child + cut]
                    else:
                        reference = children[child + r * width + c]
                        c += 1
                        if c > last_column:
                            c = column
                            r += 1
                    if reference & 3 == LEAF:
                        leaves[leaf_total] = reference
                        leaf_total += 1
                        prefetch_row(records, leaf_start(reference))
                    elif reference != EMPTY:
                        queue[queued] = reference
                        queue_from[queued] = now_from
                        queued += 1
                        prefetch_row(nodes, reference >> 2)

            margin_x = ROUNDING * max(abs(x0), abs(x1)) + SMALLEST
            margin_y = ROUNDING * max(abs(y0), abs(y1)) + SMALLEST
            # The place rounded outward to float32, as the bounds are.
            least_x, most_x = rounded_down(x0), rounded_up(x1)
            least_y, most_y = rounded_down(y0), rounded_up(y1)
            for i in range(min(leaf_total, AHEAD)):
                prefetch_leaf(records, leaves[i])
            for leaf in range(leaf_total):
                if leaf + AHEAD < leaf_total:
                    prefetch_leaf(records, leaves[leaf + AHEAD])
                low = leaf_start(leaves[leaf])
                high = low + leaf_count(leaves[leaf])
                candidates += high - low
                if high - low > len(near):
                    near = grown(near, high - low)
                # Without a branch, because whether a record is near is anybody's guess.
                kept = 0
                for r in range(low, high):
                    near[kept] = r
                    kept += (
                        (bounds[r, WEST] <= most_x)
                        & (bounds[r, SOUTH] <= most_y)
                        & (bounds[r, EAST] >= least_x)
                        & (bounds[r, NORTH] >= least_y)
                    )
                if total + kept > len(found):
                    found = grown(found, total + kept)
                for r in near[:kept]:
                    first_word, second_word = records[r, WORD_A], records[r, WORD_B]
                    word = first_word & NO_WORD
                    if word != NO_WORD and not has_word(word_filter, have, count, word):
                        continue
                    if second_word != NO_WORD and not has_word(
                        word_filter, have, count, second_word
                    ):
                        continue
                    if first_word & (MORE | FORBIDS) and not clause_holds(
                        clauses, records[r, ENTRY], word_filter, have, count
                    ):
                        continue
                    if (
                        first_word & SHAPED
                        or x1 - bounds[r, WEST] <= margin_x
                        or bounds[r, EAST] - x0 <= margin_x
                        or y1 - bounds[r, SOUTH] <= margin_y
                        or bounds[r, NORTH] - y0 <= margin_y
                    ) and not region_meets(
                        kind, shape, ring_start, polygon_start, vertices,
                        records[r, SLOT], is_earth, rects, rect, rect + 1,
                    ):  # fmt: skip
                        continue
                    repeats |= (first_word & SHARED) != 0
                    found[total] = records[r, SLOT]
                    total += 1
        for i in range(count):
            word_filter[(have[i] >> 6) & (FILTER_WORDS - 1)] = 0
        if repeats:
            total = distinct_slots(found, begin, total)
        found_end[message - first] = total
    return found[:total], found_end, candidates
