"""The people whose messages the demo shows one by one."""

from __future__ import annotations

from dataclasses import dataclass

from nearcast.datasets import City
from nearcast.model import Circle, Subscription

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
