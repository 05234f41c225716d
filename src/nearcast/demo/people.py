"""The people whose messages the demo shows one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearcast.datasets import City
from nearcast.model import (
    Circle,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TrendingSubscription,
)

# Name, wish, metres around, and the place of the city it is about.
_WISHES = (
    ("Leila", "coffee AND (cake OR breakfast)", 1500, "Blue Cup"),
    ("Olu", "traffic AND (jam OR accident)", 3000, "Central Station"),
    ("Nadia", "ipad AND (discount OR sale)", 3000, "Pixel Barn"),
    ("Ravi", "vegan AND NOT cake", 2000, "Taco Tren"),
    ("Zoe", "bike AND NOT parking", 2000, "Gear Loft"),
    ("Marek", "concert AND (ticket OR queue)", 2000, "Lantern Hall"),
    ("Pilar", "(bus OR tram) AND delayed", 2000, "Harbour Stop"),
    ("Sofia", "jazz OR (comedy AND tickets)", 1000, "The Cellar"),
    ("Tariq", "used (books OR vinyl OR ipad)", 2500, "Page Turner"),
    ("Umut", "free AND (wifi OR entry)", 1000, "Little Owl"),
)


@dataclass(frozen=True)
class Person:
    """Somebody with a wish, a subscriber of their own."""

    name: str
    subscription: Subscription

    @property
    def subscriber(self) -> str:
        """The name as the service wants it."""
        return self.name.lower()


def people_of(city: City) -> list[Person]:
    """Ten people, each with a circle around a place they care about.

    >>> leila = people_of(City())[0]
    >>> leila.subscriber, leila.subscription.id
    ('leila', '1.5 km around Blue Cup')
    """
    place = {venue.name: venue.at for venue in city.venues}
    return [
        Person(
            name,
            Subscription(
                f"{metres / 1000:g} km around {venue}", wish, Circle(place[venue], metres)
            ),
        )
        for name, wish, metres, venue in _WISHES
    ]


WALKERS = "walkers"
"""The subscriber that stands for those who walk about."""
LOOKS_FOR = {"Ada": "coffee OR cake", "Emre": "music OR concert", "Kaya": "sale", "Rosa": "bus"}
METRES_AROUND = 600.0
REPORTERS = "reporters"
"""The subscriber who wants to know what is talked about."""
DISTRICT_METRES = 1_000.0


def walks(where: Mapping[str, Point]) -> list[MovingSubscription]:
    """Some of those who walk about, where they are, and what they look for around them.

    >>> [each.id for each in walks({"Ada": Point(14.25, 40.85), "Bo": Point(14.25, 40.85)})]
    ['Ada']
    """
    return [
        MovingSubscription(name, LOOKS_FOR[name], Circle(at, METRES_AROUND))
        for name, at in where.items()
        if name in LOOKS_FOR
    ]


def middle_of(city: City) -> Point:
    """Where the city is."""
    bounds = city.bounds
    return Point((bounds.west + bounds.east) / 2, (bounds.south + bounds.north) / 2)


def talk_of(city: City) -> list[TrendingSubscription | NearbyTrendingSubscription]:
    """What is talked about in each district, and around the middle of the city.

    >>> talk_of(City())[0].id
    'Old Town'
    """
    return [
        *(
            TrendingSubscription(name, Circle(at, DISTRICT_METRES))
            for name, at in city.districts.items()
        ),
        NearbyTrendingSubscription("around the middle", middle_of(city)),
    ]
