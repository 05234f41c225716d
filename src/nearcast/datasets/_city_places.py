"""Where things are in the simulated city: districts, and places with opening hours."""

import math
import random
from dataclasses import dataclass

from nearcast.datasets._city_districts import DISTRICTS
from nearcast.datasets._city_phrases import PLACES
from nearcast.datasets._city_time import is_within
from nearcast.model import Box, Point

BOUNDS = Box(14.20, 40.80, 14.30, 40.88)
METRE = 1 / 111_195
"""Of latitude, in degrees."""

_COLUMNS = 3  # of districts
_ROWS = len(DISTRICTS) // _COLUMNS


@dataclass(frozen=True)
class Venue:
    """A place of the city where messages come from, while it is open."""

    kind: str
    name: str
    street: str
    district: str
    at: Point

    def is_open(self, minute: int) -> bool:
        """Is it, so many minutes after midnight?

        >>> cellar = Venue("venue", "The Cellar", "Mill Lane", "Riverside", Point(14.25, 40.84))
        >>> [cellar.is_open(60 * hour) for hour in (1, 3, 12)]
        [True, False, True]
        """
        return is_within(minute, PLACES[self.kind].open)


def place_districts(draw: random.Random) -> dict[str, Point]:
    """The middle of each district, in a field of its own."""
    width = (BOUNDS.east - BOUNDS.west) / _COLUMNS
    height = (BOUNDS.north - BOUNDS.south) / _ROWS
    return {
        name: Point(
            BOUNDS.west + (i % _COLUMNS + draw.uniform(0.35, 0.65)) * width,
            BOUNDS.south + (i // _COLUMNS + draw.uniform(0.35, 0.65)) * height,
        )
        for i, name in enumerate(DISTRICTS)
    }


def place_venues(draw: random.Random, districts: dict[str, Point]) -> tuple[Venue, ...]:
    """Every place, on a street of some district."""

    def place(kind: str, name: str) -> Venue:
        district = draw.choice(tuple(districts))
        street = draw.choice(DISTRICTS[district].streets)
        return Venue(kind, name, street, district, near(draw, districts[district], metres=700.0))

    return tuple(place(kind, name) for kind, each in PLACES.items() for name in each.names)


def near(draw: random.Random, place: Point, *, metres: float) -> Point:
    """A point around `place`, within the city."""
    lon = place.lon + draw.gauss(0.0, metres * METRE)
    lat = place.lat + draw.gauss(0.0, metres * METRE)
    return Point(min(max(lon, BOUNDS.west), BOUNDS.east), min(max(lat, BOUNDS.south), BOUNDS.north))


def offset(origin: Point, to: Point) -> tuple[float, float]:
    """Metres to the east and to the north; good enough within a city."""
    shrink = math.cos(math.radians(origin.lat))
    return (to.lon - origin.lon) * shrink / METRE, (to.lat - origin.lat) / METRE
