"""Values that people type: numbers and places. A bad one is wrong usage, and says why."""

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

from nearcast.model import Box, Circle, Point

Value = TypeVar("Value")


def seconds(text: str) -> float:
    """A number of seconds above 0.

    >>> seconds("2.5")
    2.5
    """
    number = _number(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, such as 20")
    return number


def count(text: str) -> int:
    """A whole number, 0 or more.

    >>> count("1_000")
    1000
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= 0, such as 1000")
    return number


def point(text: str) -> Point:
    """A point as LON,LAT.

    >>> point("2.35,48.86")
    Point(lon=2.35, lat=48.86, space=Space.EARTH)
    """
    return _shape(text, "LON,LAT", 2, Point)


def box(text: str) -> Box:
    """A box as WEST,SOUTH,EAST,NORTH.

    >>> box("2,48,3,49").north
    49.0
    """
    return _shape(text, "WEST,SOUTH,EAST,NORTH", 4, Box)


def circle(text: str) -> Circle:
    """A circle as LON,LAT,METRES.

    >>> circle("2.35,48.86,500").radius
    500.0
    """
    return _shape(text, "LON,LAT,METRES", 3, lambda lon, lat, r: Circle(Point(lon, lat), r))


def _shape(text: str, form: str, size: int, make: Callable[..., Value]) -> Value:
    numbers = [_number(part) for part in text.split(",")]
    if len(numbers) != size or any(map(math.isnan, numbers)):
        raise argparse.ArgumentTypeError(f"{text!r} is not {form}; give {size} numbers")
    try:
        return make(*numbers)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
