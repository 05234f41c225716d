"""A step of the stream: old documents leave, time passes, a document comes."""

import numpy as np

from nearcast.inner import inner, leaf
from nearcast.trending._regions.documents import add_document, earliest
from nearcast.trending._regions.postings import add_to_cells, drop_from_cells
from nearcast.trending._regions.runs import NONE
from nearcast.trending._regions.said import BASE, pass_epochs


@leaf
def document_comes(columns, step, oldest):
    """Does a document come in this step that says something and is not forgotten already?"""
    return (
        step < len(columns.moment)
        and columns.moment[step] > oldest
        and columns.term_start[step] < columns.term_start[step + 1]
    )


@inner
def next_document(
    archive, rows, slots, levels, terms, columns, step, now, horizon, clock, comes, has_masses
):  # fmt: skip
    """Whom rows are to follow now: (the archive, a document, its sign, epochs that have passed).

    First, with sign -1, each that is to be forgotten; it is out of the cells and must be dropped
    by the caller. Then time passes, and the document that `comes` is there, with sign 1. In the
    end, or where none comes, NONE.
    """
    number = earliest(archive.documents)
    if number != NONE and archive.documents.moment[number] <= now - horizon:
        archive = drop_from_cells(archive, levels, number, clock[BASE], has_masses)
        return archive, number, np.int64(-1), np.int64(0)
    base = np.int64(np.floor(now)) - horizon
    epochs = pass_epochs(rows, slots, archive, terms, clock, base)
    number = np.int64(NONE)
    if comes:
        archive, number = add_document(archive, columns, step)
        archive = add_to_cells(archive, levels, number, clock[BASE], has_masses)
    return archive, number, np.int64(1), epochs
