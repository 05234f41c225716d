"""The pieces that the indexes of this package are made of: one of each family.

*Dissemination*: whom does a message concern? `IGPT`, `IPT`, `CIQ`.
*Re-evaluation*: what is kept for a subscription, so that the window is seldom searched?
`CostBased`, `Skyband`, `Kmax`.

A piece takes its own settings from the arguments of the constructor and passes the others on.
"""

from __future__ import annotations

from typing import Any

from nearcast.model._checks import finite_number, positive_count
from nearcast.topk.skype import _disseminate, _reevaluate

MOST_GROUPS = 64
MOST_LEVELS = 8


class Pieces:
    """The settings of all pieces; those that an index does not have are as usual."""

    _kind = _disseminate.IGPT
    _policy = _reevaluate.COST_BASED
    groups = 1
    leaf_capacity = 1000
    levels = 0
    threshold_share = 0.95
    buffer_factor = 3.0

    def _settings(self) -> dict[str, Any]:
        """What the constructor was given for the pieces."""
        return {}


class IPT(Pieces):
    """Individual pruning (section 5.1): a quadtree, and in each leaf lists of subscriptions.

    A subscription is skipped when its word comes too late to reach its threshold (a location-aware
    prefix, refined by the largest weight of the message), or when the words not yet seen cannot.

    - `leaf_capacity`: subscriptions of a leaf at the most
    """

    _kind = _disseminate.IPT

    def __init__(self, *arguments: Any, leaf_capacity: int = 1000, **settings: Any) -> None:
        self.leaf_capacity = positive_count(leaf_capacity, "leaf_capacity")
        super().__init__(*arguments, **settings)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "leaf_capacity": self.leaf_capacity}


class IGPT(IPT):
    """Individual and group pruning (section 5.2): lists are divided by alpha and sorted.

    Whole groups, the ends of groups and whole leaves are skipped as well.

    - `groups`: parts of a list, 64 at the most
    """

    _kind = _disseminate.IGPT

    def __init__(self, *arguments: Any, groups: int = 10, **settings: Any) -> None:
        self.groups = positive_count(groups, "groups")
        if self.groups > MOST_GROUPS:
            raise ValueError(f"groups {groups} are more than {MOST_GROUPS}; give fewer")
        super().__init__(*arguments, **settings)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "groups": self.groups}


class CIQ(Pieces):
    """The index of Chen et al. that section 8 compares with, without its decay over time.

    A subscription is in several cells that cover the space, with the least likeness of words that
    a message must have in each; the lists of a message's cells are merged by subscription.

    - `levels`: grids of 2, 4, 8, ... cells a side; a subscription is in 3 of each and one more
    """

    _kind = _disseminate.CIQ

    def __init__(self, *arguments: Any, levels: int = 4, **settings: Any) -> None:
        self.levels = positive_count(levels, "levels")
        if self.levels > MOST_LEVELS:
            raise ValueError(f"levels {levels} are more than {MOST_LEVELS}; give fewer")
        super().__init__(*arguments, **settings)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "levels": self.levels}


class CostBased(Pieces):
    """The k-skyband above a threshold of the least cost (section 6.2)."""

    _policy = _reevaluate.COST_BASED


class Skyband(Pieces):
    """The k-skyband above the k-th score at the last search, as Mouratidis et al. have it.

    - `threshold_share`: the share of that score that is enough; 1 is the original
    """

    _policy = _reevaluate.SKYBAND

    def __init__(self, *arguments: Any, threshold_share: float = 0.95, **settings: Any) -> None:
        self.threshold_share = finite_number(threshold_share, "threshold_share")
        if not 0.0 < self.threshold_share <= 1.0:
            raise ValueError(f"threshold_share {threshold_share} is not in (0, 1]; give a share")
        super().__init__(*arguments, **settings)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "threshold_share": self.threshold_share}


class Kmax(Pieces):
    """The k to kmax best messages, as Yi et al. have them.

    - `buffer_factor`: kmax for each k
    """

    _policy = _reevaluate.KMAX

    def __init__(self, *arguments: Any, buffer_factor: float = 3.0, **settings: Any) -> None:
        self.buffer_factor = finite_number(buffer_factor, "buffer_factor")
        if self.buffer_factor < 1.0:
            raise ValueError(f"buffer_factor {buffer_factor} is below 1; give 1 or more")
        super().__init__(*arguments, **settings)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "buffer_factor": self.buffer_factor}
