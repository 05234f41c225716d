"""A simulated city: shops and stations, people with wishes, and messages that come in bursts."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from nearcast.datasets._city_phrases import (
    BURSTS,
    EVERYDAY,
    PEOPLE,
    STREETS,
    WISHES,
)
from nearcast.model import Box, Circle, Message, Point, Region, Subscription

_BURST_STARTS = 0.05  # chance a tick
_BURST_TICKS = (15, 40)
_BURST_MESSAGES = (2, 6)  # a tick
_METRE = 1 / 111_195  # of latitude, in degrees


@dataclass(frozen=True)
class Venue:
    """A place of the city where messages come from."""

    kind: str
    name: str
    street: str
    at: Point


@dataclass(frozen=True)
class Burst:
    """What many people write about for a while: a concert, a flash sale, a traffic jam."""

    kind: str
    venue: Venue
    start: int
    end: int


@dataclass(frozen=True)
class Moment:
    """One second of the city: what is written, and the bursts that are on."""

    messages: list[Message]
    bursts: tuple[Burst, ...]


class City:
    """A town of some eight kilometres across, the same for everyone who gives the same seed.

    >>> city = City(seed=1)
    >>> city.subscriptions(2) == City(seed=1).subscriptions(2)
    True
    >>> first = next(city.ticks(messages_per_tick=3))
    >>> [type(message).__name__ for message in first]
    ['Message', 'Message', 'Message']
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed
        self.bounds = Box(14.20, 40.80, 14.30, 40.88)
        draw = random.Random(f"city {seed}")
        self.venues = tuple(
            Venue(kind, name, draw.choice(STREETS), self._anywhere(draw))
            for kind, (names, _) in EVERYDAY.items()
            for name in names
        )

    def subscriptions(self, count: int) -> list[Subscription]:
        """`count` people's wishes: an expression, and a box or a circle, or the whole city."""
        draw = random.Random(f"people {self.seed}")
        return [
            Subscription(
                f"{PEOPLE[i % len(PEOPLE)]} {i // len(PEOPLE) + 1}",
                draw.choice(WISHES),
                self._region(draw),
            )
            for i in range(count)
        ]

    def ticks(self, *, messages_per_tick: int = 20) -> Iterator[list[Message]]:
        """What is written in each second, without an end; ids count up, bursts come on top."""
        return (moment.messages for moment in self.moments(messages_per_tick=messages_per_tick))

    def moments(self, *, messages_per_tick: int = 20) -> Iterator[Moment]:
        """Like `ticks`, together with the bursts that messages are about."""
        draw = random.Random(f"messages {self.seed}")
        bursts: list[Burst] = []
        sent = 0
        tick = 0
        while True:
            bursts = [burst for burst in bursts if tick < burst.end]
            if draw.random() < _BURST_STARTS:
                bursts.append(self._burst(draw, tick))
            said = [self._everyday(draw) for _ in range(messages_per_tick)]
            for burst in bursts:
                phrases = BURSTS[burst.kind][1]
                said += [
                    (burst.venue, draw.choice(phrases))
                    for _ in range(draw.randint(*_BURST_MESSAGES))
                ]
            messages = [
                Message(
                    sent + i,
                    text=phrase.format(name=venue.name, street=venue.street),
                    at=self._near(draw, venue.at, metres=150.0),
                    time=tick + i / len(said),
                )
                for i, (venue, phrase) in enumerate(said)
            ]
            yield Moment(messages, tuple(bursts))
            sent += len(said)
            tick += 1

    def _everyday(self, draw: random.Random) -> tuple[Venue, str]:
        venue = draw.choice(self.venues)
        return venue, draw.choice(EVERYDAY[venue.kind][1])

    def _burst(self, draw: random.Random, tick: int) -> Burst:
        kind = draw.choice(tuple(BURSTS))
        venues = [venue for venue in self.venues if venue.kind == BURSTS[kind][0]]
        return Burst(kind, draw.choice(venues), tick, tick + draw.randint(*_BURST_TICKS))

    def _region(self, draw: random.Random) -> Region | None:
        shape = draw.choice(("circle", "circle", "box", "city"))
        if shape == "city":
            return None
        home = self._near(draw, draw.choice(self.venues).at, metres=800.0)
        if shape == "circle":
            return Circle(home, draw.choice((500.0, 1000.0, 2000.0)))
        half = draw.choice((500.0, 1000.0)) * _METRE
        return Box(home.lon - half, home.lat - half, home.lon + half, home.lat + half)

    def _anywhere(self, draw: random.Random) -> Point:
        bounds = self.bounds
        return Point(
            draw.uniform(bounds.west, bounds.east), draw.uniform(bounds.south, bounds.north)
        )

    def _near(self, draw: random.Random, place: Point, *, metres: float) -> Point:
        """A point around `place`, within the city."""
        lon = place.lon + draw.gauss(0.0, metres * _METRE)
        lat = place.lat + draw.gauss(0.0, metres * _METRE)
        bounds = self.bounds
        return Point(
            min(max(lon, bounds.west), bounds.east), min(max(lat, bounds.south), bounds.north)
        )
