"""A step of the stream: old documents leave, time passes, a document comes."""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.trending._regions.documents import add_document, earliest
from nearcast.trending._regions.postings import add_to_cells, drop_from_cells
from nearcast.trending._regions.runs import NONE
from nearcast.trending._regions.said import BASE, STARTED, pass_epochs
from nearcast.trending.decay import MOST_UNITS


@leaf
def document_comes(columns, step, oldest):
    """Does a document come in this step that says something and is not forgotten already?"""
    return (
        step < len(columns.moment)
        and columns.moment[step] > oldest
        and columns.term_start[step] < columns.term_start[step + 1]
    )


@leaf
def first_base(clock, now, horizon):
    """The epoch of the oldest document that can count; it never goes back."""
    base = np.int64(np.floor(now)) - horizon
    return max(base, clock[BASE]) if clock[STARTED] else base


@leaf
def has_room(terms, columns, step, base):
    """Do sums of all documents take what the document says, in the units of this base?"""
    shift = np.int64(np.floor(columns.moment[step])) - base
    for i in range(columns.term_start[step], columns.term_start[step + 1]):
        weight = np.int64(columns.times[i]) * columns.weight[step]
        if weight > (MOST_UNITS - terms.mass[columns.term[i]]) >> shift:
            return False
    return True


@inner
def next_document(
    archive, rows, slots, levels, terms, columns, step, now, horizon, clock, base, comes, has_masses
):  # fmt: skip
    """Whom rows are to follow now: (the archive, a document, its sign, the base, epochs passed).

    First, with sign -1, each that is to be forgotten; it is out of the cells and must be dropped
    by the caller. Then time passes, and the document that `comes` is there, with sign 1. In the
    end, or where none comes, NONE. The base is from `first_base` on one after the other: where
    sums have no room for the document, the oldest epoch is forgotten too, and then the next.
    """
    epochs = np.int64(0)
    while True:
        number = earliest(archive.documents)
        if number != NONE:
            moment = archive.documents.moment[number]
            if moment <= now - horizon or moment < base:
                archive = drop_from_cells(archive, levels, number, clock[BASE], has_masses)
                return archive, number, np.int64(-1), base, epochs
        epochs += pass_epochs(rows, slots, archive, terms, clock, base)
        if not comes or columns.moment[step] < base:
            return archive, np.int64(NONE), np.int64(1), base, epochs
        if has_room(terms, columns, step, base):
            break
        base += 1
    archive, number = add_document(archive, columns, step)
    archive = add_to_cells(archive, levels, number, clock[BASE], has_masses)
    return archive, number, np.int64(1), base, epochs
