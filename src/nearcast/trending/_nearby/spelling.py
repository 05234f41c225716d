"""Which of two terms comes first in a list?  By score, of equal ones by the alphabet."""

from nearcast.inner import leaf

SAME = 1e-11  # scores that differ by this share are equal: sums depend on the order of additions


@leaf
def comes_first(spelling, term, other):
    """Is a term before another one in the alphabet?"""
    data, start = spelling
    a, a_end = start[term], start[term + 1]
    b, b_end = start[other], start[other + 1]
    while a < a_end and b < b_end:
        if data[a] != data[b]:
            return data[a] < data[b]
        a += 1
        b += 1
    return a == a_end and b < b_end


@leaf
def is_better(score, term, other_score, other, spelling):
    """Does a term come before another one in a list?"""
    if abs(score - other_score) <= SAME * score:
        return comes_first(spelling, term, other)
    return score > other_score
