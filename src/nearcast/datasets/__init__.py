"""Data to try things on: seeded generators, and loaders of real data sets."""

from nearcast.datasets.chicago import chicago
from nearcast.datasets.city import City
from nearcast.datasets.files import DataAbsentError
from nearcast.datasets.gnis import gnis
from nearcast.datasets.roads import RoadMap, oldenburg, san_joaquin, synthetic_roads
from nearcast.datasets.subscriptions import bounds_of, expressions_from, subscriptions_from
from nearcast.datasets.travellers import Travellers
from nearcast.datasets.tweets import Tweets

__all__ = [
    "City",
    "DataAbsentError",
    "RoadMap",
    "Travellers",
    "Tweets",
    "bounds_of",
    "chicago",
    "expressions_from",
    "gnis",
    "oldenburg",
    "san_joaquin",
    "subscriptions_from",
    "synthetic_roads",
]
