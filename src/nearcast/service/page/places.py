"""Places as a person types them, and as the map draws them."""

from __future__ import annotations

from typing import Any

from nearcast.model import Box, Circle, Point, Polygon, Region

POINT_HINT = "lon, lat"
HINT = "west, south, east, north; or lon, lat, metres; nothing is everywhere"


def region_from_text(text: str) -> Region | None:
    """A box from four numbers, a circle from three, a polygon from pairs; None for no text.

    >>> region_from_text("14.2, 40.8, 500")
    Circle(centre=Point(lon=14.2, lat=40.8, space=Space.EARTH), radius=500.0)
    >>> region_from_text("14.2, 40.8")
    Traceback (most recent call last):
    ValueError: a place has 3 or 4 numbers, or 6 and more in pairs, not 2; give west, south, ...
    """
    numbers = [_number(part) for part in text.replace(";", ",").replace(",", " ").split()]
    match numbers:
        case []:
            return None
        case [lon, lat, metres]:
            return Circle(Point(lon, lat), metres)
        case [west, south, east, north]:
            return Box(west, south, east, north)
    if len(numbers) < 6 or len(numbers) % 2:
        raise ValueError(
            f"a place has 3 or 4 numbers, or 6 and more in pairs, not {len(numbers)}; give {HINT}"
        )
    return Polygon([list(zip(numbers[::2], numbers[1::2], strict=True))])


def point_from_text(text: str) -> Point | None:
    """A point from two numbers; None for no text.

    >>> point_from_text("14.2, 40.8")
    Point(lon=14.2, lat=40.8, space=Space.EARTH)
    >>> point_from_text("14.2")
    Traceback (most recent call last):
    ValueError: a point has 2 numbers, not 1; give lon, lat
    """
    numbers = [_number(part, POINT_HINT) for part in text.replace(",", " ").split()]
    if not numbers:
        return None
    if len(numbers) != 2:
        raise ValueError(f"a point has 2 numbers, not {len(numbers)}; give {POINT_HINT}")
    return Point(*numbers)


def place_from_text(text: str) -> Region | Point | None:
    """A point from two numbers, or a region.

    >>> place_from_text("14.2, 40.8")
    Point(lon=14.2, lat=40.8, space=Space.EARTH)
    """
    if len(text.replace(";", ",").replace(",", " ").split()) == 2:
        return point_from_text(text)
    return region_from_text(text)


def shape_of(region: Region | Point) -> dict[str, Any]:
    """What `live_map.js` draws.

    >>> shape_of(Box(1, 2, 3, 4))
    {'kind': 'box', 'at': [1.0, 2.0, 3.0, 4.0]}
    """
    if isinstance(region, Point):
        return {"kind": "point", "at": [region.lon, region.lat]}
    if isinstance(region, Box):
        return {"kind": "box", "at": [region.west, region.south, region.east, region.north]}
    if isinstance(region, Circle):
        return {"kind": "circle", "at": [region.centre.lon, region.centre.lat, region.radius]}
    return {"kind": "polygon", "at": [[list(vertex) for vertex in ring] for ring in region.rings]}


def point_of(message: dict[str, Any]) -> tuple[float, float]:
    """Longitude and latitude where the Feature of a message is shown: of a box, its middle.

    >>> point_of({"geometry": None, "bbox": [170, -10, -170, 30]})
    (180.0, 10.0)
    """
    if message["geometry"] is not None:
        lon, lat = message["geometry"]["coordinates"]
        return lon, lat
    west, south, east, north = message["bbox"]
    if east < west:  # across the antimeridian
        east += 360
    return (west + east) / 2, (south + north) / 2


def _number(text: str, hint: str = HINT) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number; give {hint}") from None
