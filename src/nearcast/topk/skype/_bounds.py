"""What a message can be worth at the most: the lemmas of the paper as one-line kernels.

The paper divides by 1 - alpha (Eq. 2) and by alpha (Eq. 8). Here a single bound is compared as

    alpha * near + (1 - alpha) * alike < threshold

which says the same and holds for alpha 0 and 1 as well. Only groups need the divided form, and
there alpha ends short of 1; what that may be off by, `lowered` has taken off the threshold before.
"""

import numpy as np
from numba import njit

SLACK = 2e-6  # of a score: more than all rounding of bounds together
NEARLY_ONE = 1.0 - 1e-7


@njit(cache=True, nogil=True)
def sums_from(weight):
    """Eq. 3: for each word the weights from it on; one 0 more at the end."""
    sums = np.zeros(len(weight) + 1)
    for j in range(len(weight) - 1, -1, -1):
        sums[j] = sums[j + 1] + weight[j]
    return sums


@njit(cache=True, nogil=True)
def most_from(weight):
    """Eq. 4: for each word the largest weight from it on; one 0 more at the end."""
    most = np.zeros(len(weight) + 1)
    for j in range(len(weight) - 1, -1, -1):
        most[j] = max(most[j + 1], weight[j])
    return most


@njit(cache=True, nogil=True)
def lowered(theta):
    """A threshold that nothing falls short of by rounding; everything reaches 0 or less."""
    return theta - SLACK if theta > 0.0 else -1.0


@njit(cache=True, nogil=True)
def falls_short(alpha, near, alike, theta):
    """Lemma 1: so near and so much alike at the most, does a message miss the threshold?"""
    return alpha * near + (1.0 - alpha) * alike < theta


@njit(cache=True, nogil=True)
def nearness_between(apart, inside):
    """Definition 8: the nearness of a message to a subscription in a cell, at the most.

    `apart`: from the message to the cell, 0 when it may be in it; `inside`: from the subscription
    to the border of its cell; both as shares of the longest distance.
    """
    if apart <= 0.0:
        return 1.0
    return max(0.0, 1.0 - apart - inside)


@njit(cache=True, nogil=True)
def alike_unseen(my_sum, my_most, their_sum, their_most):
    """Eq. 5: what words can share at the most, given the sums and the largest of their weights."""
    return min(my_sum * their_most, their_sum * my_most)


@njit(cache=True, nogil=True)
def starred(alpha, theta):
    """Section 5.2.1: threshold and alpha, each divided by 1 - alpha."""
    text = 1.0 - min(alpha, NEARLY_ONE)
    return theta / text, min(alpha, NEARLY_ONE) / text


@njit(cache=True, nogil=True)
def group_falls_short(most_weight, their_sum, least_star, most_alpha_star, near):
    """Theorems 3 and 4: does a message miss every threshold of a group, or of the rest of one?"""
    return most_weight * their_sum < least_star - most_alpha_star * near


@njit(cache=True, nogil=True)
def needed_nearness(alpha, theta):
    """Eq. 8: how near the best of texts must be; -inf where a far one will do."""
    if alpha <= 0.0 or theta <= 0.0:
        return -np.inf
    return (lowered(theta) - (1.0 - alpha)) / alpha


@njit(cache=True, nogil=True)
def rounded_up(value):
    """A float32 that is not below a value of 0 or more."""
    return np.float32(value * (1.0 + 1.2e-7))


@njit(cache=True, nogil=True)
def rounded_down(value):
    """A float32 that is not above."""
    return np.float32(value - abs(value) * 1.2e-7)
