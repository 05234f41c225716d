"""The contract of the top-k room, as checks that any index can be put through.

Each check makes fresh indexes, uses only what `TopKIndex` promises, and compares lists, and what is
told of them, with `ScanTopK`, which is the definition.
"""

from nearcast.checks.expecting import run_checks
from nearcast.checks.topk.lists import LISTS
from nearcast.checks.topk.pair import Check, MakeIndex
from nearcast.checks.topk.refusals import REFUSALS
from nearcast.checks.topk.saving import SAVING
from nearcast.checks.topk.windows import WINDOWS

__all__ = ["check_top_k_index", "top_k_checks"]


def top_k_checks() -> tuple[Check, ...]:
    """Every check of the room: functions that take a way to make an index and raise when it fails.

    >>> len(top_k_checks()) > 15
    True
    """
    return LISTS + WINDOWS + REFUSALS + SAVING


def check_top_k_index(make_index: MakeIndex) -> None:
    """Put an index through every check of the room; an AssertionError tells the one it fails.

    `make_index(window, space=..., max_dist=..., statistics=..., lateness=...)` gives a new, empty
    index: a class, or a function around it that sets what only this class has.

    >>> from nearcast.topk import ScanTopK
    >>> check_top_k_index(ScanTopK)
    """
    run_checks(top_k_checks(), make_index)
