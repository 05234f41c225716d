"""Writing, re-ranking and compacting the words of entries; the arrays are drawn in `_clauses`."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def write_terms(clause_of, required_start, required, forbidden_start, forbidden, rank, terms):
    """Write, for each new entry, its clause's required ranks, ascending, then the forbidden ones.

    `rank` int32[lexicon] maps the batch's codes.  O(words log words).
    """
    at = 0
    for i in range(len(clause_of)):
        clause = clause_of[i]
        begin = at
        for j in range(required_start[clause], required_start[clause + 1]):
            terms[at] = rank[required[j]]
            at += 1
        terms[begin:at].sort()
        for j in range(forbidden_start[clause], forbidden_start[clause + 1]):
            terms[at] = rank[forbidden[j]]
            at += 1


@njit(cache=True, nogil=True)
def count_terms(clauses, frequency):
    """How many live entries require each rank.  O(words)."""
    for entry in range(len(clauses.slot)):
        if clauses.slot[entry] >= 0:
            for i in range(clauses.start[entry], clauses.start[entry] + clauses.required[entry]):
                frequency[clauses.terms[i]] += 1


@njit(cache=True, nogil=True)
def mark_terms(clauses, in_use):
    """Which ranks do live entries require or forbid?  O(words)."""
    for entry in range(len(clauses.slot)):
        if clauses.slot[entry] >= 0:
            begin = clauses.start[entry]
            size = np.int64(clauses.required[entry]) + clauses.forbidden[entry]
            for i in range(begin, begin + size):
                in_use[clauses.terms[i]] = True


@njit(cache=True, nogil=True)
def rank_terms(clauses, new_rank):
    """Replace every rank r by new_rank[r] and sort the required ones again.  O(words)."""
    for entry in range(len(clauses.slot)):
        if clauses.slot[entry] < 0:
            continue
        begin = clauses.start[entry]
        middle = begin + clauses.required[entry]
        for i in range(begin, middle + clauses.forbidden[entry]):
            clauses.terms[i] = new_rank[clauses.terms[i]]
        clauses.terms[begin:middle].sort()


@njit(cache=True, nogil=True)
def pack_terms(clauses, total):
    """The words of live entries without gaps; `start` is moved accordingly.  O(words)."""
    packed = np.empty(total, np.int32)
    at = 0
    for entry in range(len(clauses.slot)):
        if clauses.slot[entry] < 0:
            continue
        begin = clauses.start[entry]
        size = np.int64(clauses.required[entry]) + clauses.forbidden[entry]
        packed[at : at + size] = clauses.terms[begin : begin + size]
        clauses.start[entry] = at
        at += size
    return packed


@njit(cache=True, nogil=True)
def chained_entries(first_entry, next_entry, slots):
    """The entries of each slot, slot after slot, and how many each has.  O(entries)."""
    counts = np.zeros(len(slots), np.int64)
    for i in range(len(slots)):
        entry = first_entry[slots[i]]
        while entry >= 0:
            counts[i] += 1
            entry = next_entry[entry]
    numbers = np.empty(counts.sum(), np.int32)
    at = 0
    for i in range(len(slots)):
        entry = first_entry[slots[i]]
        while entry >= 0:
            numbers[at] = entry
            at += 1
            entry = next_entry[entry]
    return numbers, counts
