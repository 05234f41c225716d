"""How far may the borders of a box move before a message enters or leaves?"""

import numpy as np
from numba import njit

from nearcast.moving._flat.messages import RECTS, RECTS_AT
from nearcast.moving._flat.verify import meets


@njit(cache=True, nogil=True)
def slacks(messages, boxes, rows, slots, slack):
    """Draw in the slack of each box to the nearest border of a message, in or out.

    rows[i] is the box near which message slots[i] is. A message whose rectangle is beyond a border
    by d, or within all of them by d, stays so while no border moves as far as d.
    """
    for i in range(len(rows)):
        box = boxes[rows[i]]
        at = messages.head[slots[i], RECTS_AT]
        for rect in range(at, at + messages.head[slots[i], RECTS]):
            place = messages.rects[rect]
            beyond_x = max(box[0] - place[2], place[0] - box[2])
            beyond_y = max(box[1] - place[3], place[1] - box[3])
            slack[rows[i]] = min(slack[rows[i]], abs(max(beyond_x, beyond_y)))


@njit(cache=True, nogil=True)
def signs_among(messages, old, old_row, new, rows, slots, is_earth):
    """What becomes of messages when regions change: 1 for one that enters, -1 for one that leaves.

    Message slots[i] is asked of row rows[i] of `new`, and of the row of `old` that belongs to it.
    """
    signs = np.empty(len(rows), np.int8)
    for i in range(len(rows)):
        was = meets(old, np.int64(old_row[rows[i]]), is_earth, messages, slots[i])
        is_now = meets(new, rows[i], is_earth, messages, slots[i])
        signs[i] = np.int8(is_now) - np.int8(was)
    return signs


@njit(cache=True, nogil=True)
def kept_if_in(found, found_end, regions, is_earth, places):
    """Of the subscriptions found for each message, those whose region it is in: (found, end).

    `places` is a `Messages` whose slots are the messages in their order.
    """
    kept, end = np.empty(len(found), np.int32), np.empty(len(found_end), np.int64)
    total, at = 0, 0
    for message in range(len(found_end)):
        while at < found_end[message]:
            kept[total] = found[at]
            total += meets(regions, found[at], is_earth, places, message)
            at += 1
        end[message] = total
    return kept[:total], end
