"""What indexes for `NearbyTrendingSubscription` have besides: how much nearness counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from nearcast.model import NearbyTrendingSubscription, Space
from nearcast.model._checks import finite_number
from nearcast.trending.decay import DEFAULT_HORIZON
from nearcast.trending.index import TrendingIndex
from nearcast.trending.term_rules import TermRules

if TYPE_CHECKING:
    from nearcast.space.road_network import RoadNetwork

DEFAULT_A_ON_EARTH = 10_000.0
"""Metres; a document so far away counts half of one that is here."""

LONGEST_MEMORY = 1000
"""Half-lives after which a document counts nothing, however small the error may be."""


class NearbyIndex(TrendingIndex):
    """An index for people at a place: a document counts `decay / (a + distance)` for them.

    - `a`: in the unit of distance; the larger, the less nearness counts. 10 km on the Earth; in the
      plane it must be given
    - `max_error`: scores may be off by this share at the most, since old documents are forgotten
    - `roads`: distance is along these roads, where a class can do that; else it is straight

    `horizon` does not matter for these lists: `max_error` says what may be forgotten, and what is
    older than 1,000 half-lives always is.
    """

    kinds: ClassVar[tuple[type, ...]] = (NearbyTrendingSubscription,)
    follows_roads: ClassVar[bool] = False
    """Can distances be those along roads?"""

    a: float
    max_error: float
    roads: RoadNetwork | None

    def __init__(
        self,
        *,
        half_life: float,
        a: float | None = None,
        max_error: float = 0.01,
        horizon: int = DEFAULT_HORIZON,
        space: Space = Space.EARTH,
        lateness: float = 0.0,
        terms: TermRules | None = None,
        roads: RoadNetwork | None = None,
    ) -> None:
        if a is None:
            if space is Space.PLANE:
                raise ValueError(
                    "a is missing: the unit of a plane is yours; give the distance at which a "
                    "document counts half of one that is here"
                )
            a = DEFAULT_A_ON_EARTH
        self.a = finite_number(a, "a")
        if self.a <= 0:
            raise ValueError(f"a {self.a} is not positive; give a distance")
        self.max_error = finite_number(max_error, "max_error")
        if not 0 <= self.max_error < 1:
            raise ValueError(f"max_error {self.max_error} is outside [0, 1); 0.01 is one percent")
        if roads is not None and not self.follows_roads:
            raise ValueError(
                f"{type(self).__name__} needs straight distances; for those along roads use SST"
            )
        if roads is not None and roads.space is not space:
            raise ValueError(
                f"the roads are in {roads.space}, the index in {space}; use one space for both"
            )
        self.roads = roads
        super().__init__(
            half_life=half_life, horizon=horizon, space=space, lateness=lateness, terms=terms
        )

    def settings(self) -> dict[str, Any]:
        """What the index was made with but for its roads, fit for JSON."""
        return super().settings() | {"a": self.a, "max_error": self.max_error}
