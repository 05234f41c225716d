"""Is this place in that region, and how far apart are they?"""

from typing import TYPE_CHECKING, Any

from nearcast.space.distances import EARTH_RADIUS, Rect, distance, distance_to_rect
from nearcast.space.geojson import region_from_geojson, region_from_wkb, region_to_geojson
from nearcast.space.membership import is_in, place_rects
from nearcast.space.region_distance import distance_to_region

if TYPE_CHECKING:
    from nearcast.space.region_column import RegionColumn

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


def __getattr__(name: str) -> Any:
    # Loading numba takes longer than all the rest of the room.
    if name == "RegionColumn":
        from nearcast.space.region_column import RegionColumn

        return RegionColumn
    raise AttributeError(f"module 'nearcast.space' has no attribute {name!r}")
