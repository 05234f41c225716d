"""How many messages should a subscription keep?  Section 6.2, Eq. 9 to 13.

A subscription keeps those of the messages that reach its threshold; let n of the window do so.
A low threshold costs upkeep with each message that comes or goes, a high one soon leaves fewer
than k, and then the window has to be searched. Both depend on n, k and the window alone, so that
the best n is found first and the threshold is the score of the n-th best message.

Costs are in visits of an entry of a row. Two things differ from the printed equations:

- of n messages in any order k * (1 + ln(n / k)) are expected in the k-skyband; Eq. 9 prints it
  without the 1, which gives no entry where n is k
- an update costs something besides entries: it has to be found, scored and noted
"""

import math

from numba import njit

from nearcast.inner import inner

# Measured, in visits of about 1.5 ns:
UPDATE = 300.0  # an update, whatever the row
SEARCH = 16_000.0  # a search, whatever it looks at: most of it is the grid's
SEARCH_POSTING = 3.0  # each message that it looks at


@njit(cache=True, nogil=True)
def skyband_size(n, k):
    """Of n messages that arrived in any order of scores, how many fewer than k dominate."""
    return float(n) if n <= k else k * (1.0 + math.log(n / k))


@inner
def upkeep(n, k, window):
    """Eq. 9: the cost of maintenance for each message that comes or goes."""
    return n / window * (UPDATE + skyband_size(n, k))


@njit(cache=True, nogil=True)
def updates_until_short(n, k, window, arriving):
    """Eq. 12: messages that come or go until fewer than k are left; `arriving` is the share of
    those that come.

    The walk of Eq. 11 from n down to k - 1, with a reflecting barrier at 2n. Where as many come as
    go it is the printed equation; section 6.3 has other shares, and the sum of the same recurrence.
    """
    steps, above = n - k + 1.0, 2.0 * n - k + 1.0
    chance = n / window
    if abs(arriving - 0.5) < 1e-3:
        return steps * (3.0 * n - k + 2.0) / chance
    ratio = arriving / (1.0 - arriving)
    down = chance * (1.0 - arriving)
    # Of a barrier far above a drift that leads there the walk may as well never return.
    power = math.exp(min(600.0, (above - steps + 1.0) * math.log(ratio)))
    top = math.exp(min(600.0, steps * math.log(ratio)))
    return (steps - power * (1.0 - top) / (1.0 - ratio)) / (down * (1.0 - ratio))


@njit(cache=True, nogil=True)
def cost(n, k, window, arriving, search):
    """Eq. 13: upkeep and searches, for each message that comes or goes."""
    return upkeep(n, k, window) + search / updates_until_short(n, k, window, arriving)


@njit(cache=True, nogil=True)
def messages_to_keep(k, window, arriving, search):
    """The n of the least cost, by steps that grow with it.  O(log(window / k)) costs."""
    n, least = k, cost(k, k, window, arriving, search)
    while n < window:
        further = n + max(1, n // 16)
        following = cost(further, k, window, arriving, search)
        if following >= least:
            break
        n, least = further, following
    return n
