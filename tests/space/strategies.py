"""Regions and places that like each other's borders, the antimeridian and the poles."""

from math import inf, nextafter, pi

from hypothesis import strategies as st

from nearcast.model import Box, Circle, Point, Polygon, Region, Space
from nearcast.space import EARTH_RADIUS, distance_to_rect, place_rects

SPACES = (Space.EARTH, Space.PLANE)


@st.composite
def nudged(draw, numbers, low=-inf, high=inf):
    """A number of the strategy, or one of its two neighbours."""
    number = draw(numbers)
    number = draw(st.sampled_from([number, nextafter(number, -inf), nextafter(number, inf)]))
    return min(max(number, low), high)


def coordinates(limit):
    """Grid points (exact), tenths (not exact), the ends, their neighbours, anything."""
    return st.one_of(
        st.integers(-3, 3).map(float),
        st.integers(-30, 30).map(lambda tenths: tenths / 10),
        nudged(st.sampled_from([-limit, 0.0, limit]), -limit, limit),
        st.floats(-limit, limit),
    )


def longitudes(space):
    return coordinates(180.0 if space is Space.EARTH else 1e60)


def latitudes(space):
    return coordinates(90.0 if space is Space.EARTH else 1e60)


def points(space):
    return st.builds(Point, longitudes(space), latitudes(space), space=st.just(space))


@st.composite
def boxes(draw, space):
    """Boxes, some without width or height, some across the antimeridian."""
    west, east = draw(longitudes(space)), draw(longitudes(space))
    south, north = sorted((draw(latitudes(space)), draw(latitudes(space))))
    if space is Space.PLANE:
        west, east = sorted((west, east))
    if draw(st.integers(0, 4)) == 0:
        east = west
    if draw(st.integers(0, 4)) == 0:
        north = south
    return Box(west, south, east, north, space=space)


def places(space):
    return points(space) | boxes(space)


@st.composite
def polygons(draw, space):
    """One to three rings of any form, crossing themselves and each other."""
    vertices = st.tuples(longitudes(space), latitudes(space))
    rings = draw(st.lists(st.lists(vertices, min_size=3, max_size=6), min_size=1, max_size=3))
    try:
        return Polygon(rings, space=space)
    except ValueError:  # a ring without area
        return Polygon([[(-1, -1), (2, -1), (0.1, 0.7)]], space=space)


@st.composite
def circles(draw, space):
    """From radius 0 to more than half way round, many with a border through some place."""
    centre = draw(points(space))
    half_way = pi * EARTH_RADIUS if space is Space.EARTH else 5.0
    rect = draw(st.sampled_from(place_rects(draw(places(space)))))
    radius = draw(
        nudged(st.just(distance_to_rect(centre, rect)), 0.0)
        | nudged(st.sampled_from([0.0, 1.0, half_way / 2, half_way, 2 * half_way]), 0.0)
        | st.floats(0.0, half_way)
    )
    return Circle(centre, radius)


def regions(space):
    return boxes(space) | circles(space) | polygons(space)


@st.composite
def near_places(draw, region: Region):
    """A place at a corner, on an edge or at the border of the region, or anywhere."""
    space = region.space
    if draw(st.integers(0, 3)) == 0:
        return draw(places(space))
    match region:
        case Box():
            lon = draw(st.sampled_from([region.west, region.east]))
            lat = draw(st.sampled_from([region.south, region.north]))
        case Circle():
            rise = (
                region.radius / EARTH_RADIUS * 180 / pi if space is Space.EARTH else region.radius
            )
            lon, lat = region.centre.lon, region.centre.lat + draw(st.sampled_from([-1, 1])) * rise
        case Polygon():
            ring = draw(st.sampled_from(region.rings))
            number = draw(st.integers(0, len(ring) - 1))
            (ax, ay), (bx, by) = ring[number - 1], ring[number]
            share = draw(st.sampled_from([0.0, 0.5, 0.25, 0.1, 1 / 3, 0.7]))
            lon, lat = ax + share * (bx - ax), ay + share * (by - ay)
    limit_lon, limit_lat = (180.0, 90.0) if space is Space.EARTH else (1e60, 1e60)
    lon = draw(nudged(st.just(lon), -limit_lon, limit_lon))
    lat = draw(nudged(st.just(lat), -limit_lat, limit_lat))
    if draw(st.booleans()):
        return Point(lon, lat, space=space)
    # A box with this point at one of its corners.
    other_lon, other_lat = draw(longitudes(space)), draw(latitudes(space))
    if space is Space.PLANE:
        lon, other_lon = sorted((lon, other_lon))
    elif draw(st.booleans()):
        lon, other_lon = other_lon, lon
    south, north = sorted((lat, other_lat))
    return Box(lon, south, other_lon, north, space=space)


@st.composite
def regions_and_places(draw):
    """Both of one space."""
    region = draw(st.sampled_from(SPACES).flatmap(regions))
    return region, draw(near_places(region))
