"""`Stroller`: a simulated person who walks to where things are said."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from nearcast.model import Circle, Point

STEP = 0.2
"""Of the radius, in a step: fast, so that there is something to see."""
METRES_A_DEGREE = 111_195.0


class Stroller:
    """On the way from place to place, with a circle around.

    >>> stroller = Stroller(Circle(Point(0, 0), 500), random.Random(1))
    >>> stroller.step([Point(0, 0.01)])
    >>> round(stroller.around.centre.lat * METRES_A_DEGREE)
    100
    """

    def __init__(self, around: Circle, draw: random.Random) -> None:
        self.around = around
        self._draw = draw
        self._to: Point | None = None

    def step(self, places: Sequence[Point]) -> None:
        """A moment passes; who has arrived chooses another of `places`, if there are any."""
        if self._to is None:
            if not places:
                return
            self._to = self._draw.choice(places)
        here, step = self.around.centre, STEP * self.around.radius
        stretch = max(math.cos(math.radians(here.lat)), 0.01)
        east = (self._to.lon - here.lon) * stretch * METRES_A_DEGREE
        north = (self._to.lat - here.lat) * METRES_A_DEGREE
        share = step / max(math.hypot(east, north), 1e-9)
        if share >= 1:
            here, self._to = self._to, None
        else:
            here = Point(
                here.lon + share * (self._to.lon - here.lon),
                here.lat + share * (self._to.lat - here.lat),
            )
        self.around = Circle(here, self.around.radius)
