"""How much memory processes have, as Linux tells in /proc, and whether they grow."""

from pathlib import Path

MOST_GROWTH = 2
STILL_COMING = 700
"""Megabytes: code that is used for the first time, and what Java's heaps have not taken yet of the
gigabyte that each may have."""


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

    A dozen subscriptions and a window of messages take next to nothing. What leaks with each batch
    or message has made more than twice of all that there was by the end of a round.

    >>> growth(900, 1500), len(growth(900, 2600))
    ([], 1)
    """
    most = MOST_GROWTH * before + STILL_COMING
    if after <= most:
        return []
    return [f"memory has grown from {before} to {after} MB, and {most} would be much already"]
