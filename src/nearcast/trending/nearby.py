"""What indexes for `NearbyTrendingSubscription` have besides: how much nearness counts."""

from __future__ import annotations

from typing import Any, ClassVar

from nearcast.model import NearbyTrendingSubscription, Space
from nearcast.model._checks import finite_number
from nearcast.trending.decay import DEFAULT_HORIZON
from nearcast.trending.index import TrendingIndex
from nearcast.trending.term_rules import TermRules

DEFAULT_A_ON_EARTH = 10_000.0
"""Metres; a document so far away counts half of one that is here."""

LONGEST_MEMORY = 1000
"""Half-lives after which a document counts nothing, however small the error may be."""


class NearbyIndex(TrendingIndex):
    """An index for people at a place: a document counts `decay / (a + distance)` for them.

    - `a`: in the unit of distance; the larger, the less nearness counts. 10 km on the Earth; in the
      plane it must be given
    - `max_error`: scores may be off by this share at the most, since old documents are forgotten

    `horizon` does not matter for these lists: `max_error` says what may be forgotten, and what is
    older than 1,000 half-lives always is.
    """

    kinds: ClassVar[tuple[type, ...]] = (NearbyTrendingSubscription,)

    a: float
    max_error: float

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
        super().__init__(
            half_life=half_life, horizon=horizon, space=space, lateness=lateness, terms=terms
        )

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"a": self.a, "max_error": self.max_error}
