"""The contract of the moving room, as checks that any index can be put through.

Each check makes fresh indexes, uses only what `MovingIndex` promises, and compares with
`ScanMoving`, which is the definition: after each event the changes and the results are the same.
"""

from nearcast.checks.expecting import run_checks
from nearcast.checks.moving.events import EVENTS
from nearcast.checks.moving.pair import Check, MakeMoving
from nearcast.checks.moving.refusals import REFUSALS
from nearcast.checks.moving.saving import SAVING
from nearcast.checks.moving.times import TIMES

__all__ = ["check_moving_index", "moving_checks"]


def moving_checks() -> tuple[Check, ...]:
    """Every check of the room: functions that take a way to make an index and raise when it fails.

    >>> len(moving_checks()) > 12
    True
    """
    return EVENTS + TIMES + REFUSALS + SAVING


def check_moving_index(make_index: MakeMoving) -> None:
    """Put an index through every check of the room; an AssertionError tells the one it fails.

    `make_index(space=..., lifetime=..., late_positions=...)` gives a new, empty index.

    >>> from nearcast.moving import ScanMoving
    >>> check_moving_index(ScanMoving)
    """
    run_checks(moving_checks(), make_index)
