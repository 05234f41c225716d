"""`Whereabouts`: where each subscription that has a result lives, and what it asks for.

Every shard knows this of all of them, because a row of kind `move` says no more than an id and a
place: who has to take the subscription in must know its words, and what its result was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nearcast.broker.kinds import at_place
from nearcast.model import Id
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_subscription, place_of


@dataclass(frozen=True, slots=True)
class Known:
    """One subscription.

    - `kind`, `keywords`, `region`: as the row said that subscribed
    - `place`: as the last row said that moved it, None where none did
    - `homes`: the shards that have it
    """

    kind: str
    keywords: str | None
    region: str
    place: str | None
    homes: Homes

    @classmethod
    def of(cls, row: Mapping[str, Any], homes: Homes) -> Known:
        """What a row says that subscribes."""
        return cls(row["kind"], row["keywords"], row["region"], None, homes)

    def moved(self, row: Mapping[str, Any], homes: Homes) -> Known:
        """The same at another place."""
        return replace(self, place=row["region"], homes=homes)

    def subscription(self, id: Id) -> Hosted:
        """It, where it is now."""
        row = {"kind": self.kind, "id": id, "keywords": self.keywords, "region": self.region}
        subscription = hosted_subscription(row)
        if self.place is None:
            return subscription
        moved: Hosted = at_place(subscription, place_of({"region": self.place})[0])
        return moved


class Whereabouts(dict[Id, Known]):
    """By id."""

    def rows(self) -> list[list[Any]]:
        """All of it, as JSON."""
        return [
            [id, each.kind, each.keywords, each.region, each.place, each.homes]
            for id, each in self.items()
        ]

    @classmethod
    def of_rows(cls, rows: list[list[Any]]) -> Whereabouts:
        """What `rows` gave."""
        return cls(
            (id, Known(kind, keywords, region, place, tuple(homes)))
            for id, kind, keywords, region, place, homes in rows
        )
