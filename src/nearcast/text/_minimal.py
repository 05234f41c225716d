"""From a syntax tree to its minimal disjunctive normal form.

A clause is a pair of bit sets `(required, forbidden)`, one bit per word, as Python integers of any
size. A set of clauses means: at least one of them holds.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import TypeAlias

from nearcast.text._syntax import All, Not, Some, Tree, Word

MAX_CLAUSES = 1024

BitClause: TypeAlias = tuple[int, int]


class TooManyClauses(Exception):
    """Some stage of the work would need more than `MAX_CLAUSES` clauses."""


def normal_form(tree: Tree, bits: dict[str, int], negated: bool = False) -> set[BitClause]:
    """Clauses that mean the same as the tree, none contradictory, none that implies another."""
    match tree:
        case Word(token):
            return {(0, bits[token]) if negated else (bits[token], 0)}
        case Not(part):
            return normal_form(part, bits, not negated)
        case All(parts) | Some(parts):
            forms = [normal_form(part, bits, negated) for part in parts]
    # De Morgan: not (a and b) is (not a) or (not b), and the other way round.
    return _conjunction(forms) if isinstance(tree, All) != negated else _disjunction(forms)


def minimal(clauses: set[BitClause]) -> list[BitClause]:
    """The same meaning in clauses none of which can be dropped or shortened.

    The answer depends on the meaning alone, not on how it was written.
    """
    clauses = _without_implied(clauses)
    if not _has_both_signs(clauses):
        return list(clauses)  # without a word both required and forbidden, nothing else can shrink
    # Longest first is dropped first; the order of the bits breaks ties.
    kept = sorted(_prime(clauses), key=lambda clause: (-_size(clause), clause))
    for clause in list(kept):
        others = [other for other in kept if other != clause]
        if _implies(clause, others):
            kept = others
    return kept


def _disjunction(forms: Iterable[set[BitClause]]) -> set[BitClause]:
    union: set[BitClause] = set()
    for form in forms:
        union |= form
        _refuse_too_many(union)
    return _without_implied(union)


def _conjunction(forms: Iterable[set[BitClause]]) -> set[BitClause]:
    product: set[BitClause] = {(0, 0)}
    for form in sorted(forms, key=len):  # the single words first: they are quick and rule out most
        product = _without_implied(_pairs(product, form))
    return product


def _pairs(first: set[BitClause], second: set[BitClause]) -> set[BitClause]:
    pairs: set[BitClause] = set()
    for required, forbidden in first:
        for also_required, also_forbidden in second:
            pair = (required | also_required, forbidden | also_forbidden)
            if not pair[0] & pair[1]:
                pairs.add(pair)
        _refuse_too_many(pairs)
    return pairs


def _without_implied(clauses: Iterable[BitClause]) -> set[BitClause]:
    """Absorption: `a OR (a AND b)` is `a`."""
    kept: list[BitClause] = []
    for _, group in groupby(sorted(clauses, key=_size), _size):
        kept += [clause for clause in group if not any(_within(short, clause) for short in kept)]
    return set(kept)


def _prime(clauses: Iterable[BitClause]) -> list[BitClause]:
    """All clauses that cannot be shortened, by iterated consensus (Quine, 1955)."""
    primes: list[BitClause] = []
    waiting = list(clauses)
    seen = set(waiting)
    while waiting:
        clause = waiting.pop()
        if any(_within(prime, clause) for prime in primes):
            continue
        primes = [prime for prime in primes if not _within(clause, prime)]
        for prime in primes:
            between = _consensus(clause, prime)
            if between and between not in seen:
                seen.add(between)
                waiting.append(between)
                _refuse_too_many(seen)
        primes.append(clause)
    return primes


def _consensus(first: BitClause, second: BitClause) -> BitClause | None:
    """`x AND a`, `NOT x AND b` give `a AND b`: when exactly one word is opposed."""
    opposed = first[0] & second[1] | first[1] & second[0]
    if opposed.bit_count() != 1:
        return None
    return (first[0] | second[0]) & ~opposed, (first[1] | second[1]) & ~opposed


def _implies(clause: BitClause, others: list[BitClause]) -> bool:
    """Does one of the others hold wherever the clause does?  Splits cases, most telling first."""
    cases = [_given(others, *clause)]
    steps = 0
    while cases:
        case = cases.pop()
        if (0, 0) in case:
            continue
        # Nothing holds when all remaining words are absent, or when all are present?
        if all(required for required, _ in case) or all(forbidden for _, forbidden in case):
            return False
        required, forbidden = min(case, key=_size)
        word = (required | forbidden) & -(required | forbidden)
        cases += _given(case, word, 0), _given(case, 0, word)
        steps += 1
        if steps > MAX_CLAUSES:
            raise TooManyClauses
    return True


def _given(clauses: list[BitClause], present: int, absent: int) -> list[BitClause]:
    """What the clauses still ask for, once these words are known to be present or absent."""
    return [
        (required & ~present, forbidden & ~absent)
        for required, forbidden in clauses
        if not (required & absent or forbidden & present)
    ]


def _within(short: BitClause, long: BitClause) -> bool:
    return short[0] & long[0] == short[0] and short[1] & long[1] == short[1]


def _size(clause: BitClause) -> int:
    return clause[0].bit_count() + clause[1].bit_count()


def _has_both_signs(clauses: Iterable[BitClause]) -> bool:
    required = forbidden = 0
    for clause in clauses:
        required, forbidden = required | clause[0], forbidden | clause[1]
    return bool(required & forbidden)


def _refuse_too_many(clauses: set[BitClause]) -> None:
    if len(clauses) > MAX_CLAUSES:
        raise TooManyClauses
