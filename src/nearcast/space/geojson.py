"""Regions in the formats of others: GeoJSON and well-known binary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nearcast.model.shapes import Circle, Point, Polygon, Region, Ring, Space


def region_from_geojson(
    source: str | bytes | Mapping[str, Any], *, space: Space = Space.EARTH
) -> Region:
    """The region that GeoJSON text, or the object parsed from it, describes.

    A Polygon geometry, or a Feature with one, is a Polygon, even if it is a rectangle. A Feature
    whose geometry is a Point and whose properties have a `radius` (metres; units in the plane) is a
    Circle. Altitudes are ignored; anything else is a ValueError.

    >>> text = '{"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [0, 3], [0, 0]]]}'
    >>> region_from_geojson(text)
    Polygon(rings=(((0.0, 0.0), (4.0, 0.0), (0.0, 3.0)),), space=Space.EARTH)
    >>> region_from_geojson({"type": "MultiPolygon", "coordinates": []})
    Traceback (most recent call last):
    ValueError: GeoJSON type 'MultiPolygon' is not a region; give a Polygon, or a Feature with a...
    """
    if isinstance(source, str | bytes):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"region is not GeoJSON: {error}; give a JSON object") from None
    if not isinstance(source, Mapping):
        raise ValueError(f"region {source!r} is not GeoJSON; give a JSON object with a type")
    properties: Any = {}
    geometry: Any = source
    if source.get("type") == "Feature":
        geometry, properties = source.get("geometry"), source.get("properties")
    kind = geometry.get("type") if isinstance(geometry, Mapping) else geometry
    has_radius = isinstance(properties, Mapping) and "radius" in properties
    try:
        if kind == "Polygon":
            rings = geometry["coordinates"]
            return Polygon([[position[:2] for position in ring] for ring in rings], space=space)
        if kind == "Point" and has_radius:
            centre = Point(*geometry["coordinates"][:2], space=space)
            return Circle(centre, properties["radius"])
    except KeyError:
        raise ValueError(f"GeoJSON {kind} has no coordinates; add them") from None
    except TypeError as error:
        raise ValueError(f"GeoJSON {kind} has malformed coordinates or radius: {error}") from None
    raise ValueError(
        f"GeoJSON type {kind!r} is not a region; give a Polygon, or a Feature with a Point and a "
        "property radius for a circle; split a multi-geometry into one region each"
    )


def region_from_wkb(data: bytes, *, space: Space = Space.EARTH) -> Polygon:
    """The polygon in well-known binary (WKB or EWKB).

    >>> import shapely
    >>> region_from_wkb(shapely.to_wkb(shapely.box(0, 0, 2, 1))).rings
    (((2.0, 0.0), (2.0, 1.0), (0.0, 1.0), (0.0, 0.0)),)
    """
    import shapely  # only here: loading it takes longer than the rest of the room

    try:
        geometry = shapely.from_wkb(data)
    except (TypeError, shapely.errors.ShapelyError) as error:
        raise ValueError(f"region is not WKB: {error}; give the bytes of a Polygon") from None
    if geometry.geom_type != "Polygon":
        raise ValueError(
            f"WKB {geometry.geom_type} is not a region; give a Polygon, "
            "split a multi-geometry into one region each"
        )
    rings = [geometry.exterior, *geometry.interiors]
    return Polygon([[position[:2] for position in ring.coords] for ring in rings], space=space)


def region_to_geojson(region: Region) -> dict[str, Any]:
    """The region as a GeoJSON object that any map shows.

    A Polygon is a Polygon geometry and a Circle a Feature, both as `region_from_geojson` reads
    them. A Box is a Polygon geometry, or a MultiPolygon when it crosses the antimeridian.

    >>> region_to_geojson(Circle(Point(2, 3), 100))["properties"]
    {'radius': 100.0}
    >>> from nearcast.model.shapes import Box
    >>> region_to_geojson(Box(0, 0, 2, 1))["coordinates"]
    [[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 0.0]]]
    """
    if isinstance(region, Polygon):
        return {"type": "Polygon", "coordinates": [_closed(ring) for ring in region.rings]}
    if isinstance(region, Circle):
        centre = {"type": "Point", "coordinates": [region.centre.lon, region.centre.lat]}
        return {"type": "Feature", "geometry": centre, "properties": {"radius": region.radius}}
    west, south, east, north = region.west, region.south, region.east, region.north
    if west <= east:
        return {"type": "Polygon", "coordinates": [_rectangle(west, south, east, north)]}
    return {
        "type": "MultiPolygon",
        "coordinates": [
            [_rectangle(west, south, 180.0, north)],
            [_rectangle(-180.0, south, east, north)],
        ],
    }


def _rectangle(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return _closed(((west, south), (east, south), (east, north), (west, north)))


def _closed(ring: Ring) -> list[list[float]]:
    return [list(vertex) for vertex in (*ring, ring[0])]
