"""The contract of the trending room, as checks that any index can be put through.

Each check makes fresh indexes, uses only what `TrendingIndex` promises, and compares lists, and
what is told of them, with `ScanTrending`: exactly for regions, and for nearness where `max_error`
is 0; else within it.
"""

from nearcast.checks.expecting import run_checks
from nearcast.checks.trending.lists import LISTS
from nearcast.checks.trending.refusals import REFUSALS
from nearcast.checks.trending.samples import Check, MakeIndex
from nearcast.checks.trending.saving import SAVING

__all__ = ["check_trending_index", "trending_checks"]


def trending_checks() -> tuple[Check, ...]:
    """Every check of the room: functions that take a way to make an index and raise when it fails.

    >>> len(trending_checks()) > 15
    True
    """
    return LISTS + REFUSALS + SAVING


def check_trending_index(make_index: MakeIndex) -> None:
    """Put an index through every check of the room; an AssertionError tells the one it fails.

    `make_index(half_life=..., space=..., horizon=..., lateness=..., terms=...)` gives a new, empty
    index: a class, or a function around it that sets what only this class has.
    """
    run_checks(trending_checks(), make_index)
