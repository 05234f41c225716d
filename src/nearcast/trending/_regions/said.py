"""What the document at hand says, and what rows lose when it is forgotten.

term    int32[n]  each term of the document once
amount  int64[n]  what the document has of it, in units
seen    int64[n]  the last row that had it
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf, melting
from nearcast.trending._regions.documents import TERMS
from nearcast.trending._regions.postings import halve_masses, worth
from nearcast.trending._regions.remembered import remember
from nearcast.trending._regions.rows import HELD, halve, least, sink
from nearcast.trending._regions.runs import COUNT, HIGH, number_at

BASE, STARTED = 0, 1
"""Of a clock: the epoch that units are counted from, and whether there has been one."""

_TIMES = (1 << HIGH) - 1


class Said(NamedTuple):
    """The arrays drawn above."""

    term: NDArray[np.int32]
    amount: NDArray[np.int64]
    seen: NDArray[np.int64]


@inner
def said_by(archive, number, base):
    """What a document says.  O(its terms)."""
    runs, documents = archive.runs, archive.documents
    run = np.int64(documents.run[number, TERMS])
    count = runs.head[run, COUNT]
    one = worth(documents, number, base)
    said = Said(np.empty(count, np.int32), np.empty(count, np.int64), np.full(count, np.int64(-1)))
    for i in range(count):
        entry = number_at(runs, run, i)
        said.term[i] = entry >> HIGH
        said.amount[i] = (entry & _TIMES) * one
    return said


@leaf
def mark_terms(terms, said, sign):
    """Mark what the document says, and count it."""
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = i + 1
        terms.mass[said.term[i]] += sign * said.amount[i]


@leaf
def unmark_terms(terms, said):
    """Nothing is marked any more."""
    for i in range(len(said.term)):
        terms.mark[said.term[i]] = 0


@leaf
def pass_epochs(rows, slots, archive, terms, clock, base):
    """Count in the units of a later base, once whoever is older has left: how many epochs."""
    epochs = base - clock[BASE] if clock[STARTED] else np.int64(0)
    if epochs > 0:
        halve(rows, slots, epochs)
        halve_masses(archive, epochs)
        for term in range(len(terms.mass)):
            terms.mass[term] >>= min(epochs, np.int64(62))
    if epochs > 0 or not clock[STARTED]:
        clock[BASE] = base
        clock[STARTED] = 1
    return epochs


@melting
def take_away(slot, said, rows, terms, remembered, spelling):
    """Take what the document said away from the terms that are in the row: has any lost?"""
    at = rows.start[slot]
    held = np.int64(rows.head[slot, HELD])
    fell = False
    for place in range(held - 1, -1, -1):  # who sinks goes where all is done
        mark = terms.mark[rows.term[at + place]]
        if mark > 0:
            if not fell:
                remember(remembered, rows, slot)
                fell = True
            rows.score[at + place] -= said.amount[mark - 1]
            sink(rows, at, np.int64(place), held, spelling)
    while held > 0 and rows.score[at + held - 1] == 0:
        held -= 1
    rows.head[slot, HELD] = held
    return fell


@leaf
def may_lack(rows, slot, outside):
    """May a term outside the row belong into the list, when none has more than `outside`?"""
    return outside > 0 and outside >= least(rows, slot)
