"""Is this place in that region, and how far apart are they?"""

from nearcast.space.distances import EARTH_RADIUS, Rect, distance, distance_to_rect
from nearcast.space.geojson import region_from_geojson, region_from_wkb, region_to_geojson
from nearcast.space.membership import is_in, place_rects
from nearcast.space.region_column import RegionColumn
from nearcast.space.region_distance import distance_to_region

__all__ = [
    "EARTH_RADIUS",
    "Rect",
    "RegionColumn",
    "distance",
    "distance_to_rect",
    "distance_to_region",
    "is_in",
    "place_rects",
    "region_from_geojson",
    "region_from_wkb",
    "region_to_geojson",
]
