"""The contract of the boolean room, as checks that any index can be put through.

Each check makes fresh indexes, uses only what `BooleanIndex` promises, and compares answers with
the definitions themselves: `Expression.matches` and `is_in`.
"""

from nearcast.checks.boolean.answers import ANSWERS
from nearcast.checks.boolean.coming_and_going import COMING_AND_GOING
from nearcast.checks.boolean.places import PLACES
from nearcast.checks.boolean.refusals import REFUSALS
from nearcast.checks.boolean.samples import Check, MakeIndex
from nearcast.checks.boolean.saving import SAVING
from nearcast.checks.expecting import run_checks

__all__ = ["boolean_checks", "check_boolean_index"]


def boolean_checks() -> tuple[Check, ...]:
    """Every check of the room: functions that take a way to make an index and raise when it fails.

    For a test runner that wants to report each by its name.

    >>> len(boolean_checks()) > 20
    True
    """
    return COMING_AND_GOING + ANSWERS + PLACES + REFUSALS + SAVING


def check_boolean_index(make_index: MakeIndex) -> None:
    """Put an index through every check of the room; an AssertionError tells the one it fails.

    `make_index(space=...)` gives a new, empty index: a class, or a function around it.

    >>> from nearcast.boolean import RarestWordTree, ScanIndex
    >>> check_boolean_index(ScanIndex)
    >>> check_boolean_index(RarestWordTree)
    """
    run_checks(boolean_checks(), make_index)
