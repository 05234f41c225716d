"""A simulated city: shops and stations, people with wishes, and messages that come in bursts."""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nearcast.datasets._city_districts import DISTRICTS
from nearcast.datasets._city_phrases import BURSTS, PEOPLE, PLACES, WALKING, WISHES
from nearcast.datasets._city_places import (
    BOUNDS,
    METRE,
    Venue,
    near,
    offset,
    place_districts,
    place_venues,
)
from nearcast.datasets._city_time import DAY, clock, is_within, part_of_day
from nearcast.datasets._city_walker import Walker
from nearcast.model import Box, Circle, Message, Point, Region, Subscription

MORNING = 8 * 60
"""Minutes after midnight: when the city wakes up."""

_BURST_STARTS = 0.08  # chance a tick
_BURST_TICKS = (15, 40)
_BURST_MESSAGES = (2, 6)  # a tick
_WALKERS_SHARE = 0.25  # of what is said on an ordinary day

Said = tuple[str, Point]


@dataclass(frozen=True)
class Burst:
    """What many people write about for a while: a concert, a flash sale, a traffic jam."""

    kind: str
    venue: Venue
    start: int
    end: int


@dataclass(frozen=True)
class Moment:
    """One tick of the city: what is written, the bursts that are on, the minute of the day.

    - `walkers`: where those are who walk about, by their names
    """

    messages: list[Message]
    bursts: tuple[Burst, ...]
    minute: int
    walkers: Mapping[str, Point] = field(default_factory=dict)

    @property
    def clock(self) -> str:
        """The time on the clocks of the city.

        >>> Moment([], (), 490).clock
        '08:10'
        """
        return clock(self.minute)


class City:
    """A town of some eight kilometres across, the same for everyone who gives the same seed.

    It has districts with words of their own, places with opening hours, people who write where
    they walk, and bursts. What is said depends on the time of day.

    >>> city = City(seed=1)
    >>> city.subscriptions(2) == City(seed=1).subscriptions(2)
    True
    >>> first = next(city.ticks(messages_per_tick=3))
    >>> [type(message).__name__ for message in first]
    ['Message', 'Message', 'Message']
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed
        self.bounds = BOUNDS
        draw = random.Random(f"city {seed}")
        self.districts = place_districts(draw)
        self.venues = place_venues(draw, self.districts)

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

    def moments(
        self, *, messages_per_tick: int = 20, begin: int = MORNING, prefix: str | None = None
    ) -> Iterator[Moment]:
        """Like `ticks`, together with the bursts; in a second the city's clocks go on a minute.

        - `begin`: the time on those clocks, in minutes after midnight
        - `prefix`: of the ids, which are texts then, others for another prefix
        """
        draw = random.Random(f"messages {self.seed}")
        walkers = [
            Walker(name, draw.choice(self.venues), draw.choice(self.venues)) for name in PEOPLE
        ]
        bursts: list[Burst] = []
        sent = 0
        tick = 0
        while True:
            minute = (begin + tick) % DAY
            open_now = [venue for venue in self.venues if venue.is_open(minute)]
            for walker in walkers:
                walker.walk(draw, open_now)
            bursts = [burst for burst in bursts if tick < burst.end]
            bursts += self._new_bursts(draw, tick, minute)
            said = [
                self._on_the_way(draw, draw.choice(walkers), minute)
                if draw.random() < _WALKERS_SHARE
                else self._everyday(draw, draw.choice(open_now), minute)
                for _ in range(messages_per_tick)
            ]
            for burst in bursts:
                said += [
                    _around(draw, burst.venue, draw.choice(BURSTS[burst.kind].said), minute)
                    for _ in range(draw.randint(*_BURST_MESSAGES))
                ]
            messages = [
                Message(
                    sent + i if prefix is None else f"{prefix}{sent + i}",
                    text=text,
                    at=at,
                    time=tick + i / len(said),
                )
                for i, (text, at) in enumerate(said)
            ]
            where = {walker.name: walker.at for walker in walkers}
            yield Moment(messages, tuple(bursts), minute, where)
            sent += len(said)
            tick += 1

    def _new_bursts(self, draw: random.Random, tick: int, minute: int) -> list[Burst]:
        """One now and then, of a kind that fits the time of day."""
        kinds = [kind for kind, burst in BURSTS.items() if is_within(minute, burst.hours)]
        if not kinds or draw.random() >= _BURST_STARTS:
            return []
        kind = draw.choice(kinds)
        venues = [venue for venue in self.venues if venue.kind == BURSTS[kind].place]
        return [Burst(kind, draw.choice(venues), tick, tick + draw.randint(*_BURST_TICKS))]

    def _everyday(self, draw: random.Random, venue: Venue, minute: int) -> Said:
        phrases = [
            phrase
            for hours, phrases in PLACES[venue.kind].said.items()
            if is_within(minute, hours)
            for phrase in phrases
        ]
        return _around(draw, venue, draw.choice(phrases), minute)

    def _on_the_way(self, draw: random.Random, walker: Walker, minute: int) -> Said:
        """Of the walk, or of the district in its own words."""
        here = self._district_of(walker.at)
        phrase = draw.choice(WALKING)
        if draw.random() < 0.5:
            phrase = "{who}: " + draw.choice(DISTRICTS[here].said)
        text = phrase.format(
            who=walker.name,
            name=walker.to.name,
            street=draw.choice(DISTRICTS[here].streets),
            district=here,
            clock=clock(minute),
            part=part_of_day(minute),
        )
        return text, walker.at

    def _district_of(self, at: Point) -> str:
        return min(self.districts, key=lambda name: math.hypot(*offset(at, self.districts[name])))

    def _region(self, draw: random.Random) -> Region | None:
        shape = draw.choice(("circle", "circle", "box", "city"))
        if shape == "city":
            return None
        home = near(draw, draw.choice(self.venues).at, metres=800.0)
        if shape == "circle":
            return Circle(home, draw.choice((500.0, 1000.0, 2000.0)))
        half = draw.choice((500.0, 1000.0)) * METRE
        return Box(home.lon - half, home.lat - half, home.lon + half, home.lat + half)


def _around(draw: random.Random, venue: Venue, phrase: str, minute: int) -> Said:
    text = phrase.format(
        name=venue.name, street=venue.street, clock=clock(minute), part=part_of_day(minute)
    )
    return text, near(draw, venue.at, metres=150.0)
