"""Somebody who walks from place to place of the simulated city."""

import math
import random

from nearcast.datasets._city_places import Venue, offset
from nearcast.model import Point

STEP_METRES = 80.0
"""Walked in a minute."""


class Walker:
    """On the way to a place; once there, to another one."""

    def __init__(self, name: str, start: Venue, to: Venue) -> None:
        self.name = name
        self.at = start.at
        self.to = to

    def walk(self, draw: random.Random, places: list[Venue]) -> None:
        """A minute passes; who arrives chooses the next of `places`."""
        left = math.hypot(*offset(self.at, self.to.at))
        if left <= STEP_METRES:
            self.at = self.to.at
            self.to = draw.choice(places)
            return
        share = STEP_METRES / left
        here, there = self.at, self.to.at
        self.at = Point(
            here.lon + share * (there.lon - here.lon), here.lat + share * (there.lat - here.lat)
        )
