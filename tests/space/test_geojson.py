import json

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import Box, Circle, Point, Polygon, Space
from nearcast.space import region_from_geojson, region_from_wkb, region_to_geojson
from tests.space.strategies import SPACES, circles, polygons

RING = [[0, 0], [4, 0], [0, 3], [0, 0]]
TRIANGLE = Polygon([RING])


@given(st.sampled_from(SPACES).flatmap(lambda space: polygons(space) | circles(space)))
def test_polygons_and_circles_come_back(region):
    text = json.dumps(region_to_geojson(region))
    assert region_from_geojson(text, space=region.space) == region


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"type": "Polygon", "coordinates": [RING]}, TRIANGLE),
        ({"type": "Polygon", "coordinates": [[[*vertex, 12.5] for vertex in RING]]}, TRIANGLE),
        (
            {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": [RING]},
                "properties": None,
            },
            TRIANGLE,
        ),
        (
            b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]},'
            b' "properties": {"radius": 5}}',
            Circle(Point(1, 2), 5),
        ),
    ],
)
def test_region_from_geojson(source, expected):
    assert region_from_geojson(source) == expected


def point_feature(coordinates, **properties):
    geometry = {"type": "Point", "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{", "is not GeoJSON"),
        ("[1, 2]", "is not GeoJSON"),
        ({}, "type None is not a region"),
        ({"type": "Feature", "geometry": None}, "type None is not a region"),
        ({"type": "MultiPolygon", "coordinates": []}, "'MultiPolygon' is not a region; give a"),
        ({"type": "Point", "coordinates": [1, 2]}, "'Point' is not a region.*radius"),
        ({"type": "Polygon"}, "has no coordinates"),
        ({"type": "Polygon", "coordinates": []}, "no rings"),
        ({"type": "Polygon", "coordinates": 7}, "malformed"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, "a"], [2, 0]]]}, "'a' is not a number"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1], [2, 0]]]}, "not a pair"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 99], [2, 0]]]}, "latitude 99.0"),
        (point_feature([1, 2]), "'Point' is not a region"),
        (point_feature([1], radius=5), "malformed"),
        (point_feature([1, 2], radius=-5), "radius -5.0 is negative"),
        (point_feature([1, 2], radius=None), "radius None is not a number"),
    ],
)
def test_what_is_no_region_is_a_value_error(source, message):
    with pytest.raises(ValueError, match=message):
        region_from_geojson(source)


def test_a_box_is_shown_as_polygons():
    assert region_to_geojson(Box(0, 0, 2, 1))["type"] == "Polygon"
    assert region_to_geojson(Box(170, 0, -170, 1)) == {
        "type": "MultiPolygon",
        "coordinates": [
            [[[170, 0], [180, 0], [180, 1], [170, 1], [170, 0]]],
            [[[-180, 0], [-170, 0], [-170, 1], [-180, 1], [-180, 0]]],
        ],
    }


def test_region_from_wkb():
    hole = [(1, 1), (2, 1), (1, 1.5)]
    data = shapely.to_wkb(shapely.Polygon(RING, [hole]))
    assert region_from_wkb(data) == Polygon([RING, hole])
    in_plane = region_from_wkb(shapely.to_wkb(shapely.box(0, 0, 999, 999)), space=Space.PLANE)
    assert in_plane.space is Space.PLANE


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x01\x02", "is not WKB"),
        (b"", "is not WKB"),
        (shapely.to_wkb(shapely.Point(1, 2)), "WKB Point is not a region"),
        (shapely.to_wkb(shapely.Polygon()), "no area"),
        (shapely.to_wkb(shapely.MultiPolygon()), "MultiPolygon is not a region"),
    ],
)
def test_what_is_no_polygon_is_a_value_error(data, message):
    with pytest.raises(ValueError, match=message):
        region_from_wkb(data)
