"""How much memory processes have, as Linux tells in /proc, and whether they grow."""

from pathlib import Path

MOST_GROWTH = 1.5
STILL_COMING = 400
"""Megabytes: compilers of kernels that are used for the first time after the first look take 300;
Java's heaps, a gigabyte at the most, are half full by then."""


def megabytes(pids):
    """What these processes have in memory, together; those that are gone have none."""
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pages * 4096 // 10**6


def growth(before, after):
    """A problem where processes that keep as much as at the first look have far more memory.

    A dozen subscriptions and a window of messages take next to nothing, so that a round that is
    long enough to leak ends with much more than the half of all that there was when it was warm.

    >>> growth(900, 1700), len(growth(900, 1800))
    ([], 1)
    """
    most = round(MOST_GROWTH * before) + STILL_COMING
    if after <= most:
        return []
    return [f"memory has grown from {before} to {after} MB, and {most} would be much already"]
