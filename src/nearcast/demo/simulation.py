"""The city, the people who listen, and the broker between them; one tick at a time."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice

from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
from nearcast.broker import Broker
from nearcast.datasets import City
from nearcast.datasets.city import Burst, Venue
from nearcast.demo.people import Person, people_of
from nearcast.demo.rates import Rates
from nearcast.model import Box, Circle, Message, Point, Subscription
from nearcast.space import distance

GLOW_TICKS = 15
"""For so long a message that somebody wanted is seen on the map."""


@dataclass(frozen=True)
class Delivery:
    """A message that one of the people on the screen got, and in which tick."""

    message: Message
    tick: int


class Simulation:
    """A city in which each tick is a second.

    >>> simulation = Simulation(people=200)
    >>> simulation.open()
    >>> simulation.tick()
    >>> simulation.messages, simulation.matches > 0
    (40, True)
    """

    def __init__(
        self,
        *,
        people: int,
        seed: int = 0,
        messages_per_tick: int = 40,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.city = City(seed=seed)
        self.people = people_of(self.city)
        self.broker = Broker()
        self.ticks = 0
        self.messages = 0
        self.matches = 0
        self.bursts: tuple[Burst, ...] = ()
        self.latest: dict[str, Delivery] = {}
        self.count_of: Counter[str] = Counter()
        self.glow: deque[list[Point]] = deque(maxlen=GLOW_TICKS)  # the newest tick first
        self._moments = self.city.moments(messages_per_tick=messages_per_tick)
        self._clock = clock
        self._subscriptions = [person.subscription for person in self.people]
        self._subscriptions += _crowd(self.city, people)
        text_of = cache(str)  # few expressions, many who have them
        self._wish_of = {str(each.id): text_of(each.expression) for each in self._subscriptions}

    def open(self) -> None:
        """Let everybody subscribe, and match once, so that no kernel compiles while ticking."""
        self.broker.subscribe_batch(SubscriptionBatch.from_subscriptions(self._subscriptions))
        self._subscriptions = []  # the broker has them now
        self.broker.publish_batch(MessageBatch.from_messages(next(self.city.ticks())))
        self.rates = Rates(self._clock)

    def tick(self) -> None:
        """A second passes: messages are published, and what comes of it is noted."""
        moment = next(self._moments)
        batch = MessageBatch.from_messages(moment.messages)
        begin = self._clock()
        matches = self.broker.publish_batch(batch)
        working = self._clock() - begin
        self.rates.add(messages=len(batch), matches=len(matches), working=working)
        self.bursts = moment.bursts
        self._note(moment.messages, matches)
        self.messages += len(batch)
        self.matches += len(matches)
        self.ticks += 1

    def _note(self, messages: list[Message], matches: Matches) -> None:
        names = {person.name for person in self.people}
        wanted = []
        for row, message in enumerate(messages):
            ids = matches.for_message(row)
            self.count_of.update(map(str, ids))
            if ids:
                wanted.append(_point(message))
            for name in names.intersection(map(str, ids)):
                self.latest[name] = Delivery(message, self.ticks)
        self.glow.appendleft(wanted)

    # ------------------------------------------------------------------ in words

    @property
    def time_of_day(self) -> str:
        """The time on the clocks of the city, which starts at eight."""
        seconds = 8 * 3600 + self.ticks
        return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    def place_of(self, message: Message) -> str:
        """The nearest place with a name."""
        return self._venue_at(_point(message)).name

    def region_of(self, subscription: Subscription) -> str:
        """Around which place of the city it listens, and how far."""
        match subscription.region:
            case Circle(centre, radius):
                return f"{radius / 1000:g} km around {self._venue_at(centre).name}"
            case Box(west, south, east, north):
                centre = Point((west + east) / 2, (south + north) / 2)
                return f"some blocks around {self._venue_at(centre).name}"
            case _:
                return "the whole city"

    def busiest(self, count: int) -> list[tuple[Subscription, int]]:
        """Who got most messages so far, and how many; one subscription for each wish."""
        most: dict[str, tuple[str, int]] = {}
        for name, received in self.count_of.most_common():
            most.setdefault(self._wish_of[name], (name, received))
        return [
            (self.broker.subscription(name), received)
            for name, received in islice(most.values(), count)
        ]

    def got(self, person: Person) -> int:
        """How many messages one of the people on the screen got so far."""
        return self.count_of[person.name]

    def _venue_at(self, at: Point) -> Venue:
        return min(self.city.venues, key=lambda venue: distance(venue.at, at))


def _crowd(city: City, count: int) -> list[Subscription]:
    """Everybody else, at most `count`; who listens to the whole city would drown the others."""
    local = (each for each in city.subscriptions(count * 3 // 2) if each.region is not None)
    return list(islice(local, count))


def _point(message: Message) -> Point:
    assert isinstance(message.at, Point), "the city writes from points"
    return message.at
