"""Examples 2 to 6 of the paper, numbers as printed (Fig. 4)."""

import numpy as np
import pytest

from nearcast.topk.skype._bounds import (
    alike_unseen,
    falls_short,
    most_from,
    nearness_between,
    sums_from,
)

S1 = np.array([0.4, 0.3, 0.2, 0.1])  # w1 w2 w3 w4; alpha 0.6, k-th score 0.7
S2 = np.array([0.7, 0.5, 0.2])  # w1 w2 w3; alpha 0.5, k-th score 0.6
S3 = np.array([0.5, 0.4, 0.3, 0.1])  # w1 w2 w3 w4; alpha 0.7, k-th score 0.67
M1 = np.array([1.0])  # w4
M2 = np.array([0.4, 0.2, 0.1])  # w2 w3 w4
M3 = np.array([0.7, 0.3, 0.2])  # w2 w3 w4


def threshold_of_text(score, alpha, near):
    """Eq. 2."""
    return (score - alpha * near) / (1 - alpha)


def test_example_2_the_prefix_depends_on_the_place():
    needed = threshold_of_text(0.7, 0.6, 0.98)
    assert needed == pytest.approx(0.28)
    assert [n for n, total in enumerate(sums_from(S1)[:4], 1) if total >= needed] == [1, 2, 3]


def test_example_3_a_word_outside_the_prefix_is_skipped():
    w4 = 3
    assert sums_from(S1)[w4] == pytest.approx(0.1)
    assert falls_short(0.6, 0.98, sums_from(S1)[w4] * 1.0, 0.7)


def test_example_4_the_largest_weight_of_the_message_refines_the_prefix():
    assert threshold_of_text(0.7, 0.6, 0.99) == pytest.approx(0.265)  # printed as 0.26
    w2_of_s1, w2_of_m2 = 1, 0
    assert not falls_short(0.6, 0.99, sums_from(S1)[w2_of_s1], 0.7)
    assert falls_short(0.6, 0.99, sums_from(S1)[w2_of_s1] * most_from(M2)[w2_of_m2], 0.7)


def test_example_5_both_ways_across_the_border_are_added():
    near = nearness_between(0.3 / 1.6, 0.25 / 1.6)
    assert near == pytest.approx(0.65625)  # printed as 0.65
    assert threshold_of_text(0.6, 0.5, 1.0) == pytest.approx(0.2)
    assert threshold_of_text(0.6, 0.5, near) == pytest.approx(0.54375)  # printed as 0.55
    w2_of_s2, w2_of_m2 = 1, 0
    bound = sums_from(S2)[w2_of_s2] * most_from(M2)[w2_of_m2]
    assert not falls_short(0.5, 1.0, bound, 0.6)
    assert falls_short(0.5, near, bound, 0.6)


def test_example_6_words_not_yet_seen_are_bounded():
    needed = 0.48
    near = (0.67 - 0.3 * needed) / 0.7  # such that Eq. 2 gives the threshold of the example
    assert threshold_of_text(0.67, 0.7, near) == pytest.approx(needed)
    assert not falls_short(0.7, near, sums_from(S3)[1] * most_from(M3)[0], 0.67)
    unseen = alike_unseen(sums_from(S3)[2], most_from(S3)[2], sums_from(M3)[1], most_from(M3)[1])
    assert unseen == pytest.approx(0.12)
    assert S3[1] * M3[0] == pytest.approx(0.28)
    assert falls_short(0.7, near, S3[1] * M3[0] + unseen, 0.67)


def test_a_message_in_the_cell_is_as_near_as_can_be():
    assert nearness_between(0.0, 0.2) == 1.0
