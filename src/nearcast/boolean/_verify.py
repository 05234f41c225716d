"""Which candidates does a message really reach?  The second step of every index with records.

runs       int64[U]       references to the records (see `_records`) that a rectangle may reach
run_end    int64[q]       where the runs of the i-th rectangle of the messages end
rects      float64[Q, 4]  the planar rectangles of the messages' places
rect_start int32[M+1]     message m owns rects[rect_start[m]:rect_start[m+1]]
found      int32[F]       slots of the subscriptions found, message after message
found_end  int64[n]       where the slots of the i-th message end
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EAST,
    ENTRY,
    FORBIDS,
    MORE,
    NO_WORD,
    NORTH,
    SHAPED,
    SHARED,
    SLOT,
    SOUTH,
    WEST,
    WORD_A,
    WORD_B,
    run_count,
    run_start,
)
from nearcast.boolean._words import clause_holds, clear_words, has_word, take_words
from nearcast.inner import inner
from nearcast.prefetch import prefetch_row
from nearcast.space._kernels import region_meets

# A float32 bound lies within this share of the exact one, so a place farther inside is inside.
ROUNDING = 2.4e-7
SMALLEST = 1e-40
# How many runs ahead memory is asked for, and for how many records of each; after that many the
# hardware has noticed the pattern.
AHEAD = 3
PREFETCHED = 32


@inner
def grown(array, needed):
    wider = np.empty(max(needed, 2 * len(array)), array.dtype)
    wider[: len(array)] = array
    return wider


@inner
def distinct_slots(found, begin, end, slot_bits):
    """Drop repeats from found[begin:end]; returns the new end.  O(n).

    slot_bits   uint64[]   as `word_bits` of `_words`, for slots; clear before and after
    """
    own = found[begin:end]
    kept = take_words(slot_bits, own, 0, len(own), own)
    clear_words(slot_bits, own, kept)
    return begin + kept


@inner
def rounded_down(value):
    """The largest float32 that is not above the value."""
    near = np.float32(value)
    return near if near <= value else np.nextafter(near, np.float32(-np.inf))


@inner
def rounded_up(value):
    """The smallest float32 that is not below the value."""
    near = np.float32(value)
    return near if near >= value else np.nextafter(near, np.float32(np.inf))


@njit(cache=True, nogil=True, inline="always")
def _prefetch_run(records, reference):
    """Have the first lines of a run on their way; a line holds two records."""
    start, count = run_start(reference), run_count(reference)
    for r in range(start, start + min(count, PREFETCHED), 2):
        prefetch_row(records, r)


@njit(cache=True, nogil=True)
def verify(
    records, clauses, regions, is_earth, bits, slot_bits, have, have_start, rects, rect_start,
    first, last, runs, run_end, room,
):  # fmt: skip
    """Slots that messages first:last reach: (found, found_end, candidates looked at).

    Each slot comes once for a message, whatever the runs repeat. `room`: slots to begin with.
    """
    bounds = records.view(np.float32)
    kind, shape, ring_start, polygon_start, vertices = regions
    near = np.empty(64, np.int64)  # records of a run whose bounds the place meets
    found = np.empty(room, np.int32)
    found_end = np.empty(last - first, np.int64)
    total = 0
    candidates = 0
    run = 0
    for i in range(min(len(runs), AHEAD)):
        _prefetch_run(records, runs[i])

    for message in range(first, last):
        begin = total
        own = have[have_start[message - first] : have_start[message - first + 1]]
        take_words(bits, own, 0, len(own), own)
        first_rect, last_rect = rect_start[message], rect_start[message + 1]
        repeats = last_rect - first_rect > 1
        for rect in range(first_rect, last_rect):
            x0, y0, x1, y1 = rects[rect, 0], rects[rect, 1], rects[rect, 2], rects[rect, 3]
            repeats |= x0 != x1 or y0 != y1  # what touches several cells is found in each
            margin_x = ROUNDING * max(abs(x0), abs(x1)) + SMALLEST
            margin_y = ROUNDING * max(abs(y0), abs(y1)) + SMALLEST
            # The place rounded outward to float32, as the bounds are.
            least_x, most_x = rounded_down(x0), rounded_up(x1)
            least_y, most_y = rounded_down(y0), rounded_up(y1)
            while run < run_end[rect - rect_start[first]]:
                if run + AHEAD < len(runs):
                    _prefetch_run(records, runs[run + AHEAD])
                low = run_start(runs[run])
                high = low + run_count(runs[run])
                run += 1
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
                    if word != NO_WORD and not has_word(bits, word):
                        continue
                    if second_word != NO_WORD and not has_word(bits, second_word):
                        continue
                    if first_word & (MORE | FORBIDS) and not clause_holds(
                        clauses, records[r, ENTRY], bits
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
        clear_words(bits, own, len(own))
        if repeats:
            total = distinct_slots(found, begin, total, slot_bits)
        found_end[message - first] = total
    return found[:total], found_end, candidates
