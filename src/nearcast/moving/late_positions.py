"""What happens to a position that is older than one already known."""

from enum import Enum


class LatePositions(Enum):
    """The rule for a move whose time is before that of the subscription's last timed move.

    - `IGNORED`: nothing changes; the newer position stays
    - `REFUSED`: a ValueError, and nothing changes
    - `TAKEN`: the order of arrival counts, not the times
    """

    IGNORED = "ignored"
    REFUSED = "refused"
    TAKEN = "taken"
